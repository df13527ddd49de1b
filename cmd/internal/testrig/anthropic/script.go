package anthropic

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

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

// Lines replies with n numbered lines, gap apart.
func Lines(n int, gap time.Duration) Reply {
	r := Reply{Gap: gap}
	for i := range n {
		r.Deltas = append(r.Deltas, fmt.Sprintf("Line %d of %d\n\n", i+1, n))
	}
	return r
}

// slowGap is the time between the lines of SLOW.
const slowGap = 250 * time.Millisecond

var word = regexp.MustCompile(`\b(LONG|SLOW|THINK|TOUCH|TOOL|MARK) ([^\s"]+)`)

// Script is the default Responder. A turn that only brings tool results is
// answered "Done."; otherwise the first of the package's words decides.
func (s *Server) Script(t Turn) Reply {
	text := t.UserText()
	if text == "" && len(t.Results) > 0 {
		return Say("Done.")
	}
	rep := Say(fmt.Sprintf("ACK %d bytes", len(Received(t))))
	m := word.FindStringSubmatch(text)
	if m == nil {
		return rep
	}
	switch m[1] {
	case "TOUCH":
		return Bash("touch " + m[2])
	case "MARK":
		return Say(s.mark.get(m[2]))
	}
	n, err := strconv.Atoi(m[2])
	if err != nil || n < 0 {
		return rep
	}
	switch m[1] {
	case "LONG":
		return Lines(n, 0)
	case "SLOW":
		return Lines(n*int(time.Second/slowGap), slowGap)
	case "THINK":
		rep.Think = time.Duration(n) * time.Second
		return rep
	default: // TOOL
		return Bash("sleep " + strconv.Itoa(n))
	}
}

// marks maps the names of MARK to texts.
type marks struct {
	mu   sync.Mutex
	text map[string]string
}

func (m *marks) set(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == nil {
		m.text = map[string]string{}
	}
	m.text[name] = text
}

func (m *marks) get(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok := m.text[name]; ok {
		return text
	}
	return "no mark named " + strings.ToValidUTF8(name, "?")
}
