package fakemodel

import (
	"regexp"
	"strings"
	"time"
)

// Turn is one request of the agent's main conversation.
type Turn struct {
	N    int       // position in the log, from 0
	At   time.Time // when the request had been read
	Text []string  // new user text blocks, without what the agent adds
	// System holds what the agent adds: hook output and, since Claude Code
	// 2.1.3xx, messages typed while a tool ran.
	System  []string
	Results []string // text of the new tool results
	Raw     []byte   // the request body, after Server.KeepRaw

	Ended   time.Time // when the reply ended; zero while it runs
	Aborted bool      // the client hung up before the end
}

// Open reports whether the reply is still running.
func (t Turn) Open() bool { return t.Ended.IsZero() }

// UserText is the new user text, blocks joined by newlines.
func (t Turn) UserText() string { return strings.Join(t.Text, "\n") }

// Received is the user text of t as the user meant it, see Unwrap. Compare it with the text that
// was sent; Turn.Text keeps the raw form.
func Received(t Turn) string { return Unwrap(t.UserText()) }

// pasted begins Claude Code's mark of pasted text. Claude Code 2.1.329 replaces a long paste, in
// place, by
//
//	"\n\n<pasted_content id=\"7b23\">\n" PASTE "\n</pasted_content id=\"7b23\">\n"
//
// where the id is one for the session (seen on the wire). Other builds leave the composer's
// placeholder before it.
var pasted = regexp.MustCompile(`(?:\[Pasted text #\d+(?: \+\d+ lines)?\])?\n\n<(pasted_content id="[^"]*">\n)`)

// Unwrap removes Claude Code's mark of pasted text and leaves what was pasted in its place. A mark
// that is not closed stays.
func Unwrap(text string) string {
	done := ""
	for {
		at := pasted.FindStringSubmatchIndex(text)
		if at == nil {
			return done + text
		}
		body, after, closed := strings.Cut(text[at[1]:], "\n</"+text[at[2]:at[3]])
		if !closed {
			return done + text
		}
		done, text = done+text[:at[0]]+body, after
	}
}

// Reply is what the model says.
type Reply struct {
	Think  time.Duration // silence before the first word
	Deltas []string      // the text, in the pieces it is streamed in
	Gap    time.Duration // silence between pieces
	Tool   *Tool         // ends the reply with a call of a tool
	Refuse int           // HTTP's status with which the request is refused in place of all that; 0: it is not
	Fault  Fault         // what becomes of it behind its text
	Resets time.Duration // such a refusal is a limit's, which ends after so long, and trying before is in vain; 0: it is none
}

// Tool is a call of a tool of the agent.
type Tool struct {
	Name      string // as the agent offers it to its model; "": its shell tool
	Namespace string // of the name, in the Responses wire
	Arguments map[string]any
}

// deltaRunes is about what a real model streams at a time.
const deltaRunes = 24

// Say replies with text in small pieces, split between runes.
func Say(text string) (r Reply) {
	for rest := []rune(text); len(rest) > 0; {
		n := min(len(rest), deltaRunes)
		r.Deltas = append(r.Deltas, string(rest[:n]))
		rest = rest[n:]
	}
	return r
}

// Call replies with a call of a tool that the agent offers by that name; in the Responses wire by
// that name within a namespace.
func Call(namespace, name string, arguments map[string]any) Reply {
	r := Say("Calling a tool.")
	r.Tool = &Tool{name, namespace, arguments}
	return r
}

// Bash replies with a call of the agent's shell tool.
func Bash(command string) Reply {
	r := Say("Running a command.")
	r.Tool = &Tool{Arguments: obj{"command": command, "description": "Run a scripted command"}}
	return r
}
