package draft

import (
	"strings"
	"testing"
	"time"
)

// TestWhatIsBegun: a line that waits for its rest does so until that is sent, or given up.
func TestWhatIsBegun(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       bool
	}{
		{"a whole line", "ls\r", false},
		{"a beginning", "echo (\r", true},
		{"one that goes on", "echo (\ra\r", true},
		{"its end", "echo (\ra)\r", false},
		{"a pasted one", "\x1b[200~echo (\na)\x1b[201~\r", false},
		{"one given up", "echo (\r\x03", false},
		{"one that the file ended", "echo (\r\x04", false},
		{"not by a key that deletes", "echo (\ra\x01\x04\r", true},
		{"a line that is not known", "\x1b[A\r", false},
		{"one of those in it", "echo (\r\x1b[A\r", true},
	} {
		s := Shadow{Lines: true, Begun: func(text string) bool { return strings.Count(text, "(") > strings.Count(text, ")") }}
		now := time.Now()
		s.Keys([]byte(c.keys), now)
		if got := s.At(now).Middle; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestWhatAnotherProgramReads begins nothing.
func TestWhatAnotherProgramReads(t *testing.T) {
	s := Shadow{Lines: true, Begun: func(string) bool { return true }}
	s.Front(true)
	s.Keys([]byte("it's\r"), time.Now())
	if s.State().Middle {
		t.Error("it is taken for the shell's")
	}
}
