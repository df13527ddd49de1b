package main

import (
	"context"
	"time"

	"github.com/dlclark/regexp2"

	"relay-pty/inject"
	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// agent is what the injector sees and does of the wrapped program.
type agent struct {
	session *pty.Session
	profile *profile.Profile
	prompt  *prompt
	shadow  draft.Shadow
	started time.Time
	changed <-chan struct{}
	own     ownWord
	suspend chan pty.TTY // the human pressed Ctrl-Z, and how the line was then
	unlike  bool         // the profile is not a shell's: to a shell in its place nothing may be typed
	front   front
	stream  *parser.Stream // nil: markers do not come from the output
}

// Look gathers what can be seen now.
func (a *agent) Look() inject.Look {
	var l inject.Look
	a.session.View(func(s *screen.Screen) { l.Sight = a.profile.Look(s) })
	now := time.Now()
	l.Facts = ready.Facts{
		Now: now, Started: a.started, LastOutput: a.session.LastOutput(),
		Stopped: a.session.Stopped(), Own: a.own.get(),
		AtPrompt: a.prompt.match(l.Line),
	}
	select {
	case <-a.session.Done():
		l.Facts.Exited = true
	default:
	}
	l.Draft, l.Brought, l.Flushed = a.shadow.State(), a.session.LastReplay(), a.session.LastFlush()
	tty, err := a.session.TTY()
	if err != nil { // the terminal is going away; nothing is typed into doubt
		l.Unread = -1
		return l
	}
	if l.Facts.Raw = !tty.Canonical; l.Facts.Raw {
		a.session.View(func(s *screen.Screen) { l.Menu = a.profile.Menu(s) })
	}
	l.Facts.Foreground = tty.Foreground == a.session.PID() && !(a.unlike && a.front.shell(tty.Foreground))
	l.Echo, l.Unread = tty.Echo, tty.Unread
	return l
}

// Begin makes the injector the only writer.
func (a *agent) Begin(ctx context.Context) (inject.Tx, error) { return a.session.Begin(ctx) }

// Changed wakes the injector.
func (a *agent) Changed() <-chan struct{} { return a.changed }

// keys is the human's input: remembered, then typed.
func (a *agent) keys(p []byte) error {
	now := time.Now()
	a.shadow.Keys(p, now)
	var line pty.TTY // as the keys will find it
	if a.shadow.State().Suspend.Equal(now) {
		line, _ = a.session.TTY() // fails only when the agent is gone
	}
	if a.stream != nil {
		a.stream.Typed(p)
	}
	err := a.session.Keys(p)
	if line.Foreground == a.session.PID() { // a job of the agent's is the agent's to stop
		select {
		case a.suspend <- line:
		default: // one is being looked into
		}
	}
	return err
}

// typedOn says whether other keys followed the last Ctrl-Z: those may be why the
// terminal is in line mode.
func (a *agent) typedOn() bool {
	s := a.shadow.State()
	return s.LastKey.After(s.Suspend)
}

// prompt is the pattern of the line that means ready. The user's patterns may
// need lookaround and may backtrack without end: they get a time limit, and one
// that reaches it is not asked again.
type prompt struct {
	re  *regexp2.Regexp
	off bool
}

const promptLimit = 50 * time.Millisecond

// newPrompt compiles pattern; an empty one never matches.
func newPrompt(pattern string) (*prompt, error) {
	if pattern == "" {
		return &prompt{off: true}, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = promptLimit
	return &prompt{re: re}, nil
}

// match is called from the injector's loop alone.
func (p *prompt) match(line string) bool {
	if p.off {
		return false
	}
	ok, err := p.re.MatchString(line)
	p.off = err != nil
	return ok
}
