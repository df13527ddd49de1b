// Package hub is the running router: it owns the state, writes the log, and tells those who wait
// of what happened. What an event means and what is let in is decided in package router.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"relay-pty/cmd/relay/internal/bus"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Store keeps the events; *bus.Log is one.
type Store interface {
	Append(ctx context.Context, kind, agent string, data []byte) (seq int64, err error)
	Read(ctx context.Context, after int64, f func(seq int64, data []byte) error) error
	Span(ctx context.Context) (oldest, newest int64, err error)
}

// tailMost is how many of the newest events are kept in memory for those who follow.
const tailMost = 4096

// Hub is one router.
type Hub struct {
	store Store
	newID func() string

	writing sync.Mutex // held from a decision to its place in the log, I/O included; before mu

	mu      sync.Mutex // guards what follows; never held over I/O
	state   *router.State
	tail    []router.Event
	running map[string]int  // wrappers that run, by name: for a moment the old one may be there, too
	claimed map[string]bool // messages that are on their way into a wrapper, or may be there
	changed chan struct{}   // closed and replaced after each event
	broken  error           // the log may hold an event that the state does not know
	failed  chan struct{}   // closed with it
}

// New reads the log and is ready for work.
func New(ctx context.Context, store Store, newID func() string) (*Hub, error) {
	h := &Hub{store: store, newID: newID, state: router.NewState(), running: map[string]int{}, claimed: map[string]bool{}, changed: make(chan struct{}), failed: make(chan struct{})}
	err := store.Read(ctx, 0, func(seq int64, data []byte) error {
		e, err := decode(seq, data)
		if err != nil {
			return err
		}
		h.state.Apply(e)
		return nil
	})
	return h, err
}

func decode(seq int64, data []byte) (e router.Event, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("event %d of the log: %w", seq, err)
	}
	e.Seq = seq
	return e, nil
}

// Send accepts a message, which is in the log then. Where the message was sent before, it returns
// what became of it. Refusals are *router.ErrorValue.
func (h *Hub) Send(ctx context.Context, m router.Message) (router.Known, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	if m.ID == "" {
		m.ID = h.freshID()
	}
	return h.admit(ctx, m, router.Event{})
}

// freshID is one that no message has.
func (h *Hub) freshID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		id := h.newID()
		if _, used := h.state.Find(id); !used {
			return id
		}
	}
}

// Command sends what an agent said it wants sent. One that was seen before is passed over, one that
// is refused leaves an event that says so.
func (h *Hub) Command(ctx context.Context, e router.Event) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if !h.isNew(e) {
		return nil
	}
	_, err := h.admit(ctx, e.Message, e)
	var refused *router.ErrorValue
	if errors.As(err, &refused) {
		e.Type, e.Error = router.TypeRefused, refused
		return h.append(ctx, e)
	}
	return err
}

// admit is for the owner of writing.
func (h *Hub) admit(ctx context.Context, m router.Message, e router.Event) (router.Known, error) {
	now := time.Now().UnixMilli()
	h.mu.Lock()
	m, known, err := h.state.Admit(m, now, h.runsLocked)
	h.mu.Unlock()
	switch {
	case err != nil:
		return router.Known{}, err
	case known != nil:
		return *known, nil
	}
	e.Type, e.Timestamp, e.Message = router.TypeMessage, now, m
	if err := h.append(ctx, e); err != nil {
		return router.Known{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sent, _ := h.state.Find(m.ID) // it was applied
	return sent, nil
}

// Record puts what a wrapper told into the log, once.
func (h *Hub) Record(ctx context.Context, e router.Event) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if !h.isNew(e) {
		return nil
	}
	return h.append(ctx, e)
}

func (h *Hub) isNew(e router.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.Origin == nil || h.state.New(e.Agent, *e.Origin)
}

// append is for the owner of writing. After an error that leaves it open whether the event was
// written, nothing more is: the state would not be that of the log.
func (h *Hub) append(ctx context.Context, e router.Event) error {
	if h.broken != nil {
		return h.broken
	}
	if e.Timestamp == 0 {
		e.Timestamp = time.Now().UnixMilli()
	}
	if e.EventID == "" {
		e.EventID = eventID(e, h.newID)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	e.Seq, err = h.store.Append(ctx, e.Type, filedUnder(e), data)
	if errors.Is(err, bus.ErrUnclear) {
		h.broken = err
		close(h.failed)
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Apply(e)
	if m, _ := h.state.Find(e.ID); router.Ended(m.Status) {
		delete(h.claimed, e.ID) // nobody hands over what has ended
	}
	if h.tail = append(h.tail, e); len(h.tail) > 2*tailMost {
		h.tail = slices.Clone(h.tail[tailMost:])
	}
	close(h.changed)
	h.changed = make(chan struct{})
	return nil
}

// filedUnder is the agent that an event is about.
func filedUnder(e router.Event) string {
	if e.Type == router.TypeMessage {
		return e.To
	}
	return e.Agent
}

// eventID names an event of a wrapper by its place there, so that it has one name however often it
// is told.
func eventID(e router.Event, newID func() string) string {
	if e.Origin == nil {
		return "e-" + newID()
	}
	return fmt.Sprintf("%s:%s:%d", e.Agent, e.Origin.Epoch, e.Origin.Seq)
}

// View calls f with the state, which f must not keep, and with who runs. f must be short.
func (h *Hub) View(f func(s *router.State, running func(name string) bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h.state, h.runsLocked)
}

func (h *Hub) runsLocked(name string) bool { return h.running[name] > 0 }

// Changed is closed after the next event. Whoever waits takes it before looking.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Up says that a wrapper runs, and puts that into the log if it is news.
func (h *Hub) Up(ctx context.Context, name, profile string, pid int) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	h.running[name]++
	was, _ := h.state.Agent(name)
	h.mu.Unlock()
	if was.Running && was.PID == pid {
		return nil
	}
	e := router.Event{Type: router.TypeUp, Agent: name}
	e.Profile, e.PID = profile, pid
	return h.append(ctx, e)
}

// Down says that a wrapper no longer runs.
func (h *Hub) Down(ctx context.Context, name string) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	if h.running[name]--; h.running[name] <= 0 {
		delete(h.running, name)
	}
	gone := h.running[name] == 0
	h.mu.Unlock()
	if !gone {
		return nil
	}
	return h.append(ctx, router.Event{Type: router.TypeDown, Agent: name})
}

// Missed puts the end of wrappers into the log that ended while there was no router.
func (h *Hub) Missed(ctx context.Context) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	var gone []string
	for _, a := range h.state.Agents() {
		if a.Running && h.running[a.Name] == 0 {
			gone = append(gone, a.Name)
		}
	}
	h.mu.Unlock()
	for _, name := range gone {
		if err := h.append(ctx, router.Event{Type: router.TypeDown, Agent: name}); err != nil {
			return err
		}
	}
	return nil
}

// Idle says whether nobody runs and nothing waits.
func (h *Hub) Idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.running) == 0 && !h.state.Waiting()
}

// Events returns up to most events after a number for which want is true, and the number up to
// which it looked. oldest is that of the oldest event still kept.
func (h *Hub) Events(ctx context.Context, after int64, most int, want func(*router.Event) bool) (list []router.Event, upTo, oldest int64, err error) {
	if oldest, _, err = h.store.Span(ctx); err != nil {
		return nil, after, 0, err
	}
	h.mu.Lock()
	tail := h.tail
	last := h.state.Last
	h.mu.Unlock()
	if upTo = after; after >= last {
		return nil, after, oldest, nil
	}
	take := func(e router.Event) error {
		if upTo = e.Seq; want(&e) {
			list = append(list, e)
		}
		if len(list) >= most {
			return errEnough
		}
		return nil
	}
	if len(tail) > 0 && after >= tail[0].Seq-1 {
		for _, e := range tail[after-tail[0].Seq+1:] {
			if take(e) != nil {
				break
			}
		}
		return list, upTo, oldest, nil
	}
	err = h.store.Read(ctx, after, func(seq int64, data []byte) error {
		e, err := decode(seq, data)
		if err != nil {
			return err
		}
		return take(e)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, upTo, oldest, err
}

var errEnough = errors.New("enough")

// Claim says that a message is about to be handed to a wrapper, which from then on ends it. It is
// false when there is nothing to hand over any more.
func (h *Hub) Claim(id string) bool {
	h.writing.Lock() // not while it is being ended
	defer h.writing.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.state.Find(id)
	if !ok || router.Ended(m.Status) {
		return false
	}
	h.claimed[id] = true
	return true
}

// Unclaim says that the wrapper did not take the message, for certain.
func (h *Hub) Unclaim(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.claimed, id)
}

// Run ends messages that no wrapper has got in their time, until ctx ends or the log cannot be
// trusted any more.
func (h *Hub) Run(ctx context.Context) error {
	for {
		changed := h.Changed()
		next, err := h.expireNow(ctx)
		if err != nil {
			return err
		}
		var late <-chan time.Time
		if next != 0 {
			late = time.After(time.Until(time.UnixMilli(next)))
		}
		select {
		case <-changed:
		case <-late:
		case <-h.failed:
			return errors.New("the log cannot be trusted any more; a new start reads it anew")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// expireNow returns when it is to be called again, 0 for not before something changed.
func (h *Hub) expireNow(ctx context.Context) (next int64, err error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	over, next := h.state.Expiring(time.Now().UnixMilli())
	over = slices.DeleteFunc(over, func(m router.Known) bool { return h.claimed[m.ID] })
	h.mu.Unlock()
	for _, m := range over {
		e := router.Event{
			Type: (*protocol.InjectResult)(nil).Type(), Agent: m.To, Message: router.Message{ID: m.ID},
			Result: router.Result{Status: protocol.StatusExpired},
		}
		if err := h.append(ctx, e); err != nil {
			return 0, err
		}
	}
	return next, nil
}
