package demo

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// message is one that an agent reads.
type message struct{ id, from, body string }

// envelope is a message as an agent reads it.
var envelope = regexp.MustCompile(`(?s)\[relay (\S+) from ([^\s\]]+)[^\]\n]*\] (.*?)\n\[end `)

// messagesIn finds all messages of a text: those that waited together are typed as one turn.
func messagesIn(text string) (all []message) {
	for _, m := range envelope.FindAllStringSubmatch(text, -1) {
		all = append(all, message{m[1], m[2], m[3]})
	}
	return all
}

// What is said.
const (
	wish    = "ask bob to review parser.go"
	request = "please review parser.go"
	review  = "line 12: an error is  *dropped*" // a screen would lose a blank and the stars
	bobSays = "Bob says: "
	done    = "Done."
)

// answer is what alice says to a script.
func answer(body string) string { return fmt.Sprintf("I read  `%s`  as *text*", body) }

// marker is an answer as an agent writes it.
func marker(m message, body string) string {
	return fmt.Sprintf("->relay:%s [re=%s] <<<%s>>>", m.from, m.id, body)
}

// mind is what an agent's model makes of a text: what it says, or else that it wants to touch
// files.
type mind func(text string) (says string, acts bool)

// alices passes your wish on to bob and tells you what bob says; scripts get an answer each.
// Whatever else you want of her, she does.
func alices(text string) (says string, acts bool) {
	messages := messagesIn(text)
	var lines []string
	for _, m := range messages {
		if m.from == "bob" {
			lines = append(lines, bobSays+m.body)
		} else {
			lines = append(lines, marker(m, answer(m.body)))
		}
	}
	switch {
	case len(messages) > 0:
		return strings.Join(lines, "\n"), false
	case strings.TrimSpace(text) == wish:
		return "->relay:bob <<<" + request + ">>>", false
	}
	return "", true
}

// bobs reviews whatever he is asked to.
func bobs(text string) (says string, acts bool) {
	var lines []string
	for _, m := range messagesIn(text) {
		lines = append(lines, marker(m, review))
	}
	return strings.Join(lines, "\n"), false
}

// What a built-in agent shows.
const (
	agentPrompt   = "> "
	agentQuestion = "Remove 3 files? [y/n]"
)

// Agent is a built-in agent, a program that reads lines: a message, which ends with its last line,
// or a line of the human.
func Agent(name string, in io.Reader, out io.Writer) error {
	think := alices
	if name == "bob" {
		think = bobs
	}
	lines := bufio.NewScanner(in)
	var text strings.Builder // of a message that is not whole yet
	fmt.Fprint(out, agentPrompt)
	for lines.Scan() {
		line := lines.Text()
		if text.Len() == 0 && line == "" {
			continue // parts messages that are typed as one turn
		}
		fmt.Fprintln(&text, line)
		if strings.HasPrefix(text.String(), "[relay ") && !strings.HasPrefix(line, "[end ") {
			continue
		}
		says, acts := think(text.String())
		if acts {
			fmt.Fprint(out, agentQuestion+" ")
			lines.Scan()
			says = done
		}
		fmt.Fprint(out, says+"\n"+agentPrompt)
		text.Reset()
	}
	return lines.Err()
}
