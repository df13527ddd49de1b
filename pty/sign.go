package pty

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"relay-pty/pty/screen"
)

// Sign is what we show on the human's terminal beside the agent's output. It draws nothing.
type Sign struct {
	Prefix   string // stands before the agent's title; "": the title is the agent's alone
	Untitled string // stands behind Prefix while the agent has set no title
	Once     string // is written once, as it is: a bell, or a sequence that draws nothing
}

// Show replaces the sign. The output loop writes it, since it alone knows where a sign comes
// into no sequence, character or frame of the agent's; while there is no such place, it waits.
func (s *Session) Show(sign Sign) {
	s.signs.want(sign)
	s.ptmx.in.ring()
}

// signs is the sign that is wanted, and what of it stands on the human's terminal.
type signs struct {
	due atomic.Bool // there is something to write, or to keep before the agent's title

	mu   sync.Mutex // guards what follows
	sign Sign

	// The output loop's.
	shown  string // the title that is ours; "": it is the agent's
	titled uint64 // how often the agent had set its own then
}

func (g *signs) want(sign Sign) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sign.Once = g.sign.Once + sign.Once
	g.sign = sign
	g.due.Store(true)
}

// take is the sign that is wanted now, of which Once is no longer.
func (g *signs) take() Sign {
	g.mu.Lock()
	defer g.mu.Unlock()
	sign := g.sign
	g.sign.Once = ""
	g.due.Store(sign.Prefix != "")
	return sign
}

// Titles of the terminal: XTWINOPS keeps the one that stood there before our first and brings it
// back, for nothing tells us what it was. Source: XTerm Control Sequences, CSI Ps ; Ps t.
const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
	setTitle  = "\x1b]2;%s\a"
)

// next is what has to be written beside what the agent has.
func (g *signs) next(agent *screen.Screen) string {
	sign, title := g.take(), agent.Title()
	titled, own := agent.Titled()
	ours := ""
	if sign.Prefix != "" {
		ours = sign.Prefix + cmp.Or(title, sign.Untitled)
	}
	var b strings.Builder
	b.WriteString(sign.Once)
	switch {
	case ours == g.shown && (ours == "" || titled == g.titled):
	case ours == "":
		b.WriteString(popTitle)
		if own {
			fmt.Fprintf(&b, setTitle, title)
		}
	default:
		if g.shown == "" {
			b.WriteString(pushTitle)
		}
		fmt.Fprintf(&b, setTitle, ours)
	}
	g.shown, g.titled = ours, titled
	return b.String()
}

// showSign writes what is due of the sign, if it may come now. rest says that the agent has
// nothing more to say for now, so nothing refers to the character that it wrote last.
func (s *Session) showSign(rest bool) {
	if s.signs.due.Load() {
		s.pass([]byte(s.nextSign(func() bool {
			between, open := s.screen.Between()
			return between && (rest || !open)
		})))
	}
}

// endSign gives the title back when the agent has ended, wherever in its output that was.
func (s *Session) endSign() {
	s.signs.want(Sign{})
	s.pass([]byte(s.nextSign(func() bool { return true })))
}

func (s *Session) nextSign(now func() bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now() {
		return ""
	}
	return s.signs.next(s.screen)
}
