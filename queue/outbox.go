package queue

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"relay-pty/protocol"
)

// Errors of the outbox.
var (
	ErrCursorGone  = errors.New("events after this sequence number are not kept")
	ErrCursorAhead = errors.New("no event has this sequence number yet")
	ErrLagged      = errors.New("follower fell behind what is kept")
	ErrDegraded    = errors.New("the journal cannot be written")
)

// FromNow is the cursor of a follower that wants no past events.
const FromNow int64 = -1

// Bounds of what is kept in memory; the oldest events go first. A log with a store keeps
// only a part of that, the newest, which its followers read most.
const (
	keepEvents = 4096
	keepBytes  = 4 << 20 // frames and 64 bytes for each
	perEvent   = 64

	cachedPart = 16 // a sixteenth
)

// Entry is one event of the log. Its frame is shared by all who read it: never change it.
type Entry struct {
	Seq   int64
	Type  string // the event's type on the wire
	About string // the id of the message that it tells of, or ""
	End   bool   // it is that message's terminal result
	Frame []byte // encoded, with its newline
}

// Change is an event that is to be kept, and the message as it stands after it, if it
// is about one.
type Change struct {
	Entry
	Record *Record

	settled chan error // a proposal: it did not happen if it cannot be written
}

// Store keeps events and messages on disk.
type Store interface {
	// Commit writes all of the changes or none; they are on disk when it returns. Without
	// changes it reports whether it could write. One goroutine calls it.
	Commit(changes []Change) error
	// Events returns up to most kept events after a number, the oldest first, 128 KiB of them
	// or a single one. It may be called beside Commit, as may the others.
	Events(after int64, most int) ([]Entry, error)
	// Find returns the record of a message that ended.
	Find(id string) (Record, bool)
	// Gone is the number up to which events are no longer kept.
	Gone() int64
}

// Outbox is the log of events, with strictly increasing numbers. It never waits for its
// followers; each reads at its own pace by its cursor and learns when it fell behind.
// All methods may be called from any goroutine.
//
// Without a store it keeps 4,096 events and 4 MiB, told at once. With one, an event is
// told when it is on disk, so that no number is ever told twice: [Outbox.Run] writes,
// in one commit, all that came in during the last one. What cannot be written waits,
// and is written when it can be.
type Outbox struct {
	mu        sync.Mutex
	epoch     string
	store     Store
	entries   []Entry // the newest of what was told
	bytes     int
	gone      int64         // events up to it are not in entries
	last      int64         // number of the newest that was told
	given     int64         // the newest number
	pending   []Change      // not on disk yet
	fault     error         // why the last commit failed; nil: it did not
	early     []early       // what came in while the store could not even be opened
	changed   chan struct{} // has room for one: there is something to commit, or to tell
	followers map[*Follower]struct{}
}

// NewOutbox returns an empty log, with a new random epoch and no store.
func NewOutbox() *Outbox {
	return &Outbox{epoch: NewEpoch(), changed: make(chan struct{}, 1), followers: map[*Follower]struct{}{}}
}

// NewEpoch is a name for a new log.
func NewEpoch() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// early is a proposal that was made before there was a store, and when.
type early struct {
	at time.Time
	d  Proposal
}

// Fail puts the outbox into its degraded state, with the cause. Where no store could be opened yet,
// followers hear nothing and no proposal is carried out until [Outbox.Keep] brings one. Where the
// store of the outbox cannot be written, that lasts until a commit of [Outbox.Run] succeeds.
func (o *Outbox) Fail(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault = why
	o.wakeLocked()
}

// Unread is why what runs before have kept cannot be read yet, or nil.
func (o *Outbox) Unread() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store != nil || o.fault == nil {
		return nil
	}
	return degraded(o.fault)
}

// wakeLocked lets Run look.
func (o *Outbox) wakeLocked() {
	select {
	case o.changed <- struct{}{}:
	default: // it has not looked yet
	}
}

// Keep makes the log go on with what store keeps of the runs before: their epoch, and
// the number of their last event. Nothing may have been told yet.
func (o *Outbox) Keep(store Store, epoch string, last int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.store, o.epoch, o.last, o.given, o.gone, o.fault = store, epoch, last, last, last, nil
	for f := range o.followers {
		f.seq = last
	}
	for _, e := range o.early {
		if c, err := o.stampLocked(e.at, e.d); err == nil {
			o.takeLocked(c)
		}
	}
	o.early = nil
}

// Epoch tells this log from others, whose numbers are not comparable.
func (o *Outbox) Epoch() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.epoch
}

// Durable reports whether what is told is on disk.
func (o *Outbox) Durable() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.store != nil
}

// Fault is why events cannot be written at present, or nil.
func (o *Outbox) Fault() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fault
}

// Find returns the record of a message that ended, if there is a store that has it.
func (o *Outbox) Find(id string) (Record, bool) {
	o.mu.Lock()
	store := o.store
	o.mu.Unlock()
	if store == nil {
		return Record{}, false
	}
	return store.Find(id)
}

// Append stamps an event with the next number and now, and keeps it. The error is that
// of an event which cannot be encoded, which takes no number, or [ErrDegraded] when too
// much waits to be written.
func (o *Outbox) Append(now time.Time, d Proposal) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.fault == nil:
	case passing(d.Event): // worth nothing once the disk takes it; what holds then is told anew
		return degraded(o.fault)
	case len(o.early)+len(o.pending) >= keepEvents:
		return degraded(o.fault)
	case o.store == nil:
		o.early = append(o.early, early{now, d})
		return nil
	}
	c, err := o.stampLocked(now, d)
	if err != nil {
		return err
	}
	o.takeLocked(c)
	return nil
}

// Tell appends an event that is about no message.
func (o *Outbox) Tell(ev protocol.Event, now time.Time) error {
	return o.Append(now, Proposal{Event: ev})
}

// passing reports whether an event tells of what holds only now.
func passing(ev protocol.Event) bool {
	switch ev.(type) {
	case *protocol.State, *protocol.Backpressure:
		return true
	}
	return false
}

// Propose takes events that did not happen if they cannot be written; see [Sink].
// While the last commit is one that failed, it is [ErrDegraded] at once.
func (o *Outbox) Propose(now time.Time, proposals ...Proposal) (written func() error, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fault != nil {
		return nil, degraded(o.fault)
	}
	changes := make([]Change, len(proposals))
	for i, d := range proposals {
		if changes[i], err = o.stampLocked(now, d); err != nil {
			return nil, err
		}
	}
	if o.store == nil {
		o.takeLocked(changes...)
		return nil, nil
	}
	settled := make(chan error, len(proposals)) // they come together, so one answer is for all
	for i := range changes {
		changes[i].settled = settled
	}
	o.takeLocked(changes...)
	return func() error { return <-settled }, nil
}

func degraded(err error) error { return fmt.Errorf("%w: %w", ErrDegraded, err) }

func (o *Outbox) stampLocked(now time.Time, d Proposal) (Change, error) {
	d.Event.SetStamp(o.given+1, now.UnixMilli())
	frame, err := protocol.Encode(d.Event)
	if err != nil {
		return Change{}, err
	}
	o.given++
	if d.Record != nil {
		d.Record.Stamp = protocol.Stamp{Seq: o.given, Timestamp: now.UnixMilli()}
	}
	res, _ := d.Event.(*protocol.InjectResult)
	end := res != nil && protocol.Terminal(res.Status)
	return Change{Entry: Entry{Seq: o.given, Type: d.Event.Type(), About: d.Event.About(), End: end, Frame: frame}, Record: d.Record}, nil
}

// takeLocked tells changes, or leaves them to Run.
func (o *Outbox) takeLocked(changes ...Change) {
	if o.store == nil {
		o.tellLocked(changes)
		return
	}
	o.pending = append(o.pending, changes...)
	o.wakeLocked()
}

// tellLocked gives events to the followers.
func (o *Outbox) tellLocked(changes []Change) {
	events, bytes := keepEvents, keepBytes
	if o.store != nil { // which keeps more
		events, bytes = events/cachedPart, bytes/cachedPart
	}
	for _, c := range changes {
		o.last = c.Seq
		o.entries = append(o.entries, c.Entry)
		o.bytes += len(c.Frame) + perEvent
	}
	for len(o.entries) > 1 && (len(o.entries) > events || o.bytes > bytes) {
		o.bytes -= len(o.entries[0].Frame) + perEvent
		o.gone = o.entries[0].Seq
		o.entries[0] = Entry{} // lets go of the frame before append moves the rest
		o.entries = o.entries[1:]
	}
	for f := range o.followers {
		select {
		case f.wake <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

// Last is the newest event's number, 0 before the first.
func (o *Outbox) Last() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// goneLocked is the number up to which events are kept nowhere.
func (o *Outbox) goneLocked() int64 {
	if o.store != nil {
		return o.store.Gone()
	}
	return o.gone
}

// Follow returns a follower that reads the events after the given number: 0 for all
// that are kept, [FromNow] for those to come. [ErrCursorGone] when some are no longer
// kept, [ErrCursorAhead] for a number that this log has not given out yet, so that it may be of
// another one, [ErrDegraded] while what is kept cannot be read. Close the follower.
func (o *Outbox) Follow(after int64) (*Follower, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := o.goneLocked()
	switch {
	case after == FromNow:
		after = o.last
	case o.store == nil && o.fault != nil:
		return nil, degraded(o.fault)
	case after == 0:
		after = gone
	case after < gone:
		return nil, ErrCursorGone
	case after > o.last:
		return nil, ErrCursorAhead
	}
	f := &Follower{log: o, wake: make(chan struct{}, 1), seq: after}
	o.followers[f] = struct{}{}
	if after < o.last {
		f.wake <- struct{}{}
	}
	return f, nil
}

// Follower is a cursor in the log. Its Next and Seq belong to one goroutine.
type Follower struct {
	log  *Outbox
	wake chan struct{}
	seq  int64
}

// Wake receives when there may be something to read.
func (f *Follower) Wake() <-chan struct{} { return f.wake }

// Seq is the number of the last event read, at first that before the first to come.
func (f *Follower) Seq() int64 {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	return f.seq
}

// BatchBytes bounds what Next returns, unless the first event alone is larger.
const BatchBytes = 128 << 10

// Next returns up to most events, of 128 KiB or a single one, and moves on; none when
// there is nothing new. A caller that got some asks again, as Wake may not be told of
// the rest. [ErrLagged] when the next event is no longer kept.
func (f *Follower) Next(most int) ([]Entry, error) {
	o := f.log
	o.mu.Lock()
	defer o.mu.Unlock()
	var got []Entry
	var err error
	switch {
	case f.seq < o.goneLocked():
		return nil, ErrLagged
	case f.seq < o.gone:
		got, err = o.storedLocked(f.seq, most)
	}
	if err == nil && len(got) == 0 { // of the older ones none is left that can be read
		got = o.recentLocked(f.seq, most)
	}
	if n := len(got); n > 0 {
		f.seq = got[n-1].Seq
	}
	return got, err
}

// storedLocked reads events that are not in memory any more, and none that was not told:
// a commit that failed may have left some.
func (o *Outbox) storedLocked(after int64, most int) ([]Entry, error) {
	store, last := o.store, o.last
	o.mu.Unlock()
	defer o.mu.Lock()
	got, err := store.Events(after, most)
	untold := slices.IndexFunc(got, func(e Entry) bool { return e.Seq > last })
	if untold >= 0 {
		got = got[:untold]
	}
	return got, err
}

func (o *Outbox) recentLocked(after int64, most int) []Entry {
	from, _ := slices.BinarySearchFunc(o.entries, after+1, func(e Entry, seq int64) int { return cmp.Compare(e.Seq, seq) })
	n, size := 0, 0
	for n < min(len(o.entries)-from, most) {
		if size += len(o.entries[from+n].Frame); n > 0 && size > BatchBytes {
			break
		}
		n++
	}
	return slices.Clone(o.entries[from : from+n])
}

// Close ends the following; Wake receives nothing more.
func (f *Follower) Close() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	delete(f.log.followers, f)
}
