package queue

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"relay-pty/protocol"
)

// Errors of the outbox.
var (
	ErrCursorGone = errors.New("events after this sequence number are not kept")
	ErrLagged     = errors.New("follower fell behind what is kept")
)

// FromNow is the cursor of a follower that wants no past events.
const FromNow int64 = -1

// Bounds of the log; the oldest events go first.
const (
	keepEvents = 4096
	keepBytes  = 4 << 20 // frames and 64 bytes for each
	perEvent   = 64
)

// Entry is one event of the log. Its frame is shared by all who read it: never change it.
type Entry struct {
	Seq   int64
	Type  string // the event's type on the wire
	About string // the id of the message that it tells of, or ""
	End   bool   // it is that message's terminal result
	Frame []byte // encoded, with its newline
}

// Outbox is the log of events: numbered from 1 without gaps, kept up to 4,096 events
// and 4 MiB. It never waits for its followers; each reads at its own pace by its cursor
// and learns when it fell behind. All methods may be called from any goroutine.
type Outbox struct {
	epoch string

	mu        sync.Mutex
	entries   []Entry // seq last-len+1 … last
	bytes     int
	last      int64
	followers map[*Follower]struct{}
}

// NewOutbox returns an empty log with a new random epoch.
func NewOutbox() *Outbox {
	var b [8]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return &Outbox{epoch: hex.EncodeToString(b[:]), followers: map[*Follower]struct{}{}}
}

// Epoch tells this log from those of other runs, whose numbers also began at 1.
func (o *Outbox) Epoch() string { return o.epoch }

// Append stamps ev with the next number and now, keeps it, and wakes the followers.
// The error is that of an event which cannot be encoded; it takes no number.
func (o *Outbox) Append(ev protocol.Event, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	ev.SetStamp(o.last+1, now.UnixMilli())
	frame, err := protocol.Encode(ev)
	if err != nil {
		return err
	}
	o.last++
	res, _ := ev.(*protocol.InjectResult)
	end := res != nil && protocol.Terminal(res.Status)
	o.entries = append(o.entries, Entry{Seq: o.last, Type: ev.Type(), About: ev.About(), End: end, Frame: frame})
	o.bytes += len(frame) + perEvent
	for len(o.entries) > 1 && (len(o.entries) > keepEvents || o.bytes > keepBytes) {
		o.bytes -= len(o.entries[0].Frame) + perEvent
		o.entries[0] = Entry{} // lets go of the frame before append moves the rest
		o.entries = o.entries[1:]
	}
	for f := range o.followers {
		select {
		case f.wake <- struct{}{}:
		default: // it has not looked yet
		}
	}
	return nil
}

// Last is the newest event's number, 0 before the first.
func (o *Outbox) Last() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// Follow returns a follower that reads the events after the given number: 0 for all
// that are kept, [FromNow] for those to come. [ErrCursorGone] when some are no longer
// kept, or when the number is not one that this log has given out. Close the follower.
func (o *Outbox) Follow(after int64) (*Follower, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.last - int64(len(o.entries)) + 1
	switch {
	case after == FromNow:
		after = o.last
	case after == 0:
		after = first - 1
	case after < first-1 || after > o.last:
		return nil, ErrCursorGone
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
func (f *Follower) Seq() int64 { return f.seq }

// batchBytes bounds what Next returns, unless the first event alone is larger.
const batchBytes = 128 << 10

// Next returns up to most events, of 128 KiB or a single one, and moves on; none when
// there is nothing new. A caller that got some asks again, as Wake may not be told of
// the rest. [ErrLagged] when the next event is no longer kept.
func (f *Follower) Next(most int) ([]Entry, error) {
	o := f.log
	o.mu.Lock()
	defer o.mu.Unlock()
	behind := int(o.last - f.seq)
	if behind > len(o.entries) {
		return nil, ErrLagged
	}
	from := len(o.entries) - behind
	n, size := 0, 0
	for n < min(behind, most) {
		if size += len(o.entries[from+n].Frame); n > 0 && size > batchBytes {
			break
		}
		n++
	}
	got := append([]Entry(nil), o.entries[from:from+n]...)
	f.seq += int64(len(got))
	return got, nil
}

// Close ends the following; Wake receives nothing more.
func (f *Follower) Close() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	delete(f.log.followers, f)
}
