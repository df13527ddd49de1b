package storm

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay-pty/cmd/internal/await"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/protocol"
)

// place is that of one agent: a wrapper on a terminal around a fake agent, and whenever that life
// ends by a kill, the next one with the same name and journal. It keeps the events of all lives,
// and wakes those who wait for them.
type place struct {
	storm *storm
	program
	name     string
	dir      string // for everything; its name must be short
	state    string // directory of the journal
	socket   string // of the wrapper
	messages int    // that are meant for it

	await.State // guards all below
	lives       []*life
	ending      bool // quit was called
	closed      bool // nothing more is sent
	events      []books.Event
	live        map[string]bool   // accepted, by an event or by an answer, and not at their end
	ended       map[string]string // status by id
	told        map[string]string // ends of which senders were told on their own connections
	skipped     int               // messages that nobody waits for
}

// place is that of an agent of that name.
func (s *storm) place(name string, p program) *place {
	dir := filepath.Join(s.Dir, name)
	return &place{
		storm: s, program: p, name: name, dir: dir, state: filepath.Join(dir, "state"), socket: filepath.Join(dir, "s"),
		live: map[string]bool{}, ended: map[string]string{}, told: map[string]string{},
	}
}

func (p *place) overlay() string { return filepath.Join(p.dir, "overlay.json") }

// prepare makes the directories, and the disk that faults of the disk need.
func (p *place) prepare() error {
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		return err
	}
	if slices.Contains(p.storm.Kinds, diskFull) {
		if err := ownDisk(p.state); err != nil {
			return err
		}
	}
	return os.WriteFile(p.overlay(), []byte(p.over), 0o600)
}

// until waits until ok, which is called with the place locked.
func (p *place) until(ctx context.Context, ok func() bool) error {
	return p.Until(ctx, func() (bool, error) {
		p.Lock()
		defer p.Unlock()
		return ok(), nil
	})
}

// goOn begins life after life until quit, or until ctx ends. A life that ends without a kill is an
// error.
func (p *place) goOn(ctx context.Context) error {
	for n := 1; ; n++ {
		l, err := p.begin(n)
		if err != nil {
			return err
		}
		status, err := l.term.Wait(ctx)
		l.term.Close() // ended already, or hung up: the wrapper goes, too
		close(l.over)
		switch {
		case err != nil:
			return err
		case p.isEnding():
			return nil
		case !l.killed.Load():
			return fmt.Errorf("%s, life %d: ended by itself with status %d; its log is %s", p.name, n, status, p.log(n))
		}
	}
}

func (p *place) log(n int) string { return filepath.Join(p.dir, fmt.Sprintf("log%d", n)) }

// up waits for a life that runs.
func (p *place) up(ctx context.Context) (l *life, err error) {
	err = p.until(ctx, func() bool {
		if n := len(p.lives); n > 0 {
			l = p.lives[n-1]
		}
		return l != nil && !l.isOver()
	})
	return l, err
}

// count is how many messages are done with, and in how many lives.
func (p *place) count() (messages, lives int) {
	p.Lock()
	defer p.Unlock()
	return len(p.ended) + p.skipped, len(p.lives)
}

func (p *place) isEnding() bool {
	p.Lock()
	defer p.Unlock()
	return p.ending
}

// goodbye is how long what was typed may take to arrive, and the end to come; only a failure
// takes that long.
const goodbye = 2 * time.Minute

// quit waits until the agent has read the last word that was typed, and lets it end.
func (p *place) quit(ctx context.Context) error {
	l, err := p.up(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*goodbye, fmt.Errorf("the end of %s: not within %v", p.name, 2*goodbye))
	defer cancel()
	reading, stop := context.WithTimeout(ctx, goodbye)
	defer stop()
	if err := l.try(reading, l.hasRead); err != nil {
		p.storm.Log("storm: %s, life %d: the last of %d words was not read: %v", p.name, l.n, len(l.words), err) // the check of the books tells
	}
	p.Change(func() { p.ending = true })
	if _, err := l.agent.Do(ctx, agents.Command{Cmd: "quit"}); err != nil {
		return fmt.Errorf("%s: quit: %w", p.name, err)
	}
	return l.isGone(ctx)
}

// hasRead reports whether the agent has read the last word, or has started where there is none.
func (l *life) hasRead() bool {
	if len(l.words) == 0 {
		_, err := os.Lstat(l.agent.Control)
		return err == nil
	}
	b, err := l.agent.Read()
	return err == nil && bytes.Contains(b, []byte(l.words[len(l.words)-1]))
}

// heard takes an event of the wrapper's.
func (p *place) heard(e protocol.Event) error {
	r, ok := e.(*protocol.InjectResult)
	if !ok {
		line, err := protocol.Encode(e)
		p.storm.Stray(p.name, string(line))
		return err
	}
	p.Change(func() {
		p.events = append(p.events, books.Event{Agent: p.name, InjectResult: *r})
		if protocol.Terminal(r.Status) {
			delete(p.live, r.ID)
			p.ended[r.ID] = r.Status
		} else if p.ended[r.ID] == "" {
			p.live[r.ID] = true
		}
	})
	return nil
}

// accepted is told that a sender was: the events must tell of it, too.
func (p *place) accepted(id string) {
	p.Change(func() {
		if p.ended[id] == "" {
			p.live[id] = true
		}
	})
}

// tells is told what a sender was: an end that must stand in the events, too.
func (p *place) tells(f protocol.Frame) {
	if r, ok := f.(*protocol.InjectResult); ok && protocol.Terminal(r.Status) {
		p.Change(func() { p.told[r.ID] = r.Status })
	}
}

// skip is told of a message that its sender gave up.
func (p *place) skip() { p.Change(func() { p.skipped++ }) }

// empty waits until everything that was accepted is at its end.
func (p *place) empty(ctx context.Context) error {
	return p.until(ctx, func() bool { return len(p.live) == 0 })
}

// progress waits until n messages are done with, or all that are sent.
func (p *place) progress(ctx context.Context, n int) error {
	return p.until(ctx, func() bool { return len(p.ended)+p.skipped >= n || p.closed && len(p.live) == 0 })
}

// unended is ids without those at their end.
func (p *place) unended(ids []string) []string {
	p.Lock()
	defer p.Unlock()
	return slices.DeleteFunc(ids, func(id string) bool { return p.ended[id] != "" })
}

// standing tells how it stands.
func (p *place) standing() string {
	p.Lock()
	defer p.Unlock()
	some := slices.Sorted(maps.Keys(p.live))
	return fmt.Sprintf("%d live, as %v; %d ended", len(some), some[:min(5, len(some))], len(p.ended))
}

// books adds to a run what is known of this agent, when all is over. With whole, every end that a
// sender was told must stand in the events.
func (p *place) books(run *books.Run, whole bool) error {
	for id, status := range p.told {
		if whole && p.ended[id] != status {
			return fmt.Errorf("the sender of %s was told that it is %s, the events say %q", id, status, p.ended[id])
		}
	}
	run.Events = append(run.Events, p.events...)
	for _, l := range p.lives {
		r := books.Reading{Agent: p.name, Life: l.n, Line: p.line, Killed: l.killed.Load()}
		var err error
		if r.Bytes, err = l.agent.Read(); err != nil {
			return err
		}
		if !p.line {
			events, err := l.agent.EventLog()
			if err != nil {
				return err
			}
			texts, unasked := agents.Taken(events)
			for _, e := range unasked {
				texts = append(texts, e.Kind+": "+e.Text)
			}
			r.Turns = texts
		}
		run.Readings = append(run.Readings, r)
		run.Typings = append(run.Typings, books.Typing{Agent: p.name, Life: l.n, Words: l.words})
	}
	return nil
}
