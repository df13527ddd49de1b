package journal

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
	"relay-pty/queue"
)

// Bounds of what is kept.
var (
	maxEvents  int64 = 20_000
	maxBytes   int64 = 32 << 20 // of frames
	maxEnded   int64 = 100_000
	remembered       = queue.Retention
)

// pruneMost is how much one commit removes of each kind, so that none takes long.
const pruneMost = 256

// Journal is the file of one agent, which no other process may have open.
type Journal struct {
	path   string
	mine   func() error
	gone   atomic.Int64
	state  state          // as the file has it; Commit's alone
	held   []queue.Change // events that were told before there was a file
	broken bool           // the last commit failed
	tx     uint64         // number of the last that did not

	mu sync.RWMutex // held while db is exchanged
	db *tree        // nil while there is no file
}

// tree is a bbolt file that we have open.
type tree struct {
	*bbolt.DB
	file *os.File
}

// state is what the file says of itself. The counts are there to notice records that
// a damaged tree no longer shows.
type state struct {
	Epoch  string
	Last   int64 // number of the newest event
	Gone   int64 // events up to it are no longer kept
	Events int64
	Bytes  int64 // of their frames
	Live   int64
	Ended  int64
}

// Commit writes all of the changes, or none; see [queue.Store].
func (j *Journal) Commit(changes []queue.Change) error {
	if j.db == nil && !j.broken && len(j.held) < maxHeld && !slices.ContainsFunc(changes, promises) {
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
	case j.db == nil:
		err = j.begin()
	case j.broken || !j.named():
		err = j.renew()
	}
	if err != nil {
		return err
	}
	next, id := j.state, uint64(0)
	err = j.update(func(tx *bbolt.Tx) error {
		id = uint64(tx.ID())
		return next.apply(tx, changes, time.Now())
	})
	j.gone.Store(next.Gone) // if that failed, nobody knows whether they are still there
	switch {
	case err != nil:
		return err
	case !j.named():
		return errNameless
	}
	j.state, j.tx = next, id
	return nil
}

// errNameless is a commit into a file that lost its name meanwhile.
var errNameless = errors.New("it was removed or replaced while it was written")

// named reports whether the file that is open has the journal's name.
func (j *Journal) named() bool {
	open, err := j.db.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(j.path)
	return err == nil && os.SameFile(open, now)
}

// Gone is the number up to which events are no longer kept.
func (j *Journal) Gone() int64 { return j.gone.Load() }

// Events returns kept events; see [queue.Store].
func (j *Journal) Events(after int64, most int) (list []queue.Entry, err error) {
	err = j.view(func(tx *bbolt.Tx) error {
		size := 0
		c := tx.Bucket([]byte{events}).Cursor()
		for key, value := c.Seek(number(after + 1)); key != nil && len(list) < most; key, value = c.Next() {
			e, err := eventOf(key, value)
			if err != nil {
				continue // it was told of when the file was opened
			}
			if size += len(e.Frame); len(list) > 0 && size > queue.BatchBytes {
				break
			}
			list = append(list, e)
		}
		return nil
	})
	return list, err
}

func eventOf(key, value []byte) (queue.Entry, error) {
	payload, err := opened(events, key, value)
	if err != nil {
		return queue.Entry{}, err
	}
	return unpackEvent(key, payload)
}

// Find returns the record of a message that ended.
func (j *Journal) Find(id string) (r queue.Record, ok bool) {
	err := j.view(func(tx *bbolt.Tx) error {
		value := tx.Bucket([]byte{ended}).Get([]byte(id))
		if value == nil {
			return nil
		}
		var err error
		r, err = recordOf(ended, []byte(id), value)
		ok = err == nil
		return nil
	})
	return r, ok && err == nil
}

func recordOf(bucket byte, key, value []byte) (queue.Record, error) {
	payload, err := opened(bucket, key, value)
	if err != nil {
		return queue.Record{}, err
	}
	return unpackRecord(payload)
}

// Close closes the file; the journal cannot be used any more.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.db == nil {
		return nil
	}
	return j.db.Close()
}

func (j *Journal) view(f func(*bbolt.Tx) error) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.db == nil {
		return nil
	}
	return guarded(func() error { return j.db.View(f) })
}

func (j *Journal) update(f func(*bbolt.Tx) error) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return guarded(func() error { return j.db.Update(f) })
}

// guarded makes an error of a panic: bbolt trusts its file.
func guarded(f func() error) (err error) {
	was := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(was)
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(errDamaged, fmt.Errorf("%v", r))
		}
	}()
	return f()
}

// apply puts changes into the file, and takes out what is too much.
func (s *state) apply(tx *bbolt.Tx, changes []queue.Change, now time.Time) error {
	for _, c := range changes {
		if err := s.put(tx, c); err != nil {
			return err
		}
	}
	if err := s.pruneEvents(tx); err != nil {
		return err
	}
	if err := s.pruneEnded(tx, now.Add(-remembered)); err != nil {
		return err
	}
	return s.save(tx)
}

func (s *state) put(tx *bbolt.Tx, c queue.Change) error {
	if err := s.putEvent(tx, c.Entry); err != nil || c.Record == nil {
		return err
	}
	if failpoint.Built && (failpoint.On(failpoint.QueuedUnrecorded) && c.Record.Status == protocol.StatusQueued ||
		failpoint.On(failpoint.AttemptUnrecorded) && c.Record.Status == protocol.StatusInjecting) {
		return nil
	}
	return s.putRecord(tx, c.Record)
}

func (s *state) putEvent(tx *bbolt.Tx, e queue.Entry) error {
	key := number(e.Seq)
	s.Last, s.Events, s.Bytes = max(s.Last, e.Seq), s.Events+1, s.Bytes+int64(len(e.Frame))
	return tx.Bucket([]byte{events}).Put(key, seal(events, key, packEvent(e)))
}

// putRecord puts a message where it belongs now.
func (s *state) putRecord(tx *bbolt.Tx, r *queue.Record) error {
	payload, err := packRecord(r)
	if err != nil {
		return err
	}
	id := []byte(r.ID)
	lives := tx.Bucket([]byte{live})
	known := lives.Get(id) != nil
	if r.Live() {
		if !known {
			s.Live++
		}
		return lives.Put(id, seal(live, id, payload))
	}
	if known {
		s.Live--
		if err := lives.Delete(id); err != nil {
			return err
		}
	}
	ends := tx.Bucket([]byte{ended})
	if ends.Get(id) == nil {
		s.Ended++
	}
	if err := ends.Put(id, seal(ended, id, payload)); err != nil {
		return err
	}
	return tx.Bucket([]byte{ages}).Put(aged(r), nil)
}
