// Package tty is the human's side of a wrapper: the terminal, its size, its keys, and
// what happens to us when the human suspends the agent.
package tty

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"relay-pty/cmd/relay-pty/agent"
	"relay-pty/protocol/process"
	"relay-pty/pty"
	"relay-pty/pty/screen"
	"relay-pty/pty/term"
)

// User is the user's side: a real terminal, files, or nothing at all.
type User struct {
	still sync.Mutex // held while the agent stands still because our job does

	Own  *term.Terminal // nil when headless
	Size pty.Winsize    // at the start
	Out  io.Writer      // where the agent's output goes
}

// Headless is no terminal at all, of a size.
func Headless(size pty.Winsize) *User { return &User{Size: size, Out: io.Discard} }

// Open takes over the user's terminal, behind a front, or nil.
func Open(front *term.Front, stdin, stdout *os.File) (*User, error) {
	own, err := term.Open(front, stdin, stdout)
	if err != nil {
		return nil, err
	}
	if err := own.Raw(); err != nil {
		return nil, err
	}
	return &User{Own: own, Size: own.Size(), Out: own}, nil
}

// Job is a loop of ours that ends with ctx.
type Job struct {
	Name string
	Run  func(ctx context.Context) error
}

// Jobs are what serves a human beside the agent; none when headless.
func (t *User) Jobs(a *agent.Agent) []Job {
	if t.Own == nil {
		return nil
	}
	return []Job{
		{"size", func(ctx context.Context) error {
			return t.Own.WatchSize(ctx, func(size pty.Winsize) { a.Session.Resize(size) }) // fails only when the agent is gone
		}},
		{"stops", func(ctx context.Context) error { return t.followStops(ctx, a) }},
		{"suspends", func(ctx context.Context) error { return t.followSuspends(ctx, a) }},
		{"job control", func(ctx context.Context) error { return t.watchStops(ctx, a) }},
		{"leave", func(ctx context.Context) error { return t.leave(ctx, a.Session) }},
		{"guard", func(ctx context.Context) error { return t.guard(ctx, a.Session) }},
	}
}

// Restore gives the terminal back as it was.
func (t *User) Restore() {
	if t.Own != nil {
		t.Own.Restore() // nothing else can be done for a terminal that is gone
	}
}

// guard has the terminal watched, and keeps the watcher told of what our death would
// leave behind on its screen.
func (t *User) guard(ctx context.Context, session *pty.Session) error {
	changed := session.Watch()
	guard, err := t.Own.Guard()
	if err != nil {
		return err
	}
	defer guard.Dismiss()
	var told screen.Traces
	for {
		now := told
		session.View(func(s *screen.Screen) { now = s.Traces() })
		if now != told && guard.Tell(now.Undo()) {
			told = now
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watchStops has the agent stand still while others stop us.
func (t *User) watchStops(ctx context.Context, a *agent.Agent) error {
	return t.Own.WatchStops(ctx, func(wait func(context.Context) (bool, error)) error {
		t.still.Lock()
		defer t.still.Unlock()
		_, err := stand(ctx, a.Session, wait)
		return err
	})
}

// leave tells the terminal of the agent's end.
func (t *User) leave(ctx context.Context, session *pty.Session) error {
	select {
	case <-session.Done():
		t.Own.Leave()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stand has the agent stand still, as a bare one would, for as long as wait has us suspended. It
// holds still, so that one alone suspends us, and none does once more what another has done.
func stand(ctx context.Context, session *pty.Session, wait func(context.Context) (bool, error)) (bool, error) {
	if err := session.Stand(true); err != nil {
		return false, err
	}
	awaitShown(ctx, session)
	suspended, err := wait(ctx)
	switch {
	case errors.Is(err, term.ErrLeft): // there is no agent any more
		return false, nil
	case err != nil:
		return false, err
	}
	return suspended, session.Stand(false)
}

// suspend stops the agent and us, until we are continued; did is false when somebody else does.
func (t *User) suspend(ctx context.Context, session *pty.Session) (did bool, err error) {
	if !t.still.TryLock() {
		return false, nil
	}
	defer t.still.Unlock()
	_, err = stand(ctx, session, t.Own.Suspend)
	return true, err
}

// followStops stops us when the agent stops at the human's Ctrl-Z, which would
// give the shell back from a bare agent; continued, we continue it. An agent that
// someone else stopped keeps the human's terminal.
func (t *User) followStops(ctx context.Context, a *agent.Agent) error {
	session := a.Session
	for {
		select {
		case stopped := <-session.Stops():
			if !stopped || !suspended(a) || !t.Own.Stoppable() || !t.still.TryLock() {
				continue // without a shell that would continue us the agent stays stopped
			}
			var err error
			if session.Stopped() { // still, and not continued meanwhile
				_, err = stand(ctx, session, t.Own.Suspend)
			}
			t.still.Unlock()
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// suspended reports whether a stop of the agent may be what the human's last Ctrl-Z did.
func suspended(a *agent.Agent) bool {
	ago := time.Since(a.LastSuspend())
	return ago <= sleepSoon || ago <= sleepLate && !a.TypedOn()
}

// awaitShown waits until what the agent had to say has been shown: its line's echo
// of the Ctrl-Z, for one.
func awaitShown(ctx context.Context, session *pty.Session) {
	for end := time.Now().Add(sleepSoon); ; {
		select {
		case <-time.After(sleepLook):
		case <-ctx.Done():
			return
		}
		if time.Since(session.LastOutput()) >= sleepLook || time.Now().After(end) {
			return
		}
	}
}

// followSuspends does what a Ctrl-Z does to a bare program. The kernel ignores
// the SIGTSTP of the first process of a session, the place of every program in
// a PTY. So a program that reads lines and leaves the signal alone is stopped
// here; one that ignores or handles it has its way. A raw-mode program that puts
// itself to sleep waits, its terminal back in line mode, for a SIGCONT that no
// shell would send: we go to sleep with it.
func (t *User) followSuspends(ctx context.Context, a *agent.Agent) error {
	for {
		var line pty.TTY
		select {
		case line = <-a.Suspends:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		ignored := process.Masks(a.Session.PID(), "SigIgn", syscall.SIGTSTP)
		caught := process.Masks(a.Session.PID(), "SigCgt", syscall.SIGTSTP)
		var err error
		switch {
		case line.Canonical:
			if line.Suspends && !ignored && !caught && t.Own.Stoppable() {
				_, err = t.suspend(ctx, a.Session)
			}
		case !ignored && asleep(ctx, a):
			err = t.sleep(ctx, a)
		}
		if err != nil {
			return err
		}
	}
}

// sleep stops us, and wakes the agent when we are continued.
func (t *User) sleep(ctx context.Context, a *agent.Agent) error {
	if t.Own.Stoppable() {
		if did, err := t.suspend(ctx, a.Session); err != nil || !did {
			return err
		}
	}
	// It may be on its way to sleep still and miss the first.
	for range 10 {
		if err := a.Session.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		if awake(ctx, a.Session) {
			break
		}
	}
	return nil
}

// awake waits until the agent has taken its terminal back from line mode, but not for long.
func awake(ctx context.Context, session *pty.Session) bool {
	rest := time.After(sleepRest)
	for {
		if tty, err := session.TTY(); err != nil || tty.Foreground != session.PID() || !tty.Canonical {
			return true
		}
		select {
		case <-rest:
			return false
		case <-time.After(sleepLook): // modes change without a word
		case <-ctx.Done():
			return true
		}
	}
}

// An agent that gives up raw mode after a Ctrl-Z, and has not taken it back sleepRest later, is
// asleep. It may be slow to do so: Claude took 1.2 s on a busy machine, and longer just after its
// start. So it is waited for until it has neither read nor written for sleepSoon, but not for
// longer than sleepLate.
const (
	sleepSoon = 3 * time.Second
	sleepLate = 30 * time.Second
	sleepRest = 150 * time.Millisecond
	sleepLook = 25 * time.Millisecond
)

// nap is an agent that may be about to put itself to sleep.
type nap struct {
	key     time.Time // when Ctrl-Z was pressed
	stirred time.Time // when the agent last wrote, or had something to read
	line    time.Time // since when its terminal is in line mode; zero: it is not
}

// look reports whether the agent sleeps, and whether it is not to be waited for any more.
func (n *nap) look(tty pty.TTY, wrote, now time.Time) (asleep, over bool) {
	if tty.Unread > 0 {
		wrote = now
	}
	if wrote.After(n.stirred) {
		n.stirred = wrote
	}
	switch {
	case !tty.Canonical:
		n.line = time.Time{}
	case n.line.IsZero():
		n.line = now
	}
	asleep = !n.line.IsZero() && now.Sub(n.line) >= sleepRest
	return asleep, now.Sub(n.stirred) >= sleepSoon || now.Sub(n.key) >= sleepLate
}

// asleep waits until the agent has put itself to sleep, or that is not to be expected any more.
func asleep(ctx context.Context, a *agent.Agent) bool {
	session, key := a.Session, a.LastSuspend()
	for n := (nap{key: key, stirred: key}); ; {
		tty, err := session.TTY()
		if err != nil || tty.Foreground != session.PID() || a.TypedOn() { // a shell that runs a command, for one
			return false
		}
		if sleeps, over := n.look(tty, session.LastOutput(), time.Now()); sleeps || over {
			return sleeps
		}
		select {
		case <-time.After(sleepLook): // modes change without a word
		case <-ctx.Done():
			return false
		}
	}
}

// Keys passes what the human types on to the agent, and the end of it. Nothing can end
// it but the terminal: it is never joined.
func (t *User) Keys(ctx context.Context, a *agent.Agent) {
	if t.Own == nil {
		return
	}
	defer t.Own.OnPanic()
	switch err := t.Own.CopyKeys(ctx, a.Keys); {
	case errors.Is(err, term.ErrHangup):
		a.Session.Hangup(hangupGrace)
	case err == nil:
		a.Session.EndInput(ctx) // fails only when the agent is gone
	}
}

// hangupGrace is how long an agent whose terminal is gone may take to end.
const hangupGrace = 2 * time.Second
