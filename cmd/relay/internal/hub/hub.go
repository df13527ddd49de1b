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

// Store keeps the events; *store.Store is one.
type Store interface {
	Append(ctx context.Context, kind, agent string, data []byte) (seq int64, err error)
	Read(ctx context.Context, after int64, f func(seq int64, data []byte) error) error
	// Get returns one event, and false where it is no longer kept.
	Get(ctx context.Context, seq int64) (data []byte, ok bool, err error)
	Span(ctx context.Context) (oldest, newest int64, err error)
	// Epoch tells the log from others.
	Epoch() string
}

// tailMost is how many of the newest events are kept in memory for those who follow.
const tailMost = 4096

// Hub is one router.
type Hub struct {
	store Store
	newID func() string

	writing sync.Mutex // held from a decision to its place in the log, I/O included; before mu

	shelf     Shelf         // has the state as it was at some event; may be nil
	housekeep chan struct{} // cap 1: wakes the goroutine that saves the state and trims the log

	full atomic.Bool // the log did not take the newest event

	mu      sync.Mutex // guards what follows; never held over I/O
	state   *router.State
	tail    []router.Event
	running map[string]int  // wrappers that run, by name: for a moment the old one may be there, too
	claimed map[string]bool // messages that are on their way into a wrapper, or may be there
	stale   map[string]bool // messages that wrappers are told to cancel, for they waited too long
	pauses  map[string]deadline
	looked  bool            // it is known who runs
	leased  map[string]bool // messages that readers were given and have not acknowledged; false: the lease is over
	meter   Meter
	unsaved int                      // events since the state was saved
	grown   int                      // bytes since it was looked what the log need not keep
	inboxes map[string]chan struct{} // of recipients that are waited for; closed after an event of theirs
	changed chan struct{}            // closed and replaced after each event
	broken  error                    // the log may hold an event that the state does not know
	failed  chan struct{}            // closed with it

	began time.Time
	late  map[string]time.Time // by agent: when its wrapper last told an event of before we were there
}

// New reads the log, keeps all in memory, and is ready for work. Of what a shelf has, which may be
// nil, the log is not read again.
func New(ctx context.Context, store Store, shelf Shelf, rules router.Rules, newID func() string) (*Hub, error) {
	h := &Hub{
		store: store, newID: newID, state: router.NewState(), running: map[string]int{}, claimed: map[string]bool{}, stale: map[string]bool{}, leased: map[string]bool{},
		pauses: map[string]deadline{}, inboxes: map[string]chan struct{}{}, changed: make(chan struct{}), failed: make(chan struct{}), housekeep: make(chan struct{}, 1),
	}
	h.began, h.late = time.Now(), map[string]time.Time{}
	if err := h.restore(ctx, shelf); err != nil {
		return nil, err
	}
	h.state.Rules = rules
	return h, nil
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
	return h.state.Fresh(h.newID)
}

// Command sends what an agent said it wants sent. One that was seen before is passed over, one that
// is refused leaves an event that says so. While the log is full it waits.
func (h *Hub) Command(ctx context.Context, e router.Event) error {
	return h.patiently(ctx, func() error { return h.command(ctx, e) })
}

func (h *Hub) command(ctx context.Context, e router.Event) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if !h.isNew(e) {
		return nil
	}
	_, err := h.admit(ctx, e.Message, e)
	var refused *router.ErrorValue
	if errors.As(err, &refused) {
		h.mu.Lock()
		e = h.state.Refuse(e, refused)
		h.mu.Unlock()
		return h.append(ctx, e)
	}
	return err
}

// admit is for the owner of writing.
func (h *Hub) admit(ctx context.Context, m router.Message, e router.Event) (router.Known, error) {
	now := time.Now().UnixMilli()
	h.mu.Lock()
	m, known, err := h.state.Admit(m, now, h.runsLocked)
	late := h.state.Late(m, now)
	var recipients []string
	if err == nil && known == nil {
		recipients, err = h.state.FanOut(m, now, h.runsLocked)
	}
	h.mu.Unlock()
	switch {
	case err != nil:
		return router.Known{}, err
	case known != nil:
		return *known, nil
	}
	e.Type, e.Timestamp, e.Message, e.Error, e.Recipients = router.TypeMessage, now, m, late, recipients
	if err := h.append(ctx, e); err != nil {
		return router.Known{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	sent, _ := h.state.Find(m.ID) // it was applied
	return sent, nil
}

// Record puts what a wrapper told into the log, once. While the log is full it waits.
func (h *Hub) Record(ctx context.Context, e router.Event) error {
	return h.patiently(ctx, func() error { return h.RecordNow(ctx, e) })
}

// RecordNow is Record for whoever is told at once that the log is full.
func (h *Hub) RecordNow(ctx context.Context, e router.Event) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if !h.isNew(e) || h.hasEnd(e) {
		return nil
	}
	h.asExpired(&e)
	if e.Type == protocol.TypeMarkerInvalid {
		h.mu.Lock()
		e = h.state.Invalid(e)
		h.mu.Unlock()
	}
	return h.append(ctx, e)
}

// hasEnd reports whether the log tells a message's end by now, which a wrapper tells by its event
// and, when it is asked about the message meanwhile, by its answer, in either order.
func (h *Hub) hasEnd(e router.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, _ := h.state.Find(e.ID)
	return protocol.Terminal(e.Status) && router.Ended(m.Status) && m.Evidence == e.Evidence
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
	h.mu.Lock()
	h.state.Shorten(&e, h.newID)
	h.mu.Unlock()
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	began := time.Now()
	e.Seq, err = h.store.Append(ctx, e.Type, filedUnder(e), data)
	took := time.Since(began)
	h.full.Store(errors.Is(err, store.ErrFull))
	if errors.Is(err, store.ErrUnclear) || errors.Is(err, store.ErrGone) {
		h.broken = err
		close(h.failed)
	}
	if err != nil {
		return err
	}
	e.Epoch = h.store.Epoch()
	h.mu.Lock()
	defer h.mu.Unlock()
	was, _ := h.state.Find(e.ID)
	h.state.Apply(e)
	h.grow(len(data))
	h.noteLate(e)
	h.meter.Append.add(took)
	m, _ := h.state.Find(e.ID)
	h.arrived(was.Status, m)
	h.wakeWhom(e, m)
	if router.Ended(m.Status) {
		delete(h.claimed, e.ID) // nobody hands over what has ended
		delete(h.leased, e.ID)
		delete(h.stale, e.ID)
	}
	if h.tail = append(h.tail, e); len(h.tail) > 2*tailMost {
		h.tail = slices.Clone(h.tail[tailMost:])
	}
	h.wake()
	return nil
}

// wake tells all who wait to look again. It is for the owner of mu.
func (h *Hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// wakeWhom tells those who hand over that there is news for them: of a message, or of a pause.
func (h *Hub) wakeWhom(e router.Event, m router.Known) {
	switch e.Type {
	case router.TypePaused, router.TypeResumed:
		h.wakeFor(e.Agent)
	}
	for _, name := range e.Recipients {
		h.wakeFor(name)
	}
	h.wakeFor(m.To)
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
