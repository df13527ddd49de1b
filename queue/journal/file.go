package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/failpoint"
	"relay-pty/protocol/own"
	"relay-pty/queue"
)

// Bounds of what is kept.
var (
	maxEvents  int64 = 20_000
	maxBytes   int64 = 32 << 20 // of frames
	maxEnded         = 100_000
	remembered       = queue.Retention
)

// chunks is in how many parts the events are forgotten.
const chunks = 64

// file is an open journal, and what stands where in it.
type file struct {
	*os.File
	size int64 // where the next commit goes

	epoch       string
	last, gone  int64 // numbers of the newest event, and of the newest that is no longer kept
	has         int64 // of the newest event that was added; before the first, gone. A copy begins with the oldest
	events      []chunk
	total       chunk // of all of them
	records     map[uint64]place
	recordBytes int64
	ended       int // messages
	seed        maphash.Seed
}

// chunk is the events from the frame at a place on, up to the next chunk.
type chunk struct{ at, last, count, bytes int64 }

// place is where the newest record of a message stands.
type place struct {
	frame int64
	at, n int
	ended int64 // when the message did, in Unix milliseconds; 0: it has not
}

// openFile opens a file that no other process has open.
func openFile(path string, flag int) (*file, error) {
	f, err := own.Open(path, flag|os.O_RDWR, "move it away, or choose another name or --state-dir")
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		err = errors.New("another process has it open")
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return &file{File: f, records: map[uint64]place{}, seed: maphash.MakeSeed()}, nil
}

// Close gives the file up, also where a child between its fork and its exec has a copy of it.
func (f *file) Close() error {
	unix.Flock(int(f.Fd()), unix.LOCK_UN) // closed in any case
	return f.File.Close()
}

// hasName reports whether the file has that name.
func (f *file) hasName(path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(open, now)
}

// append writes a frame behind the others. It does not count before it is added.
func (f *file) append(frame []byte) error {
	closeFrame(frame, f.size)
	_, err := f.WriteAt(frame, f.size)
	return err
}

// sync makes what was written last.
func (f *file) sync() error {
	if failpoint.Built && failpoint.On(failpoint.Unsynced) {
		return nil
	}
	return f.Sync()
}

// seal says that all before it is synced. It need not last itself: what it tells of is sound
// without it.
func (f *file) seal() { f.append(newFrame()) }

// add takes in a frame at a place, behind which the next one goes.
func (f *file) add(items []byte, at int64) error {
	if n := len(f.events); n == 0 || f.events[n-1].count*chunks >= maxEvents || f.events[n-1].bytes*chunks >= maxBytes {
		f.events = append(f.events, chunk{at: at, last: f.has})
	}
	newest := &f.events[len(f.events)-1]
	err := each(items, func(kind byte, item []byte, from int) error {
		switch fields := unpack(item); kind {
		case aState:
			f.epoch, f.last, f.gone = string(fields[0]), numberOf(fields[1]), numberOf(fields[2])
			f.has, newest.last = f.gone, f.gone
		case anEvent:
			f.has = numberOf(fields[0])
			f.last, newest.last = max(f.last, f.has), f.has
			for _, c := range []*chunk{newest, &f.total} {
				c.count, c.bytes = c.count+1, c.bytes+int64(len(fields[4]))
			}
		case aRecord:
			f.place(fields[1], place{at, from, len(item), numberOf(fields[0])})
		}
		return nil
	})
	f.size = at + head + int64(len(items))
	f.forget()
	return err
}

func (f *file) key(id []byte) uint64 { return maphash.Bytes(f.seed, id) }

func (f *file) place(id []byte, p place) {
	was := f.records[f.key(id)]
	f.records[f.key(id)] = p
	if f.recordBytes += int64(p.n - was.n); p.ended != 0 && was.ended == 0 {
		f.ended++
	}
}

// forget lets go of the oldest events while there are too many.
func (f *file) forget() {
	most := maxEvents
	if failpoint.Built && failpoint.On(failpoint.FewEvents) {
		most = 40
	}
	for len(f.events) > 1 && (f.total.count > most || f.total.bytes > maxBytes) {
		c := f.events[0]
		f.events, f.gone = f.events[1:], max(f.gone, c.last)
		f.total.count, f.total.bytes = f.total.count-c.count, f.total.bytes-c.bytes
	}
}

// remember returns where the messages stand that are kept: the live ones, and of those that ended
// the newest.
func (f *file) remember(now time.Time) []place {
	var live, ended []place
	for _, p := range f.records {
		switch {
		case p.ended == 0:
			live = append(live, p)
		case now.Sub(time.UnixMilli(p.ended)) < remembered:
			ended = append(ended, p)
		}
	}
	slices.SortFunc(ended, func(a, b place) int { return cmp.Compare(b.ended, a.ended) })
	list := append(live, ended[:min(len(ended), maxEnded)]...)
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.frame, b.frame), cmp.Compare(a.at, b.at)) })
	return list
}

// eachEvent calls do with the kept events after a number.
func (f *file) eachEvent(after int64, do func(e queue.Entry, item []byte) error) error {
	after = max(after, f.gone)
	n, _ := slices.BinarySearchFunc(f.events, after+1, func(c chunk, seq int64) int { return cmp.Compare(c.last, seq) })
	if n == len(f.events) {
		return nil
	}
	for c := (cursor{file: f, at: f.events[n].at, end: f.size}); ; {
		items, _, err := c.next()
		if err == nil {
			err = each(items, func(kind byte, item []byte, _ int) error {
				if kind != anEvent || numberOf(unpack(item)[0]) <= after {
					return nil
				}
				return do(entryOf(item), item)
			})
		}
		if err != nil {
			return ignore(err, io.EOF)
		}
	}
}

// eachRecord calls do with the records at places.
func (f *file) eachRecord(places []place, do func(item []byte) error) error {
	c := cursor{file: f, end: f.size}
	var items []byte
	frame := int64(-1)
	for _, p := range places {
		var err error
		if p.frame != frame {
			c.at = p.frame
			items, frame, err = c.next()
		}
		if err == nil && frame != p.frame {
			err = errDamaged
		}
		if err == nil {
			item, _ := cut(items[p.at+1:])
			err = do(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

func entryItem(e queue.Entry) []byte {
	end := ""
	if e.End {
		end = "1"
	}
	return pack(number(e.Seq), []byte(e.Type), []byte(e.About), []byte(end), e.Frame)
}

// entryOf is the event of an item, whose bytes it shares.
func entryOf(item []byte) queue.Entry {
	f := unpack(item)
	return queue.Entry{Seq: numberOf(f[0]), Type: string(f[1]), About: string(f[2]), End: len(f[3]) > 0, Frame: f[4]}
}

func recordItem(r *queue.Record) ([]byte, error) {
	ended := int64(0)
	if !r.Live() {
		ended = max(r.EndedAt.UnixMilli(), 1)
	}
	all, err := json.Marshal(r)
	return pack(number(ended), []byte(r.ID), all), err
}

func recordOf(item []byte) (r queue.Record, err error) {
	return r, json.Unmarshal(unpack(item)[2], &r)
}
