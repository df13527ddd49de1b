package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"relay-pty/cmd/relay-pty/agentlog"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/protocol"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

// Size of the terminal: tall enough for what is pasted, narrow enough for a report.
const rows, cols = 40, 100

const (
	within    = 30 * time.Second       // how long an agent may take, on a loaded machine, to do what it should
	keyWait   = 3 * time.Second        // how long a key may take of which there are others to try
	startWait = 2 * time.Minute        // and to show its composer
	startRest = 5 * time.Second        // an agent that has written nothing for so long shows none
	endGrace  = 5 * time.Second        // longer than relay-pty, which may be the command, gives its agent
	lookEvery = 30 * time.Millisecond  // how often files are read: they change without a word
	rest      = 100 * time.Millisecond // what is seen must stay so long to count
)

// live is a running agent, on a terminal of its own.
type live struct {
	session *pty.Session
	changed <-chan struct{}
	log     *agentlog.Log // nil: the profile knows none
	said    ready.State   // what the log said last
	end     func()        // hangs up the agent and waits until it is gone
}

// start runs a command in the scratch home until end is called, or ctx ends.
func (c *checker) start(ctx context.Context, command ...string) (*live, error) {
	// The PTY takes no directory; the shell becomes the command, with its pid.
	args := append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, c.cwd}, command...)
	s, err := pty.Start(pty.Config{
		Args: args, Env: c.env, Size: pty.Winsize{Rows: rows, Cols: cols}, Output: io.Discard, Grace: endGrace,
	})
	if err != nil {
		return nil, err
	}
	a := &live{session: s, changed: s.Watch()}
	if c.profile.Log != nil {
		a.log = agentlog.New(agentlog.Agent{
			Profile: *c.profile.Log, PID: s.PID(), Started: time.Now(),
			Word:    func(w ready.Word) { a.said = w.State },
			TurnEnd: func(*protocol.TurnEnd) {}, Failed: func(error) {}, // what can't be read will be missed
		})
	}
	running, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(running) // it ends as it is told
	}()
	a.end = func() { stop(errors.New("seen enough")); <-ended }
	return a, nil
}

// leave ends the agent, if one runs.
func (c *checker) leave() {
	if c.live != nil {
		c.live.end()
		c.live = nil
	}
}

// settle sees to an agent at an empty composer, where the profile finds one. It starts a new agent
// if need be.
func (c *checker) settle(ctx context.Context) (err error) {
	if c.live != nil {
		c.wipe(ctx)
		if c.live.wait(ctx, startRest, c.idle) {
			return nil
		}
		c.leave()
	}
	if c.live, err = c.start(ctx, c.command...); err != nil {
		return err
	}
	c.live.wait(ctx, c.profile.Rules.First, func() bool { return false })
	c.live.wait(ctx, startWait, func() bool {
		return c.idle() || len(c.live.rows()) > 0 && time.Since(c.live.session.LastOutput()) > startRest
	})
	return nil
}

// wait waits, at most limit, until cond has held for as long as a screen must rest. It gives up
// when the agent has ended.
func (a *live) wait(ctx context.Context, limit time.Duration, cond func() bool) bool {
	over := time.After(limit)
	var since time.Time
	for {
		switch holds := cond(); {
		case !holds:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= rest:
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-over:
			return false
		case <-a.session.Done():
			return cond()
		case <-a.changed:
		case <-time.After(lookEvery):
		}
	}
}

// write types text. That of a dead agent goes nowhere, which shows soon enough.
func (a *live) write(text string) { a.session.Keys([]byte(text)) }

// look is what p makes of the screen.
func (a *live) look(p *profile.Profile) (v sight.Sight) {
	a.session.View(func(s *screen.Screen) { v = sight.Look(p, s) })
	return v
}

// rows are those of the screen with something in them.
func (a *live) rows() (list []string) {
	a.session.View(func(s *screen.Screen) {
		n, _ := s.Size()
		for r := range n {
			if row := s.Row(r); strings.TrimSpace(row) != "" {
				list = append(list, row)
			}
		}
	})
	return list
}

// shown is the end of what stands on the screen, for a report. A no-break space looks like a blank,
// and is none.
func (a *live) shown() string {
	title := ""
	a.session.View(func(s *screen.Screen) { title = s.Title() })
	text := ""
	list := a.rows()
	for _, row := range list[max(0, len(list)-10):] {
		text += "\n     | " + strings.ReplaceAll(row, "\u00a0", "⍽")
	}
	if strings.Contains(text, "⍽") {
		text += "\n     (⍽ is a no-break space)"
	}
	if title != "" {
		text += fmt.Sprintf("\n     (window title %q)", title)
	}
	return text
}
