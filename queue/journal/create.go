package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"relay-pty/protocol"
	"relay-pty/queue"
)

// create puts a file that fill has written in the place of path, at once or not at all, and only
// when free says that it may. Its name lasts when the directory was synced: that is left to the
// caller, who has to know the new file even if that fails.
func create(path string, free func() error, fill func(*bbolt.Tx) error) (*tree, error) {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil { // of a run that was cut short
		return nil, err
	}
	db, err := openFile(temp)
	if err != nil {
		return nil, err
	}
	err = guarded(func() error {
		return db.Update(func(tx *bbolt.Tx) error {
			for _, b := range buckets {
				if _, err := tx.CreateBucketIfNotExists([]byte{b}); err != nil {
					return err
				}
			}
			return fill(tx)
		})
	})
	if err == nil {
		err = free()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		db.Close() // already failing, as below
		os.Remove(temp)
		return nil, err
	}
	return db, nil
}

// free reports whether a file of ours may be put in the place of the name: no other wrapper has it,
// and nothing stands there but what we put there. Two journals cannot be made one, and which is
// wanted is not ours to say.
func (j *Journal) free() error {
	if err := j.mine(); err != nil {
		return err
	}
	if j.db != nil && j.named() {
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

// MakeDir makes a directory, and those above it that are missing, so that they last.
func MakeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = MakeDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if info, e := os.Stat(dir); errors.Is(err, fs.ErrExist) && e == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: unix.ENOTDIR}
		}
		return nil
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(dir))
}

// SyncDir makes a new name last.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	return d.Sync()
}

// putAll writes contents into an empty file.
func (all *contents) putAll(tx *bbolt.Tx) error {
	s := &state{Epoch: all.state.Epoch, Last: all.state.Last, Gone: all.state.Gone}
	for _, e := range all.events {
		if err := s.putEvent(tx, e); err != nil {
			return err
		}
	}
	for _, list := range [][]queue.Record{all.live, all.ended} {
		for i := range list {
			if err := s.putRecord(tx, &list[i]); err != nil {
				return err
			}
		}
	}
	all.state = *s
	return s.save(tx)
}

// begin makes the file, with what was told before there was one: the numbers of those events
// must not be given out again in its epoch.
func (j *Journal) begin() error {
	all := contents{state: j.state}
	for _, c := range j.held {
		all.events = append(all.events, c.Entry)
	}
	db, err := create(j.path, j.free, all.putAll)
	if err != nil {
		return err
	}
	j.state, j.held = all.state, nil
	j.adopt(db)
	return SyncDir(filepath.Dir(j.path))
}

// renew writes the file anew, from the one that is open whether it still has a name or not, with
// what it held before the commit that failed. That one may have left anything, but it has not
// written over what was there: bbolt keeps the tree before the newest.
func (j *Journal) renew() error {
	return mapped(j.db.file, func(old []byte) error {
		db, err := create(j.path, j.free, func(tx *bbolt.Tx) error {
			return walk(old, j.tx, func(bucket string, key, value []byte) error {
				return tx.Bucket([]byte(bucket)).Put(key, value)
			})
		})
		if err != nil {
			return err
		}
		j.adopt(db)
		return SyncDir(filepath.Dir(j.path))
	})
}

// adopt takes a file in the place of the one before.
func (j *Journal) adopt(db *tree) {
	j.mu.Lock()
	j.db, db = db, j.db
	j.mu.Unlock()
	j.tx = newest(j.db.DB)
	j.gone.Store(j.state.Gone)
	if db != nil {
		db.Close() // all of it was read, and what it could not write is in the new one
	}
}

// newest is the number of the newest commit in a file.
func newest(db *bbolt.DB) (id uint64) {
	db.View(func(tx *bbolt.Tx) error { id = uint64(tx.ID()); return nil }) // fails only when it is closed
	return id
}

// salvage keeps a copy of a damaged file and finds what it still holds, wherever it stands.
// A newer version of a message may be among what is lost, so no message counts as one
// that still waits.
func salvage(path string) (contents, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return contents{}, err
	}
	all := contents{state: state{Epoch: queue.NewEpoch()}}
	records, seen := map[string]queue.Record{}, map[int64]bool{}
	for at := bytes.Index(raw, magic); at >= 0; {
		bucket, key, payload, n, err := unseal(raw[at:])
		if err != nil {
			n = 1
		}
		switch bucket {
		case events:
			if e, err := unpackEvent(key, payload); err == nil && !seen[e.Seq] {
				seen[e.Seq] = true
				all.events = append(all.events, e)
				all.state.Last = max(all.state.Last, e.Seq)
			}
		case live, ended:
			if r, err := unpackRecord(payload); err == nil && r.Stamp.Seq >= records[r.ID].Stamp.Seq {
				records[r.ID] = r
				all.state.Last = max(all.state.Last, r.Stamp.Seq)
			}
		}
		next := bytes.Index(raw[at+n:], magic)
		if next < 0 {
			break
		}
		at += n + next
	}
	all.sort(records, time.Now())
	return all, putAside(path, raw)
}

// putAside keeps a copy, and leaves the file where it is: it goes when there is another
// in its place.
func putAside(path string, raw []byte) error {
	aside := path + ".damaged"
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if os.Link(path, aside) == nil {
		return nil
	}
	return os.WriteFile(aside, raw, 0o600) // where a file can have one name only
}

// sort tells live messages from ended ones.
func (all *contents) sort(records map[string]queue.Record, now time.Time) {
	for _, r := range records {
		switch {
		case !r.Live():
			all.ended = append(all.ended, r)
		case now.Sub(r.QueuedAt) < remembered: // else it is what was forgotten long ago
			r.Status, r.Attempt = protocol.StatusInjecting, max(r.Attempt, 1)
			all.live = append(all.live, r)
		}
	}
}
