package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol"
)

// Store keeps the events and what they add up to; *store.Store is one.
type Store interface {
	router.Shelf
	Commit(ctx context.Context, events []store.Entry, rows router.Rows) error
	Read(ctx context.Context, after int64, f func(seq int64, data []byte) error) error
	// Get returns one event, and false where it is no longer kept.
	Get(ctx context.Context, seq int64) (data []byte, ok bool, err error)
	Span(ctx context.Context) (oldest, newest int64, err error)
	// Epoch tells the log from others.
	Epoch() string
	Messages(ctx context.Context, q router.Query) (ids []string, older int, upTo int64, err error)
	Begun(ctx context.Context, word string) (ids []string, more bool, err error)
	Ended(ctx context.Context) (counts map[string]int, err error)
}

// tailMost is how many of the newest events are kept in memory for those who follow.
const tailMost = 256

// Hub is one router.
type Hub struct {
	// Announced reports whether a wrapper of that name runs, by the registry, which knows of it
	// before we hear. It is set before the first question, or nil.
	Announced func(name string) bool

	store Store
	newID func() string

	committing chan struct{} // cap 1: who writes has put something into it
	housekeep  chan struct{} // cap 1: wakes the goroutine that trims the log
	full       atomic.Bool   // the log did not take the newest event

	mu      sync.Mutex // guards what follows; never held over a write
	state   *router.State
	staged  *batch // what the state has and the disk has not
	writes  *batch // what is being written; nil: nothing
	tail    []router.Event
	running map[string]int  // wrappers that run, by name: for a moment the old one may be there, too
	claimed map[string]bool // messages that are on their way into a wrapper, or may be there
	stale   map[string]bool // messages that wrappers are told to cancel, for they waited too long
	pauses  map[string]deadline
	looked  bool            // it is known who runs
	leased  map[string]bool // messages that readers were given and have not acknowledged; false: the lease is over
	meter   Meter
	grown   int                      // bytes since it was looked what the log need not keep
	inboxes map[string]chan struct{} // of recipients that are waited for; closed after an event of theirs
	changed chan struct{}            // closed and replaced after each batch of events
	broken  error                    // the log may hold an event that the state does not know
	failed  chan struct{}            // closed with it

	began time.Time
	late  map[string]time.Time // by agent: when its wrapper last told an event of before we were there
}

// New is ready for work with what the store has.
func New(ctx context.Context, store Store, rules router.Rules, newID func() string) (*Hub, error) {
	h := &Hub{
		store: store, newID: newID, running: map[string]int{}, claimed: map[string]bool{}, stale: map[string]bool{}, leased: map[string]bool{},
		pauses: map[string]deadline{}, inboxes: map[string]chan struct{}{}, changed: make(chan struct{}), failed: make(chan struct{}),
		committing: make(chan struct{}, 1), housekeep: make(chan struct{}, 1), staged: newBatch(),
		began: time.Now(), late: map[string]time.Time{},
	}
	return h, h.resume(rules)
}

func (h *Hub) resume(rules router.Rules) error {
	state, err := router.Resume(h.store)
	if err == nil {
		state.Rules = rules
		h.state = state
	}
	return err
}

// Send accepts a message, which is in the log then. Where the message was sent before, it returns
// what became of it. Refusals are *router.ErrorValue.
func (h *Hub) Send(ctx context.Context, m router.Message) (sent router.Known, err error) {
	if h.Announced != nil && m.To != router.Human && protocol.ValidName(m.To) != nil {
		h.Looked(ctx) // all who run may be meant
	}
	for met := false; ; met = true {
		err = h.step(ctx, func() error {
			if m.ID == "" {
				m.ID = h.state.Fresh(h.newID)
			}
			sent, err = h.admit(m, router.Event{})
			return err
		})
		if met || !isUnknown(err) || !h.Meets(ctx, m.To) {
			return sent, err
		}
	}
}

// Command sends what an agent said it wants sent. One that was seen before is passed over, one that
// is refused leaves an event that says so. While the log is full it waits.
func (h *Hub) Command(ctx context.Context, e router.Event) error {
	if e.To != router.Human {
		h.Meets(ctx, e.To) // else it is refused
	}
	return h.patiently(ctx, func() error { return h.step(ctx, func() error { return h.command(e) }) })
}

func (h *Hub) command(e router.Event) error {
	if !h.isNew(e) {
		return nil
	}
	_, err := h.admit(e.Message, e)
	var refused *router.ErrorValue
	if errors.As(err, &refused) {
		return h.append(h.state.Refuse(e, refused))
	}
	return err
}

// admit is for a step.
func (h *Hub) admit(m router.Message, e router.Event) (router.Known, error) {
	now := time.Now().UnixMilli()
	m, known, err := h.state.Admit(m, now, h.runsLocked)
	var recipients []string
	if err == nil && known == nil {
		recipients, err = h.state.FanOut(m, now, h.runsLocked)
	}
	switch {
	case err != nil:
		return router.Known{}, err
	case known != nil:
		return *known, nil
	}
	m = h.state.Link(m, e)
	e.Type, e.Timestamp, e.Message, e.Error, e.Recipients = router.TypeMessage, now, m, h.state.Late(m, now), recipients
	if err := h.append(e); err != nil {
		return router.Known{}, err
	}
	sent, _ := h.state.Find(m.ID) // it was applied
	return sent, nil
}

// Record puts what a wrapper told into the log, once. While the log is full it waits.
func (h *Hub) Record(ctx context.Context, e router.Event) error {
	return h.patiently(ctx, func() error { return h.RecordNow(ctx, e) })
}

// RecordNow is Record for whoever is told at once that the log is full.
func (h *Hub) RecordNow(ctx context.Context, e router.Event) error {
	return h.step(ctx, func() error {
		if !h.isNew(e) || h.hasEnd(e) {
			return nil
		}
		if h.stale[e.ID] && e.Status == protocol.StatusCancelled {
			e.Status = protocol.StatusExpired // for its age
		}
		if e.Type == protocol.TypeMarkerInvalid {
			e = h.state.Invalid(e)
		}
		return h.append(e)
	})
}

// hasEnd reports whether the log tells a message's end by now, which a wrapper tells by its event
// and, when it is asked about the message meanwhile, by its answer, in either order.
func (h *Hub) hasEnd(e router.Event) bool {
	if !protocol.Terminal(e.Status) {
		return false
	}
	m, _ := h.state.Find(e.ID)
	return router.Ended(m.Status) && m.Evidence == e.Evidence
}

func (h *Hub) isNew(e router.Event) bool {
	return e.Origin == nil || h.state.New(e.Agent, *e.Origin)
}

// append stages an event. It is for a step.
func (h *Hub) append(e router.Event) error {
	if h.broken != nil {
		return h.broken
	}
	if h.full.Load() { // which the write before found out
		if err := h.Room(); err != nil {
			return err
		}
	}
	if e.Timestamp == 0 {
		e.Timestamp = time.Now().UnixMilli()
	}
	if e.EventID == "" {
		e.EventID = eventID(e, h.newID)
	}
	h.state.Shorten(&e, h.newID)
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	e.Seq, e.Epoch = h.state.Last+1, h.store.Epoch()
	was, _ := h.state.Find(e.ID)
	h.state.Apply(e)
	m, _ := h.state.Find(e.ID)
	h.staged.entries = append(h.staged.entries, store.Entry{Seq: e.Seq, Type: e.Type, Agent: filedUnder(e), Data: data})
	h.staged.events = append(h.staged.events, happened{e, was.Status, m, h.state.Freed()})
	return nil
}

// tell lets all know of an event that is on disk. It is for the owner of mu.
func (h *Hub) tell(o happened) {
	h.noteLate(o.Event)
	h.arrived(o.was, o.about)
	h.wakeWhom(o)
	if router.Ended(o.about.Status) {
		delete(h.claimed, o.ID) // nobody hands over what has ended
		delete(h.leased, o.ID)
		delete(h.stale, o.ID)
	}
	if h.tail = append(h.tail, o.Event); len(h.tail) > 2*tailMost {
		h.tail = slices.Clone(h.tail[tailMost:])
	}
}

// wake tells all who wait to look again. It is for the owner of mu.
func (h *Hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// wakeWhom tells those who hand over that there is news for them: of a message, or of a pause.
func (h *Hub) wakeWhom(o happened) {
	switch o.Type {
	case router.TypePaused, router.TypeResumed:
		h.wakeFor(o.Agent)
	}
	for _, name := range append(o.freed, o.Recipients...) {
		h.wakeFor(name)
	}
	h.wakeFor(o.about.To)
}

// wakeFor tells those who wait for a recipient's messages. It is for the owner of mu.
func (h *Hub) wakeFor(name string) {
	if c := h.inboxes[name]; c != nil {
		close(c)
		delete(h.inboxes, name)
	}
}

// filedUnder is the agent that an event is about.
func filedUnder(e router.Event) string {
	if e.Type == router.TypeMessage || e.Type == router.TypeReminder {
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

func (h *Hub) runsLocked(name string) bool { return h.running[name] > 0 }
