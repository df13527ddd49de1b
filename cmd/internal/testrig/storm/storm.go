// Package storm runs many wrappers under senders, typists and a nemesis, all from one
// seed, and returns the books of it for package books to check. The seed decides who
// does what in which order; the machine's timing is its own.
//
// Each agent is a wrapper on a terminal, around a fake agent that logs every byte it
// reads. Whenever a wrapper or an agent is killed, the next life of the same name and
// journal follows at once, with logs of its own.
package storm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"relay-pty/cmd/internal/testrig/books"
)

// Config says what a run is made of. The calling test binary must use testrig.Main,
// for it is the fake agents, too.
type Config struct {
	Seed   uint64
	Binary string // the wrapper
	// Dir takes sockets, journals and all logs; its name must be short. It is left behind.
	Dir string

	Agents   int
	Messages int // in all
	Faults   int // in all

	Kinds    []string // of faults, see [Kinds]; nil: all of them
	Programs []string // the agents in turn; nil: a mix, most of them line programs
	Flags    []string // more flags of all wrappers
	Quiet    bool     // nobody types

	// Patience is how long after the last fault the queues may take to run empty; 0: a
	// minute.
	Patience time.Duration
	// Stall is how long nothing may come to its end before the run is given up: its books
	// say that it did not run empty; 0: two minutes.
	Stall time.Duration
	Log   func(format string, args ...any) // of the progress
	Stray func(agent, event string)        // told of commands that no agent said
}

// Kinds are the faults that this system can be made to have.
func Kinds() []string {
	return slices.Concat(slices.Sorted(maps.Keys(strikes)), slices.Sorted(maps.Keys(systemStrikes)))
}

// storm is one run.
type storm struct {
	Config
	places []*place

	mu     sync.Mutex
	sends  []books.Send
	faults []books.Fault
}

// Run runs until all is sent and struck, and every queue is empty or patience is over.
// An error is that of a run that could not be: then the books are not whole.
func Run(ctx context.Context, c Config) (books.Run, error) {
	s := &storm{Config: c.filled()}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	fail := func(err error) { // or nothing
		if err == nil {
			return
		}
		if ctx.Err() == nil && !errors.Is(err, errOver) {
			s.Log("storm: fails: %v", err)
		}
		cancel(err)
	}
	if err := s.prepare(); err != nil {
		return books.Run{}, errors.Join(err, s.clear())
	}
	var lives sync.WaitGroup
	for _, p := range s.places {
		lives.Go(func() { fail(p.goOn(ctx)) })
		lives.Go(func() { fail(p.follow(ctx)) })
	}
	drained := s.rage(ctx, fail) && s.drained(ctx)
	if ctx.Err() == nil { // what was typed arrives, and every life ends gently
		var all sync.WaitGroup
		for _, p := range s.places {
			all.Go(func() { fail(p.quit(ctx)) })
		}
		all.Wait()
	}
	fail(errOver)
	lives.Wait()
	err := s.clear()
	if cause := context.Cause(ctx); !errors.Is(cause, errOver) {
		return books.Run{}, errors.Join(cause, err)
	}
	run := books.Run{Sends: s.sends, Faults: s.faults, Drained: drained}
	for _, p := range s.places {
		err = errors.Join(err, p.books(&run, drained))
	}
	return run, err
}

func (c Config) filled() Config {
	if c.Kinds == nil {
		c.Kinds = Kinds()
	}
	c.Patience, c.Stall = cmp.Or(c.Patience, time.Minute), cmp.Or(c.Stall, 2*time.Minute)
	return c
}

var errOver = errors.New("the run is over")

// rand is the source of one part of the run.
func (s *storm) rand(part, n int) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(part)<<32|uint64(n)))
}

// The parts of a run that draw from sources of their own.
const (
	forSeats = iota
	forSenders
	forTypists
	forNemesis
)

// prepare makes the places, with a share of the messages for each.
func (s *storm) prepare() error {
	programs, err := chosen(s.Programs)
	if err != nil {
		return err
	}
	total := 0
	for i := range s.Agents {
		total += programs[i%len(programs)].share
	}
	left := s.Messages
	for i := range s.Agents {
		p := s.place(fmt.Sprintf("a%d", i+1), programs[i%len(programs)])
		p.messages = s.Messages * p.share / total
		left -= p.messages
		s.places = append(s.places, p)
		if err := p.prepare(); err != nil {
			return err
		}
	}
	s.places[0].messages += left
	return nil
}

// rage runs senders, typists and the nemesis to their ends, and reports whether they came to
// them: what stalls is given up.
func (s *storm) rage(ctx context.Context, fail func(error)) bool {
	running, giveUp := context.WithCancel(ctx)
	defer giveUp()
	note := func(err error) {
		if running.Err() == nil || ctx.Err() != nil {
			fail(err)
		}
	}
	typing, rest := context.WithCancel(running)
	defer rest()
	var work, hands sync.WaitGroup
	plan := s.plan()
	for i, p := range s.places {
		var sending sync.WaitGroup
		for n, m := range s.senders(p) {
			sending.Go(func() { note(m.run(running, s.rand(forSenders, i<<8|n))) })
		}
		work.Go(func() { sending.Wait(); p.Change(func() { p.closed = true }) })
		work.Go(func() { note(s.strikeAll(running, p, plan[i], s.rand(forNemesis, i))) })
		if !s.Quiet {
			hands.Go(func() { note(p.types(typing, s.rand(forTypists, i))) })
		}
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	whole := s.await(done)
	if !whole {
		giveUp()
		<-done
	}
	rest()
	hands.Wait()
	s.report()
	return whole
}

// await waits until done and reports; false: nothing comes to its end any more.
func (s *storm) await(done <-chan struct{}) bool {
	look := time.NewTicker(s.Stall / 10)
	defer look.Stop()
	for ended, at := 0, time.Now(); ; {
		select {
		case <-done:
			return true
		case <-look.C:
		}
		if n := s.report(); n != ended {
			ended, at = n, time.Now()
		} else if time.Since(at) > s.Stall {
			s.Log("storm: given up: nothing came to its end for %v", s.Stall)
			return false
		}
	}
}

// drained waits until every queue is empty, or patience is over.
func (s *storm) drained(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	for _, p := range s.places {
		if p.empty(ctx) != nil {
			s.Log("storm: %s is not at its end: %s", p.name, p.standing())
			return false
		}
	}
	return true
}

// report logs how the run stands, and returns how many messages are done with.
func (s *storm) report() (ended int) {
	lives := 0
	for _, p := range s.places {
		messages, l := p.count()
		ended, lives = ended+messages, lives+l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Log("storm: %d of %d messages at their end, %d faults of %d, %d lives of %d agents", ended, s.Messages, len(s.faults), s.Faults, lives, s.Agents)
	return ended
}

// clear takes down what does not go with the processes.
func (s *storm) clear() error {
	var errs []error
	for _, p := range s.places {
		errs = append(errs, dropDisk(p.state))
	}
	return errors.Join(errs...)
}

func (s *storm) post(send books.Send) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sends = append(s.sends, send)
}

func (s *storm) struck(f books.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}
