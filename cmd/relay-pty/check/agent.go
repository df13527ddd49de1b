package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/parser/transcript"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// Size of the terminal: tall enough for what is pasted, narrow enough to be seen
// in reports.
const (
	rows = 40
	cols = 100
)

// agent is the program that is checked, on a terminal of its own.
type agent struct {
	session *pty.Session
	changed <-chan struct{}
	stop    context.CancelCauseFunc
	ended   chan struct{} // the session is over, its process group gone
	log     *ownLog       // nil: the profile knows none
}

var errEnough = errors.New("seen enough")

// endGrace is longer than relay-pty, when it is what runs, gives its agent.
const endGrace = 5 * time.Second

// start runs a command in the scratch home. It lives until ctx ends or end is
// called.
func (c *checker) start(ctx context.Context, command []string) (*agent, error) {
	// The PTY takes no directory; the shell becomes the command, with its pid.
	args := append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, c.cwd}, command...)
	session, err := pty.Start(pty.Config{
		Args: args, Env: c.env, Size: pty.Winsize{Rows: rows, Cols: cols}, Output: io.Discard, Grace: endGrace,
	})
	if err != nil {
		return nil, err
	}
	a := &agent{session: session, changed: session.Watch(), ended: make(chan struct{}), log: newOwnLog(c.p.Log, c.env)}
	var running context.Context
	running, a.stop = context.WithCancelCause(ctx)
	go func() {
		defer close(a.ended)
		session.Run(running) // it ends as it is told
	}()
	return a, nil
}

// end hangs up the agent and waits for its end.
func (a *agent) end() {
	a.stop(errEnough)
	<-a.ended
}

// gone says whether the agent has ended by itself.
func (a *agent) gone() bool {
	select {
	case <-a.session.Done():
		return true
	default:
		return false
	}
}

// lookEvery is how often files are looked at, which change without a word.
const lookEvery = 30 * time.Millisecond

// wait waits for cond, at most limit. It gives up when the agent has ended.
func (a *agent) wait(ctx context.Context, limit time.Duration, cond func() bool) bool {
	over := time.NewTimer(limit)
	defer over.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			return false
		case <-over.C:
			return cond()
		case <-a.session.Done():
			return cond()
		case <-a.changed:
		case <-time.After(lookEvery):
		}
	}
	return true
}

// steady waits until cond has held for idleRest without a break.
//
//go:noinline
func (a *agent) steady(ctx context.Context, limit time.Duration, cond func() bool) bool {
	var since time.Time
	return a.wait(ctx, limit, func() bool {
		if !cond() {
			since = time.Time{}
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) >= idleRest
	})
}

// look is what p makes of the screen.
func (a *agent) look(p *profile.Profile) (v sight.Sight) {
	a.session.View(func(s *screen.Screen) { v = sight.Look(p, s) })
	return v
}

// row is the first row that is matched.
func (a *agent) row(match func(string) bool) (row string, found bool) {
	a.session.View(func(s *screen.Screen) {
		n, _ := s.Size()
		for r := 0; r < n && !found; r++ {
			row = s.Row(r)
			found = match(row)
		}
	})
	return strings.TrimSpace(row), found
}

// quiet is how long the agent has written nothing.
func (a *agent) quiet() time.Duration {
	last := a.session.LastOutput()
	if last.IsZero() {
		return 0
	}
	return time.Since(last)
}

// shownRows is how many rows a report shows.
const shownRows = 10

// shown is the end of what stands on the screen, for a report. What looks like a
// blank and is none can be told apart.
func (a *agent) shown() string {
	var list []string
	title := ""
	a.session.View(func(s *screen.Screen) {
		title = s.Title()
		n, _ := s.Size()
		for r := range n {
			if row := s.Row(r); strings.TrimSpace(row) != "" {
				list = append(list, row)
			}
		}
	})
	var b strings.Builder
	for _, row := range list[max(0, len(list)-shownRows):] {
		fmt.Fprintf(&b, "     | %s\n", strings.ReplaceAll(row, "\u00a0", "⍽"))
	}
	if strings.Contains(b.String(), "⍽") {
		b.WriteString("     (⍽ is a no-break space)\n")
	}
	if title != "" {
		fmt.Fprintf(&b, "     (window title %q)\n", title)
	}
	if a.gone() {
		fmt.Fprintf(&b, "     (ended with status %d)\n", a.session.Wait().Code)
	}
	return b.String()
}

// ownLog is what the agent writes about itself.
type ownLog struct {
	log     profile.Log
	format  transcript.Format
	dir     string
	since   time.Time
	follow  *transcript.Log // made at the first look
	entries []transcript.Entry
}

// newOwnLog returns nil where there is none, or none that can be read.
func newOwnLog(l *profile.Log, env []string) *ownLog {
	if l == nil {
		return nil
	}
	format, ok := transcript.Named(l.Format)
	if !ok {
		return nil
	}
	o := &ownLog{log: *l, format: format, since: time.Now()}
	for _, kv := range env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			o.dir = filepath.Join(home, l.Home)
		}
	}
	return o
}

// readLog reads what is new of the agent's own log.
func (a *agent) readLog() (transcript.Session, error) {
	l := a.log
	if l.follow == nil {
		l.follow = transcript.Follow(l.format, l.dir, a.session.PID(), l.since)
	}
	s, news, err := l.follow.Look()
	l.entries = append(l.entries, news...)
	return s, err
}

// state is what the agent says of itself, in the profile's words and its own.
func (a *agent) state() (ready.State, string) {
	s, err := a.readLog()
	if err != nil {
		return "", ""
	}
	return a.log.log.Words[s.Status], s.Status
}

// logs waits for an entry of the transcript, of now or before.
//
//go:noinline
func (a *agent) logs(ctx context.Context, want func(transcript.Entry) bool) bool {
	return a.wait(ctx, turnWait, func() bool {
		if _, err := a.readLog(); err != nil { // what cannot be read is missed, which is told
			return false
		}
		return slices.ContainsFunc(a.log.entries, want)
	})
}
