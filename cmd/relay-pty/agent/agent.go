// Package agent is the wrapped program as the injector sees it: its screen, its
// line, its own word and the human's keys, gathered into one look.
package agent

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"relay-pty/inject"
	"relay-pty/inject/agents"
	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/watch"
	"relay-pty/parser"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// Agent is what the injector sees and does of the wrapped program. It starts no
// goroutine.
type Agent struct {
	Session *pty.Session
	Started time.Time
	Own     Own
	// Suspends receives when the human pressed Ctrl-Z at the agent itself: how
	// its line was then.
	Suspends chan pty.TTY

	profile *profile.Profile
	prompt  *prompt
	shadow  draft.Shadow
	kept    atomic.Bool // at the last Ctrl-Z the terminal itself had the line, not the program
	changed <-chan struct{}
	command []string
	taken   []string    // the command line of the shell that the profile is of
	pattern string      // of prompts
	unlike  bool        // the profile is not a shell's: to a shell in its place nothing may be typed
	quotes  atomic.Bool // it is, and what is typed is inert in that one's language alone
	front   front
	took    time.Time      // when it last took a message
	waits   bool           // in the last look, it had read all lines and waited for more
	stood   time.Time      // since when the composer has been seen without a dialog
	stream  *parser.Stream // nil: markers do not come from the output
	script  bool           // the command is a script of a shell's, which may come to run anything
	sought  time.Time      // when Found last looked
}

// New is an agent yet to be started: command, seen by the profile, ready where
// the row up to the cursor matches pattern, a regexp2 one; "": never. The error
// is the pattern's.
func New(p *profile.Profile, pattern string, command []string) (*Agent, error) {
	re, err := newPrompt(pattern)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		profile: p, prompt: re, Suspends: make(chan pty.TTY, 1), command: command, taken: command, pattern: pattern,
	}
	a.front.is = kindOf("", command...)
	a.script = agents.Script(command...)
	a.quotes.Store(p.Composer == nil && p.Quote.Inert())
	a.unlike = p.Composer == nil && !a.quotes.Load() && a.front.is.shell == nil
	a.shadow.Lines, a.shadow.Chips, a.shadow.Begun = p.Composer == nil, p.Chips(), p.Begun
	return a, nil
}

// Attach is told once that the agent runs, and of the reader of its output,
// which may be nil.
func (a *Agent) Attach(s *pty.Session, stream *parser.Stream) {
	a.Session, a.Started, a.changed, a.stream = s, time.Now(), s.Watch(), stream
}

// WaitsInRead reports whether the agent, when last looked at, was a program that reads lines and
// waited for one. The injector's goroutine alone may ask.
func (a *Agent) WaitsInRead() bool { return a.waits }

// LastKey is when the human last typed; zero when never.
func (a *Agent) LastKey() time.Time { return a.shadow.State().LastKey }

// LastSuspend is when the human last pressed Ctrl-Z; zero when never.
func (a *Agent) LastSuspend() time.Time { return a.shadow.State().Suspend }

// Look gathers what can be seen now. With it moves on what we remember of the agent: the shadow of
// the human's draft, the agent's own word, since when its composer stands, and where it waits.
func (a *Agent) Look() watch.Look {
	var l watch.Look
	cols := 0
	draws := false
	a.Session.View(func(s *screen.Screen) {
		l.Sight = sight.Look(a.profile, s)
		_, cols = s.Size()
		draws = s.Modes().AltScreen
	})
	now := time.Now()
	a.Own.show(l.Said, now)
	switch {
	case !l.Box.Visible || l.Dialog != "":
		a.stood = time.Time{}
	case a.stood.IsZero():
		a.stood = now
	}
	l.Facts = ready.Facts{
		Now: now, Started: a.Started, LastOutput: a.Session.LastOutput(),
		Stopped: a.Session.Stopped(), Stood: a.stood,
		AtPrompt: a.prompt.match(l.Line), Draws: draws,
	}
	l.Facts.Own, l.Facts.Heard = a.Own.hear()
	select {
	case <-a.Session.Done():
		l.Facts.Exited = true
	default:
	}
	l.Brought = a.Session.LastReplay()
	tty, err := a.Session.TTY()
	if err != nil { // the terminal is going away; nothing is typed into doubt
		l.Unread = -1
		return l
	}
	a.follow(&l, cols, tty.Unread == 0, now)
	if l.Facts.Raw = !tty.Canonical; l.Facts.Raw {
		a.Session.View(func(s *screen.Screen) { l.Menu = sight.Menu(a.profile, s) })
	}
	l.Facts.Foreground = tty.Foreground == a.Session.PID()
	if a.unlike {
		front := a.front.kind(tty.Foreground)
		l.Facts.Host, l.Facts.Foreground = front.host, l.Facts.Foreground && front.shell == nil
		if a.profile.Rules.Reserved && tty.Canonical && l.Facts.Host == "" {
			l.Facts.Host = hostIn(a.Session.Group())
			l.Facts.Mute = (a.script || l.Facts.LastOutput.IsZero()) && !a.Session.Reads()
		}
	}
	if a.quotes.Load() && l.Facts.Foreground {
		l.Facts.Stranger = a.stranger()
	}
	l.Echo, l.Unread = tty.Echo, tty.Unread
	l.Facts.Took = a.took.After(a.LastKey())
	if tty.Canonical && tty.Unread == 0 {
		l.ReadPlace = a.Session.ReadPlace()
	}
	a.waits = l.ReadPlace != ""
	l.Facts.WaitsInRead = a.waits
	l.Flushed = a.Session.LastFlush() // last: what is not unread any more was read, or is told here
	return l
}

// follow lets the shadow of the human's keys learn from the screen.
func (a *Agent) follow(l *watch.Look, cols int, read bool, now time.Time) {
	a.shadow.Width(cols)
	if a.profile.Composer != nil {
		a.shadow.Away(!l.Box.Visible || l.Dialog != "", now)
		if l.Box.Visible && !l.Box.Blank && read {
			l.Again = a.shadow.Seen(l.Box.Text, l.Box.Top, now)
		}
	} else if a.kept.Load() {
		a.shadow.Flushed(a.Session.LastFlush())
	}
	l.Draft = a.shadow.At(now)
	if !l.Draft.Middle || !read || !a.answered(*l) {
		return
	}
	if l.Settles = watch.HumanRest - now.Sub(l.Draft.Enter); l.Settles <= 0 { // no more what was there before it
		a.shadow.Ended()
		l.Draft.Middle, l.Settles = false, 0
	}
}

// answered reports whether the program has printed something else than a prompt behind the line
// that was sent last. So that was no beginning, and what looks like a prompt is one.
func (a *Agent) answered(l watch.Look) bool {
	above := strings.TrimSuffix(strings.TrimSuffix(l.Before, l.Line), "\n")
	return l.Facts.AtPrompt && !l.Draft.Begun && l.Facts.LastOutput.After(l.Draft.Enter) &&
		above != "" && !a.shadow.Stands(above) && !a.shadow.Stands(l.Before)
}

// Aside says that the human's draft was set aside and will come back.
func (a *Agent) Aside() { a.shadow.SetAside() }

// Submitted says that a message was submitted to the agent, which took it.
func (a *Agent) Submitted() {
	a.shadow.Submitted()
	a.took = time.Now()
}

// Begin makes the injector the only writer.
func (a *Agent) Begin(ctx context.Context) (inject.Tx, error) { return a.Session.Begin(ctx) }

// Changed wakes the injector.
func (a *Agent) Changed() <-chan struct{} { return a.changed }

// Keys is the human's input: remembered, then typed.
func (a *Agent) Keys(p []byte) error {
	now := time.Now()
	if a.quotes.Load() {
		tty, err := a.Session.TTY()
		a.shadow.Front(err == nil && tty.Foreground != a.Session.PID())
	}
	switch a.shadow.Keys(p, now) {
	case draft.Answers:
		return a.Session.Answers(p)
	case draft.Reports:
		return a.Session.Reports(p)
	}
	var line pty.TTY // as the keys will find it
	if a.shadow.State().Suspend.Equal(now) {
		line, _ = a.Session.TTY() // fails only when the agent is gone
		a.kept.Store(line.Canonical)
	}
	if a.stream != nil {
		a.stream.Typed(p)
	}
	err := a.Session.Keys(p)
	if line.Foreground == a.Session.PID() { // a job of the agent's is the agent's to stop
		select {
		case a.Suspends <- line:
		default: // one is being looked into
		}
	}
	return err
}

// TypedOn reports whether other keys followed the last Ctrl-Z: those may be why the
// terminal is in line mode.
func (a *Agent) TypedOn() bool {
	s := a.shadow.State()
	return s.LastKey.After(s.Suspend)
}
