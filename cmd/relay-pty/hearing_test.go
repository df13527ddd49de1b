package main

import (
	"strings"
	"testing"

	"relay-pty/protocol"
)

// TestWhoseWordsAreRead: an agent whose markers nobody reads may be heard all the same, by the last
// words of its turns, or because something speaks as the agent.
func TestWhoseWordsAreRead(t *testing.T) {
	for _, c := range []struct {
		name            string
		is              hearing
		unread, unheard string
	}{
		{"its log", hearing{markers: protocol.SourceLog, log: true}, "", ""},
		{"its log, of a screen of its own", hearing{markers: protocol.SourceLog, log: true, draws: true}, "", ""},
		{"lines", hearing{markers: protocol.SourceStream}, "", ""},
		{"a screen of its own", hearing{markers: protocol.SourceStream, draws: true}, "a screen of its own", "a screen of its own"},
		{"a screen of its own, and the tools", hearing{markers: protocol.SourceStream, draws: true, speaks: true}, "a screen of its own", ""},
		{"a screen of its own, and a log", hearing{markers: protocol.SourceStream, draws: true, log: true}, "a screen of its own", ""},
		{"switched off", hearing{markers: markersOff, off: true}, "--markers off", "--markers off"},
		{"switched off, and a log", hearing{markers: markersOff, off: true, log: true}, "--markers off", ""},
		{"a shell", hearing{markers: markersOff}, "from a shell", "from a shell"},
	} {
		for _, says := range []struct{ what, got, want string }{{"unread", c.is.unread(), c.unread}, {"unheard", c.is.unheard(), c.unheard}} {
			if (says.got == "") != (says.want == "") || !strings.Contains(says.got, says.want) {
				t.Errorf("%s: %s %q, want %q", c.name, says.what, says.got, says.want)
			}
		}
	}
}
