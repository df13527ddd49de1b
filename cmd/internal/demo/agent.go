package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// What the built-in agent shows.
const (
	agentPrompt   = "> "
	agentQuestion = "Remove 3 files? [y/n]"
	agentDone     = "Done."
)

// agent is the built-in agent, a program that reads lines. The agent answers
// every message, and asks a question when a human types a line.
func agent(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	var text strings.Builder // of a message that is not whole yet
	fmt.Fprint(out, agentPrompt)
	for lines.Scan() {
		line := lines.Text()
		if text.Len() == 0 && line == "" {
			continue // parts messages that are typed as one turn
		}
		if text.Len() == 0 && !strings.HasPrefix(line, "[relay ") {
			fmt.Fprint(out, agentQuestion+" ")
			lines.Scan()
			fmt.Fprint(out, agentDone+"\n"+agentPrompt)
			continue
		}
		fmt.Fprintln(&text, line)
		if !strings.HasPrefix(line, "[end ") {
			continue
		}
		for _, m := range messagesIn(text.String()) {
			fmt.Fprintln(out, marker(m))
		}
		text.Reset()
		fmt.Fprint(out, agentPrompt)
	}
	return lines.Err()
}
