// Package slot is the place of one agent in a storm: a wrapper on a terminal around a
// fake agent, and whenever that life ends by a kill, the next one with the same name and
// journal. It keeps the events of all lives.
package slot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	State string // directory of the journal
	Hub   *Hub

	socket string
	mu     sync.Mutex
	past   []*Life
	begun  chan struct{} // closed and replaced when a life begins
	ending bool
}

// New is an empty slot; the directories are there before anyone lives.
func New(o Options) *Slot {
	return &Slot{
		Options: o, State: filepath.Join(o.Dir, "state"), socket: filepath.Join(o.Dir, "s"),
		Hub: newHub(), begun: make(chan struct{}),
	}
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
		if err != nil {
			l.Term.Close() // hung up: the wrapper goes, too
			close(l.over)
			return err
		}
		close(l.over)
		l.Term.Close() // ended already
		switch {
		case s.isEnding():
			return nil
		case !l.Killed():
			return fmt.Errorf("%s, life %d: ended by itself with status %d; its log is %s", s.Name, n, status, s.log(n))
		}
	}
}

func (s *Slot) log(n int) string { return filepath.Join(s.Dir, fmt.Sprintf("log%d", n)) }

// now is the life that runs, or ran last; nil before the first.
func (s *Slot) now() (l *Life, next <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) > 0 {
		l = s.past[len(s.past)-1]
	}
	return l, s.begun
}

// Up waits for a life that runs.
func (s *Slot) Up(ctx context.Context) (*Life, error) {
	for {
		l, next := s.now()
		if l != nil && !l.isOver() {
			return l, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Lives are all there were.
func (s *Slot) Lives() []*Life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.past)
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
	reading, cancel := context.WithTimeoutCause(ctx, goodbye, fmt.Errorf("not within %v", goodbye))
	defer cancel()
	if err := l.hasRead(reading); err != nil {
		s.Log("storm: %s, life %d: %s was not read: %v", s.Name, l.N, l.Words[len(l.Words)-1], err) // the check of the books tells
	}
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	ctx, cancel = context.WithTimeoutCause(ctx, goodbye, fmt.Errorf("the end of %s: not within %v", s.Name, goodbye))
	defer cancel()
	if _, err := l.Agent.Do(ctx, agents.Command{Cmd: "quit"}); err != nil {
		return fmt.Errorf("%s: quit: %w", s.Name, err)
	}
	return l.Over(ctx)
}

// hasRead waits until the agent has read the last word.
func (l *Life) hasRead(ctx context.Context) error {
	if len(l.Words) == 0 {
		return nil
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		b, err := l.Agent.Read()
		if err != nil || bytes.Contains(b, []byte(l.Words[len(l.Words)-1])) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Dial connects to a life; nil when it ends before that.
func (s *Slot) Dial(ctx context.Context, l *Life) (*Conn, error) {
	trying, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-l.over:
			stop()
		case <-trying.Done():
		}
	}()
	c, err := dial(trying, s.socket)
	if err != nil && ctx.Err() == nil {
		return nil, nil
	}
	return c, err
}

// Socket is the path of the wrapper's socket.
func (s *Slot) Socket() string { return s.socket }

// Follow reads the events of all lives, each from where the one before was left.
func (s *Slot) Follow(ctx context.Context) error {
	for seq := int64(0); ; {
		if l, err := s.Up(ctx); err != nil || s.isEnding() {
			return err
		} else if err := s.listen(ctx, l, &seq); err != nil {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond): // it may be refused for a while
		case <-ctx.Done():
		}
	}
}

// listen reads events until the connection ends.
func (s *Slot) listen(ctx context.Context, l *Life, seq *int64) error {
	c, err := s.Dial(ctx, l)
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	if c.Send(&protocol.Subscribe{After: seq, Events: []string{"inject_result", "relay_command", "marker_invalid"}}) != nil {
		return nil // the wrapper is gone
	}
	for {
		select {
		case f, ok := <-c.Frames:
			if !ok {
				return nil
			}
			if err := s.heard(f, seq); errors.Is(err, errAgain) {
				return nil
			} else if err != nil {
				return fmt.Errorf("%s, life %d: events after %d: %w", s.Name, l.N, *seq, err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errAgain = errors.New("not now")

func (s *Slot) heard(f protocol.Frame, seq *int64) error {
	switch f := f.(type) {
	case *protocol.Subscribed, *protocol.Lagged:
		return nil
	case *protocol.Error:
		if slices.Contains([]protocol.Code{protocol.TooManyConnections, protocol.ShuttingDown, protocol.Degraded}, f.Code) {
			return errAgain
		}
		return fmt.Errorf("refused: %w", f)
	case protocol.Event:
		now := f.Stamped().Seq
		if now <= *seq {
			return fmt.Errorf("number %d is told after %d", now, *seq)
		}
		*seq = now
		r, ok := f.(*protocol.InjectResult)
		if !ok {
			line, err := protocol.Encode(f)
			s.Stray(s.Name, string(line))
			return err
		}
		s.Hub.add(books.Event{Agent: s.Name, InjectResult: *r})
		return nil
	}
	return fmt.Errorf("%s was not asked for", f.Type())
}
