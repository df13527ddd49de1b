package modelapi

import "time"

// Reply is what the model says.
type Reply struct {
	Think  time.Duration // silence with pings before the first word
	Deltas []string      // the text, in the pieces it is streamed in
	Gap    time.Duration // silence between pieces
	Tool   *Tool         // ends the reply with a call of the Bash tool
}

// Tool is a call of the Bash tool.
type Tool struct{ Command, Description string }

// deltaBytes is about what a real model streams at a time.
const deltaBytes = 24

// Say replies with text in small pieces, split between runes.
//
//go:noinline
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

// Bash replies with a call of the Bash tool.
func Bash(command string) Reply {
	r := Say("Running a command.")
	r.Tool = &Tool{Command: command, Description: "Run a scripted command"}
	return r
}
