package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
	"relay-pty/queue"
)

// Journal is the file of one agent, which no other process may have open.
type Journal struct {
	path   string
	mine   func() error
	epoch  string         // of the first file, while there is none
	held   []queue.Change // events that were told before there was a file
	broken bool           // the last commit failed
	limit  int64          // the size from which on the file is written anew

	mu   sync.RWMutex // held while the file is exchanged, or what it holds is counted
	file *file        // nil while there is none
}

// Commit writes all of the changes, or none; see [queue.Store].
func (j *Journal) Commit(changes []queue.Change) error {
	if j.file == nil && !j.broken && len(j.held) < maxHeld && !slices.ContainsFunc(changes, promises) {
		j.held = append(j.held, changes...)
		return nil
	}
	err := j.commit(changes)
	if errors.Is(err, errNameless) { // nothing else is wrong with it, so a new file will do
		err = j.commit(changes)
	}
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	return nil
}

// maxHeld is how many events are kept in memory while there is nothing to promise.
const maxHeld = 64

// promises reports whether a change must outlive us: a message, or what the agent has said
// to others. The rest of the events are worth a file only beside those; without one, the
// next run has another epoch.
func promises(c queue.Change) bool { return c.Record != nil || c.Type == protocol.TypeRelayCommand }

func (j *Journal) commit(changes []queue.Change) (err error) {
	defer func() { j.broken = err != nil }()
	switch {
	case j.file == nil: // its events' numbers must not be given out again in its epoch
		err = j.anew(func(f *file) error { return f.write(j.epoch, 0, 0, j.held) })
	case j.broken || !j.file.hasName(j.path):
		err = j.anew(j.copy)
	case j.file.size > j.limit || j.file.ended > maxEnded+maxEnded/4:
		if j.anew(j.copy) != nil { // the old one will do
			j.limit = j.file.size + j.file.size/4
		}
	}
	if err != nil || len(changes) == 0 {
		return err
	}
	f, at := j.file, j.file.size
	frame, err := framed(newFrame(), changes)
	if err == nil {
		err = f.append(frame)
	}
	if err == nil {
		err = f.sync()
	}
	switch {
	case err != nil:
		f.Truncate(at) // what was refused is better gone, but the next commit sees to that anyway
		return err
	case !f.hasName(j.path):
		return errNameless
	}
	j.mu.Lock()
	err = f.add(frame[head:], at)
	j.mu.Unlock()
	f.seal()
	return err
}

// errNameless is a commit into a file that lost its name meanwhile.
var errNameless = errors.New("it was removed or replaced while it was written")

func framed(frame []byte, changes []queue.Change) ([]byte, error) {
	for _, c := range changes {
		frame = putItem(frame, anEvent, entryItem(c.Entry))
		if c.Record == nil || failpoint.Built && (failpoint.On(failpoint.QueuedUnrecorded) && c.Record.Status == protocol.StatusQueued ||
			failpoint.On(failpoint.AttemptUnrecorded) && c.Record.Status == protocol.StatusInjecting) {
			continue
		}
		item, err := recordItem(c.Record)
		if err != nil {
			return nil, err
		}
		frame = putItem(frame, aRecord, item)
	}
	return frame, nil
}

// write begins an empty file.
func (f *file) write(epoch string, last, gone int64, changes []queue.Change) error {
	frame := putItem(newFrame(), aState, pack([]byte(epoch), number(last), number(gone)))
	frame, err := framed(frame, changes)
	if err != nil {
		return err
	}
	return f.put(frame)
}

// copied is how many bytes make a frame of a file that is written anew.
const copied = 256 << 10

// copy writes into an empty file what is kept of the one that is open, as it was after the last
// commit that did not fail.
func (j *Journal) copy(f *file) error {
	return f.copy(j.file, func(item []byte) ([]byte, error) { return item, nil })
}

func (f *file) copy(old *file, record func([]byte) ([]byte, error)) error {
	if err := f.write(old.epoch, old.last, old.gone, nil); err != nil {
		return err
	}
	frame, items := newFrame(), int64(0)
	put := func(kind byte, item []byte) error {
		frame = putItem(frame, kind, item)
		if items++; len(frame) < copied && items*chunks < maxEvents {
			return nil
		}
		done := frame
		frame, items = newFrame(), 0
		return f.put(done)
	}
	err := old.eachEvent(0, func(_ queue.Entry, item []byte) error { return put(anEvent, item) })
	if err != nil {
		return err
	}
	err = old.eachRecord(old.remember(time.Now()), func(item []byte) error {
		item, err := record(item)
		if err != nil {
			return err
		}
		return put(aRecord, item)
	})
	if err != nil || len(frame) == head {
		return err
	}
	return f.put(frame)
}

// put appends a frame that counts at once.
func (f *file) put(frame []byte) error {
	if err := f.append(frame); err != nil {
		return err
	}
	return f.add(frame[head:], f.size)
}

// slack is how much of a file need not be worth keeping.
const slack = 1 << 20

// anew puts a file that fill has written in the place of the one before, at once or not at all.
// Where its name cannot be made to last, the new file is the one that counts all the same.
func (j *Journal) anew(fill func(*file) error) error {
	f, err := create(j.path, j.free, fill)
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.file, f = f, j.file
	j.mu.Unlock()
	if j.held, j.limit = nil, j.file.roomy(); f != nil {
		f.Close() // all of it was read, and what it could not write is in the new one
	}
	return SyncDir(filepath.Dir(j.path))
}

// roomy is a size at which half of the file, and the slack, is not kept any more.
func (f *file) roomy() int64 { return slack + 2*(f.total.bytes+f.recordBytes) }

// free reports whether a file of ours may be put in the place of the name: no other wrapper has it,
// and nothing stands there but what we put there. Two journals cannot be made one, and which is
// wanted is not ours to say.
func (j *Journal) free() error {
	if err := j.mine(); err != nil {
		return err
	}
	if j.file != nil && j.file.hasName(j.path) {
		return nil
	}
	if _, err := os.Lstat(j.path); !errors.Is(err, fs.ErrNotExist) {
		return errReplaced
	}
	return nil
}

// errReplaced is another file in the place of the journal.
var errReplaced = errors.New("somebody put another file in its place; " +
	"move that away, or end this wrapper, and the next one goes on with it")

// Gone is the number up to which events are no longer kept.
func (j *Journal) Gone() int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.file == nil {
		return 0
	}
	return j.file.gone
}

// Events returns kept events; see [queue.Store].
func (j *Journal) Events(after int64, most int) (list []queue.Entry, err error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.file == nil {
		return nil, nil
	}
	size, enough := 0, errors.New("enough")
	err = j.file.eachEvent(after, func(e queue.Entry, _ []byte) error {
		if size += len(e.Frame); len(list) == most || len(list) > 0 && size > queue.BatchBytes {
			return enough
		}
		e.Frame = bytes.Clone(e.Frame)
		list = append(list, e)
		return nil
	})
	return list, ignore(err, enough)
}

// Find returns the record of a message that ended.
func (j *Journal) Find(id string) (r queue.Record, ok bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.file == nil {
		return r, false
	}
	p := j.file.records[j.file.key([]byte(id))]
	if p.ended == 0 || time.Since(time.UnixMilli(p.ended)) >= remembered {
		return r, false
	}
	err := j.file.eachRecord([]place{p}, func(item []byte) (err error) {
		r, err = recordOf(item)
		return err
	})
	return r, err == nil && r.ID == id
}

// Close closes the file; the journal cannot be used any more.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
