package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"relay-pty/protocol"
	"relay-pty/queue"
)

// create puts a file that fill has written in the place of path, at once or not at all.
func create(path string, fill func(*bbolt.Tx) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil { // of a run that was cut short
		return err
	}
	db, err := openFile(temp)
	if err != nil {
		return err
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
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // already failing
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a new name last.
func syncDir(dir string) error {
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

// begin makes the file.
func (j *Journal) begin() error {
	all := contents{state: j.state}
	if err := create(j.path, all.putAll); err != nil {
		return err
	}
	db, err := openFile(j.path)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.db = db
	return nil
}

// renew writes the file anew with what it is known to hold: all but what the commit that
// failed may have left in it.
func (j *Journal) renew() error {
	err := create(j.path, func(tx *bbolt.Tx) error { return j.view(func(old *bbolt.Tx) error { return j.copy(tx, old) }) })
	if err != nil {
		return err
	}
	db, err := openFile(j.path)
	if err != nil {
		return err
	}
	all, err := inspect(j.path)
	if err != nil {
		db.Close() // nothing written
		return err
	}
	j.mu.Lock()
	j.db, db = db, j.db
	j.mu.Unlock()
	j.state, j.broken = all.state, false
	j.gone.Store(j.state.Gone)
	return db.Close()
}

// each calls f with every key and value of a bucket.
func each(tx *bbolt.Tx, bucket byte, f func(key, value []byte) error) error {
	return tx.Bucket([]byte{bucket}).ForEach(f)
}

// copy takes over what was there before the commit that failed. Of a message that this
// one knew and the file did not, the sender was told that it is not accepted.
func (j *Journal) copy(tx, old *bbolt.Tx) error {
	s := &state{Epoch: j.state.Epoch, Last: j.state.Last, Gone: j.state.Gone}
	err := each(old, events, func(key, value []byte) error {
		e, err := eventOf(key, value)
		if err != nil || e.Seq > j.state.Last { // what cannot be read is lost
			return nil
		}
		return s.putEvent(tx, e)
	})
	if err != nil {
		return err
	}
	for _, bucket := range []byte{live, ended} {
		err := each(old, bucket, func(key, value []byte) error {
			r, err := recordOf(bucket, key, value)
			if err != nil || r.Stamp.Seq > j.state.Last && r.Status == protocol.StatusQueued && r.Attempt == 0 {
				return nil
			}
			return s.putRecord(tx, &r)
		})
		if err != nil {
			return err
		}
	}
	return s.save(tx)
}

// salvage puts a damaged file aside and finds what it still holds, wherever it stands.
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
	return all, os.Rename(path, path+".damaged")
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
