// Package queue holds what waits: a [Mailbox] of messages in the order in which they
// are to be injected, and an [Outbox], the numbered log of everything that happened.
//
// Both are bounded. They live in memory, and on disk where the outbox has a [Store]: then
// nothing is told before it is there. The mailbox knows no terminal and starts
// neither goroutine nor timer: time is an argument, and [Mailbox.Expire] returns when
// to ask again. Every change of a message is an event that the mailbox hands to its
// [Sink], in order; whoever wants to follow a message follows the outbox for events
// about its id, from the Seq of the result that Enqueue or Query returned.
//
// Memory: the mailbox keeps at most Max waiting messages, each with a body of at most
// protocol.MaxBody bytes (50 of 64 KiB are 3.2 MiB), those being injected, and about
// 300 bytes for each of at most Remember ended ids, without their bodies.
package queue

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
)

// Errors of the mailbox.
var (
	ErrFull      = errors.New("queue is full")
	ErrDuplicate = errors.New("id was used for another message")
	ErrUnknown   = errors.New("no message of this id")
	ErrState     = errors.New("message is not in a state for this")
	ErrClosed    = errors.New("queue is closed")
)

// Retention is how long the end of a message is remembered, counted from that end.
const Retention = 7 * 24 * time.Hour

// Config bounds a mailbox, in messages. Zero fields get the defaults.
type Config struct {
	Max       int // most waiting; default 50. Only urgent messages get the last tenth (rounded down)
	High, Low int // marks of backpressure; default 80 % and 40 % of Max
	Remember  int // ended messages whose ids are remembered; default 100,000. Beyond it the oldest are forgotten
}

// Filled is c with its defaults. The error says which marks do not go together.
func (c Config) Filled() (Config, error) {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&c.Max, 50)
	set(&c.High, max(1, c.Max*4/5))
	set(&c.Low, min(c.Max*2/5, c.High-1))
	set(&c.Remember, 100_000)
	if c.Max < 1 || c.Low < 0 || c.Low >= c.High || c.High > c.Max || c.Remember < 0 {
		return c, fmt.Errorf("want 0 <= low < high <= max, not low %d, high %d, max %d", c.Low, c.High, c.Max)
	}
	return c, nil
}

// Proposal is an event that is to be told, and the message as it stands after it, if it is
// about one. Both get their Stamp from the sink.
type Proposal struct {
	Event  protocol.Event
	Record *Record
}

// Sink takes the mailbox's events in order. It is called with the mailbox locked, so
// it must neither wait for long nor call back. An event that it refuses did not happen.
type Sink interface {
	// Append takes an event of what has happened.
	Append(now time.Time, d Proposal) error
	// Propose takes events of what happens only if it can be recorded, all of them or none.
	// written, unless it is nil because they are recorded already, waits for that: after an
	// error they did not happen. It is called unlocked.
	Propose(now time.Time, d ...Proposal) (written func() error, err error)
	// Find returns the record of a message that ended, also in a run before this one.
	Find(id string) (Record, bool)
	// Durable reports whether what is recorded is on disk.
	Durable() bool
}

// Outcome is how a message ended. Status is a terminal one; Evidence goes with
// delivered, Fault with failed and unknown.
type Outcome struct {
	Status, Evidence string
	Fault            *protocol.Fault
}

// Mailbox is the bounded priority queue of one agent. Its methods may be called from
// any goroutine.
//
// A message is waiting, then being injected, perhaps waiting again, then ended: it is
// in exactly one of waiting, injecting and ended, and it is in items all that time.
type Mailbox struct {
	cfg  Config
	sink Sink
	wake chan struct{}

	mu        sync.Mutex
	recorded  *sync.Cond        // an acceptance is on disk, or could not be written
	items     map[string]*item  // live and remembered, by id
	short     map[string]string // ids of those that have a short one, by that
	waiting   []*item           // in the order of injection
	injecting []*item           // in the order of their attempts
	ended     []*item           // by time of their end
	arrivals  int64
	waiter    *Waiter // who waits to pull some; nil: nobody
	hold      string  // what the waiting ones wait for
	pause     pause
	pressed   bool // high mark reached, low mark not yet again
	closed    bool
}

// New returns an empty mailbox.
func New(cfg Config, sink Sink) (*Mailbox, error) {
	cfg, err := cfg.Filled()
	if err != nil {
		return nil, err
	}
	m := &Mailbox{cfg: cfg, sink: sink, wake: make(chan struct{}, 1), items: map[string]*item{}, short: map[string]string{}}
	m.recorded = sync.NewCond(&m.mu)
	return m, nil
}

// Restore takes over the live messages of a run before this one. Those of which that run
// was in the middle of an attempt are returned: they count as being injected until
// [Mailbox.Finish] or [Mailbox.Again] tells what becomes of them.
func (m *Mailbox) Restore(records []Record) (interrupted []Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rec := range records {
		it := &item{Record: rec}
		m.enterLocked(it)
		m.arrivals = max(m.arrivals, rec.Arrival)
		if rec.Status == protocol.StatusInjecting {
			m.injecting = append(m.injecting, it)
			interrupted = append(interrupted, rec.Message)
			continue
		}
		if failpoint.Built && failpoint.On(failpoint.WaitingDropped) {
			it.Status = protocol.StatusDelivered
			continue
		}
		m.waiting = slices.Insert(m.waiting, m.placeLocked(it), it)
		if failpoint.Built && failpoint.On(failpoint.EventToldAgain) {
			m.sink.Append(time.Now(), Proposal{Event: it.result()})
		}
	}
	m.changedLocked()
	return interrupted
}

// Changed receives after messages came, went back to waiting, or left. It means "look
// again" and has one reader, the injector.
func (m *Mailbox) Changed() <-chan struct{} { return m.wake }

// Wake makes Changed receive, and whoever waits to pull.
func (m *Mailbox) Wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changedLocked()
}

func (m *Mailbox) changedLocked() {
	wake(m.wake)
	if m.waiter != nil {
		wake(m.waiter.arrived)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not looked yet
	}
}

// Enqueue accepts msg, or finds that it did so before: known is true when a message of
// that id and with the same fields was accepted within seven days; nothing is enqueued
// then. res is the latest result: the queued one for a new message, whose event has
// been handed to the sink. An id that was refused is not remembered.
//
// Errors: [ErrDuplicate] for a known id with other fields, or one that the agent would read in two
// messages, [ErrFull], [ErrClosed], and
// what the sink says.
func (m *Mailbox) Enqueue(msg Message, now time.Time) (res protocol.InjectResult, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(now)
	if it := m.knownLocked(msg.ID); failpoint.Built && failpoint.On(failpoint.IDsForgotten) && it != nil && it.Status == protocol.StatusQueued {
		m.leaveLocked(it)
		m.dropLocked(it)
	}
	if it := m.knownLocked(msg.ID); it != nil {
		if !bytes.Equal(it.Digest, msg.digest()) {
			return res, false, ErrDuplicate
		}
		return m.resultLocked(it), true, nil
	}
	if m.shownLocked(&msg) {
		return res, false, ErrDuplicate
	}
	if m.closed {
		return res, false, ErrClosed
	}
	if len(m.waiting) >= m.limit(msg.Mode) {
		return res, false, ErrFull
	}
	m.arrivals++
	it := newItem(msg, m.arrivals, now)
	at := m.placeLocked(it)
	m.waiting = slices.Insert(m.waiting, at, it)
	queued, hold := it.result(), m.hold
	queued.Queued = m.queuedLocked(at)
	rec := it.Record
	written, err := m.sink.Propose(now, Proposal{queued, &rec})
	if err != nil {
		m.leaveLocked(it)
		return res, false, err
	}
	m.enterLocked(it)
	it.Record, it.fresh = rec, true
	err = m.awaitLocked(written)
	it.fresh = false
	m.recorded.Broadcast()
	if err != nil {
		m.leaveLocked(it)
		m.dropLocked(it)
		return res, false, err
	}
	m.changedLocked()
	m.catchUpLocked(it, hold, now)
	m.pressureLocked(now)
	return *queued, false, nil
}

// knownLocked is a message that was accepted before; one whose acceptance is being
// recorded is waited for.
func (m *Mailbox) knownLocked(id string) *item {
	for {
		it := m.findLocked(id)
		if it == nil || !it.fresh {
			return it
		}
		m.recorded.Wait()
	}
}

// findLocked is a message that is live or remembered, also from a run before.
func (m *Mailbox) findLocked(id string) *item {
	if it := m.items[id]; it != nil {
		return it
	}
	if rec, ok := m.sink.Find(id); ok {
		return &item{Record: rec}
	}
	return nil
}

func (m *Mailbox) limit(mode string) int {
	if mode == protocol.ModeUrgent {
		return m.cfg.Max
	}
	return m.cfg.Max - m.cfg.Max/10
}

// Heads returns at most n messages, those that go next, without taking them; none while paused.
// What somebody waits to pull is not among them.
func (m *Mailbox) Heads(n int) []Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pause.on {
		return nil
	}
	var msgs []Message
	for _, it := range m.waiting {
		if len(msgs) == n || it.fresh || m.awaitedLocked(it) { // what stands behind one that is being recorded, or pulled, must not overtake it
			break
		}
		msgs = append(msgs, it.Message)
	}
	return msgs
}

// Pending lists the waiting messages in the order in which they go, as the wire has
// them; it is never nil.
func (m *Mailbox) Pending() []protocol.Pending {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]protocol.Pending, len(m.waiting))
	for i, it := range m.waiting {
		msg := &it.Message
		list[i] = protocol.Pending{ID: msg.ID, From: msg.From, QueuedAt: msg.QueuedAt.UnixMilli(), Mode: msg.Mode,
			Priority: msg.Priority, WaitingFor: protocol.OrNull(m.hold), ShortID: msg.ShortID}
		if !msg.ExpiresAt.IsZero() {
			at := msg.ExpiresAt.UnixMilli()
			list[i].ExpiresAt = &at
		}
	}
	return list
}

// Len is the number of waiting messages.
func (m *Mailbox) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// Query returns the latest result of a message. For a waiting one that is its queued
// result with its present place and what it waits for now. Seq and Timestamp are those
// of the last event about the message: later events have a greater Seq.
func (m *Mailbox) Query(id string) (protocol.InjectResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it := m.knownLocked(id)
	if it == nil {
		return protocol.InjectResult{}, ErrUnknown
	}
	return m.resultLocked(it), nil
}

// tellWaitingLocked tells that a message waits, and what for.
func (m *Mailbox) tellWaitingLocked(it *item, now time.Time) error {
	rec := it.Record
	if err := m.sink.Append(now, Proposal{&protocol.Waiting{ID: it.ID, WaitingFor: protocol.OrNull(m.hold)}, &rec}); err != nil {
		return err
	}
	it.Record = rec
	return nil
}

// catchUpLocked tells of a change of what messages wait for since it was hold: while the
// message was being recorded, WaitsFor passed it over. After the close the exit is the last event.
func (m *Mailbox) catchUpLocked(it *item, hold string, now time.Time) {
	if m.hold != hold && !m.closed {
		m.tellWaitingLocked(it, now) // a sink that does not take it has told of its fault
	}
}

func (m *Mailbox) resultLocked(it *item) protocol.InjectResult {
	r := it.result()
	if it.Status == protocol.StatusQueued {
		r.Queued = m.queuedLocked(slices.Index(m.waiting, it))
	}
	return *r
}

func (m *Mailbox) queuedLocked(index int) *protocol.Queued {
	return &protocol.Queued{Position: index + 1, Durable: m.sink.Durable(), WaitingFor: protocol.OrNull(m.hold)}
}

// placeLocked is where it belongs among the waiting ones.
func (m *Mailbox) placeLocked(it *item) int {
	at, _ := slices.BinarySearchFunc(m.waiting, it, before)
	return at
}

// pressureLocked tells of a mark that was reached. If the sink does not take it, it is
// told at the next change.
func (m *Mailbox) pressureLocked(now time.Time) {
	n := len(m.waiting)
	if m.pressed && n > m.cfg.Low || !m.pressed && n < m.cfg.High {
		return
	}
	if m.sink.Append(now, Proposal{Event: &protocol.Backpressure{QueueLength: n, Accept: m.pressed}}) == nil {
		m.pressed = !m.pressed
	}
}
