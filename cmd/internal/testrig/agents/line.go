package agents

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// runLine reads lines from a canonical-mode terminal and answers each.
func runLine(e *environment) error {
	prompt := cmp.Or(e.conf.Prompt, "> ")
	in := bufio.NewReader(io.TeeReader(e.in, logWriter{e.log}))
	io.WriteString(e.out, e.conf.Greeting+prompt) // a terminal gone ends the read below
	e.log.event(KindStart, "")
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" || err == nil {
			e.log.event(KindLine, line)
			answer := e.conf.reply(line)
			fmt.Fprintf(e.out, "%s\n%s", answer, prompt) // as above
			e.log.event(KindReply, answer)
		}
		if errors.Is(err, io.EOF) {
			e.log.event(KindExit, "")
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// runEcho writes back every byte it reads until C-d or the end of the input.
func runEcho(e *environment) error {
	old, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(e.in.Fd()), old)
	io.WriteString(e.out, e.conf.Greeting)
	e.log.event(KindStart, "")
	buf := make([]byte, 64<<10)
	for {
		n, err := e.in.Read(buf)
		e.log.read(buf[:n])
		if _, werr := e.out.Write(buf[:n]); werr != nil {
			return werr
		}
		if err != nil || strings.ContainsRune(string(buf[:n]), 4) {
			e.log.event(KindExit, "")
			return nil
		}
	}
}

type logWriter struct{ log *journal }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.read(p)
	return len(p), nil
}

var (
	markWord = regexp.MustCompile(`\bMARK ([\w.-]+)`)
	header   = regexp.MustCompile(`^\[relay (\S+) from (\S+?)[\] ]`)
)

// reply is the answer to message.
func (c Config) reply(message string) string {
	if m := markWord.FindStringSubmatch(message); m != nil {
		if text, ok := c.Marks[m[1]]; ok {
			return text
		}
	}
	id, from := "none", "nobody"
	if m := header.FindStringSubmatch(message); m != nil {
		id, from = m[1], m[2]
	}
	text := cmp.Or(c.Reply, "ACK {n} bytes")
	return strings.NewReplacer("{n}", strconv.Itoa(len(message)), "{id}", id, "{from}", from).Replace(text)
}
