package fakemodel

import (
	"slices"
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

// Open says whether the reply is still running.
func (t Turn) Open() bool { return t.Ended.IsZero() }

// UserText is the new user text, blocks joined by newlines.
func (t Turn) UserText() string { return strings.Join(t.Text, "\n") }

// say adds a text of the user's role; one that begins with a word of the agent's
// own goes to System.
func (t *Turn) say(text string, own []string) {
	if slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(text, o) }) {
		t.System = append(t.System, text)
	} else {
		t.Text = append(t.Text, text)
	}
}

// since is what of a conversation follows the model's last words.
func since[T any](all []T, modelSays func(T) bool) []T {
	for i, one := range slices.Backward(all) {
		if modelSays(one) {
			return all[i+1:]
		}
	}
	return all
}

// Reply is what the model says.
type Reply struct {
	Think  time.Duration // silence before the first word
	Deltas []string      // the text, in the pieces it is streamed in
	Gap    time.Duration // silence between pieces
	Tool   *Tool         // ends the reply with a call of the agent's shell tool
}

// Tool is a call of the agent's shell tool or, with a name, of another one.
type Tool struct {
	Command, Description string

	Name, Namespace string         // as the agent offers it to its model
	Arguments       map[string]any // of a tool with a name
}

// Call replies with a call of a tool that the agent offers by that name; in the Responses wire by
// that name within a namespace.
func Call(namespace, name string, arguments map[string]any) Reply {
	r := Say("Calling a tool.")
	r.Tool = &Tool{Name: name, Namespace: namespace, Arguments: arguments}
	return r
}

// deltaBytes is about what a real model streams at a time.
const deltaBytes = 24

// Say replies with text in small pieces, split between runes.
func Say(text string) Reply {
	var r Reply
	start := 0
	for i := range text {
		if i-start >= deltaBytes {
			r.Deltas = append(r.Deltas, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		r.Deltas = append(r.Deltas, text[start:])
	}
	return r
}

// Bash replies with a call of the agent's shell tool.
func Bash(command string) Reply {
	r := Say("Running a command.")
	r.Tool = &Tool{Command: command, Description: "Run a scripted command"}
	return r
}
