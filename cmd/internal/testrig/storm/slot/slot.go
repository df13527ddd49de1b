// Package slot is the place of one agent in a storm: a wrapper on a terminal around a
// fake agent, and whenever that life ends by a kill, the next one with the same name and
// journal. It keeps the events of all lives, and wakes those who wait for them.
package slot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/protocol"
)

// Options say who sits there.
type Options struct {
	Name   string
	Dir    string // for everything; its name must be short
	Binary string // the wrapper
	Flags  []string
	Agent  string // in package agents
	Conf   agents.Config
	Line   bool                          // the agent is a line program
	Stray  func(agent, event string)     // told of commands that no agent said
	Log    func(format string, a ...any) // of what is odd
}

// Slot is the place of one agent.
type Slot struct {
	Options
	State  string // directory of the journal
	Socket string // of the wrapper

	mu      sync.Mutex
	change  chan struct{} // closed and replaced when anything below changes
	lives   []*Life
	ending  bool // Quit was called
	closed  bool // nothing more is sent
	events  []books.Event
	live    map[string]bool   // accepted, by an event or by an answer, and not at their end
	ended   map[string]string // status by id
	told    map[string]string // ends of which senders were told on their own connections
	skipped int               // messages that nobody waits for
}

// New is an empty slot; the directories are there before anyone lives.
func New(o Options) *Slot {
	return &Slot{
		Options: o, State: filepath.Join(o.Dir, "state"), Socket: filepath.Join(o.Dir, "s"),
		change: make(chan struct{}), live: map[string]bool{}, ended: map[string]string{}, told: map[string]string{},
	}
}

// note changes what the slot holds, and wakes those who wait for it.
func (s *Slot) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.change)
	s.change = make(chan struct{})
}

// until waits until ok, which is called with the slot locked; false: ctx ended first.
func (s *Slot) until(ctx context.Context, ok func() bool) bool {
	for {
		s.mu.Lock()
		met, change := ok(), s.change
		s.mu.Unlock()
		if met {
			return true
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}

// Next is closed at the next change.
func (s *Slot) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

// Live begins life after life until [Slot.Quit], or until ctx ends. A life that ends
// without a kill is an error.
func (s *Slot) Live(ctx context.Context) error {
	for n := 1; ; n++ {
		l, err := s.begin(n)
		if err != nil {
			return err
		}
		status, err := l.Term.Wait(ctx)
		l.Term.Close() // ended already, or hung up: the wrapper goes, too
		close(l.over)
		switch {
		case err != nil:
			return err
		case s.isEnding():
			return nil
		case !l.Killed():
			return fmt.Errorf("%s, life %d: ended by itself with status %d; its log is %s", s.Name, n, status, s.log(n))
		}
	}
}

func (s *Slot) log(n int) string { return filepath.Join(s.Dir, fmt.Sprintf("log%d", n)) }

// Up waits for a life that runs.
func (s *Slot) Up(ctx context.Context) (l *Life, err error) {
	if !s.until(ctx, func() bool {
		if n := len(s.lives); n > 0 {
			l = s.lives[n-1]
		}
		return l != nil && !l.isOver()
	}) {
		return nil, context.Cause(ctx)
	}
	return l, nil
}

// Count is how many messages are done with, and in how many lives.
func (s *Slot) Count() (messages, lives int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ended) + s.skipped, len(s.lives)
}

func (s *Slot) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// goodbye is how long what was typed may take to arrive, and the end to come; only a failure
// takes that long.
const goodbye = 2 * time.Minute

// Quit waits until the agent has read the last word that was typed, and lets it end.
func (s *Slot) Quit(ctx context.Context) error {
	l, err := s.Up(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*goodbye, fmt.Errorf("the end of %s: not within %v", s.Name, 2*goodbye))
	defer cancel()
	reading, stop := context.WithTimeout(ctx, goodbye)
	defer stop()
	if err := l.try(reading, l.hasRead); err != nil {
		s.Log("storm: %s, life %d: the last of %d words was not read: %v", s.Name, l.N, len(l.Words), err) // the check of the books tells
	}
	s.note(func() { s.ending = true })
	if _, err := l.Agent.Do(ctx, agents.Command{Cmd: "quit"}); err != nil {
		return fmt.Errorf("%s: quit: %w", s.Name, err)
	}
	return l.Over(ctx)
}

// hasRead reports whether the agent has read the last word, or has started where there is none.
func (l *Life) hasRead() bool {
	if len(l.Words) == 0 {
		_, err := os.Lstat(l.Agent.Control)
		return err == nil
	}
	b, err := l.Agent.Read()
	return err == nil && bytes.Contains(b, []byte(l.Words[len(l.Words)-1]))
}

// heard takes an event of the wrapper's.
func (s *Slot) heard(e protocol.Event) error {
	r, ok := e.(*protocol.InjectResult)
	if !ok {
		line, err := protocol.Encode(e)
		s.Stray(s.Name, string(line))
		return err
	}
	s.note(func() {
		s.events = append(s.events, books.Event{Agent: s.Name, InjectResult: *r})
		if protocol.Terminal(r.Status) {
			delete(s.live, r.ID)
			s.ended[r.ID] = r.Status
		} else if s.ended[r.ID] == "" {
			s.live[r.ID] = true
		}
	})
	return nil
}

// Accepted is told that a sender was: the events must tell of it, too.
func (s *Slot) Accepted(id string) {
	s.note(func() {
		if s.ended[id] == "" {
			s.live[id] = true
		}
	})
}

// Told is told what a sender was: an end that it must find in the events, too.
func (s *Slot) Told(f protocol.Frame) {
	if r, ok := f.(*protocol.InjectResult); ok && protocol.Terminal(r.Status) {
		s.note(func() { s.told[r.ID] = r.Status })
	}
}

// Skip is told of a message that its sender gave up.
func (s *Slot) Skip() { s.note(func() { s.skipped++ }) }

// Close is told that nothing more is sent.
func (s *Slot) Close() { s.note(func() { s.closed = true }) }

// Empty waits until everything that was accepted is at its end.
func (s *Slot) Empty(ctx context.Context) bool {
	return s.until(ctx, func() bool { return len(s.live) == 0 })
}

// Progress waits until n messages are done with, or all that are sent.
func (s *Slot) Progress(ctx context.Context, n int) bool {
	return s.until(ctx, func() bool { return len(s.ended)+s.skipped >= n || s.closed && len(s.live) == 0 })
}

// Unended is ids without those at their end.
func (s *Slot) Unended(ids []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(ids, func(id string) bool { return s.ended[id] != "" })
}

// Standing tells how it stands.
func (s *Slot) Standing() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	some := slices.Sorted(maps.Keys(s.live))
	return fmt.Sprintf("%d live, as %v; %d ended", len(some), some[:min(5, len(some))], len(s.ended))
}

// Books adds to a run what is known of this agent, when all is over. With whole, every
// end that a sender was told must stand in the events.
func (s *Slot) Books(run *books.Run, whole bool) error {
	for id, status := range s.told {
		if whole && s.ended[id] != status {
			return fmt.Errorf("the sender of %s was told that it is %s, the events say %q", id, status, s.ended[id])
		}
	}
	run.Events = append(run.Events, s.events...)
	for _, l := range s.lives {
		r := books.Reading{Agent: s.Name, Life: l.N, Line: s.Line, Killed: l.Killed()}
		var err error
		if r.Bytes, err = l.Agent.Read(); err != nil {
			return err
		}
		if !s.Line {
			events, err := l.Agent.EventLog()
			if err != nil {
				return err
			}
			r.Turns = taken(events)
		}
		run.Readings = append(run.Readings, r)
		run.Typings = append(run.Typings, books.Typing{Agent: s.Name, Life: l.N, Words: l.Words})
	}
	return nil
}

// taken are the texts that Enter took out of a composer, and what nobody asked for.
func taken(events []agents.Event) []string {
	texts, unasked := agents.Taken(events)
	for _, e := range unasked {
		texts = append(texts, e.Kind+": "+e.Text)
	}
	return texts
}
