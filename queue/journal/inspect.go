package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"relay-pty/queue"
)

// contents is what a file holds: its state, its live messages and, if it was damaged,
// everything else, which is to be written anew.
type contents struct {
	state  state
	fresh  bool // nothing of it is in the file yet
	live   []queue.Record
	ended  []queue.Record
	events []queue.Entry
}

// inspect reads a file that nobody has open and looks at every value in it. Whatever is
// wrong with it is [errDamaged].
func inspect(path string) (all contents, err error) {
	if err := checkMetas(path); err != nil {
		return all, err
	}
	err = guarded(func() error {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, ReadOnly: true})
		if errors.Is(err, bbolterrors.ErrInvalid) || errors.Is(err, bbolterrors.ErrVersionMismatch) {
			err = errors.Join(errDamaged, err)
		}
		if err != nil {
			return err
		}
		defer db.Close() // only read
		return db.View(all.read)
	})
	return all, err
}

// read takes in what the file holds and compares it with what the file says of itself.
func (all *contents) read(tx *bbolt.Tx) error {
	var claimed state
	found := &all.state
	err := each(tx, about, func(key, value []byte) error {
		payload, err := opened(about, key, value)
		if err != nil {
			return err
		}
		return json.Unmarshal(payload, &claimed)
	})
	if err != nil {
		return err
	}
	err = each(tx, events, func(key, value []byte) error {
		e, err := eventOf(key, value)
		found.Last, found.Events, found.Bytes = e.Seq, found.Events+1, found.Bytes+int64(len(e.Frame))
		return err
	})
	if err != nil {
		return err
	}
	err = each(tx, live, func(key, value []byte) error {
		r, err := recordOf(live, key, value)
		found.Live, all.live = found.Live+1, append(all.live, r)
		return err
	})
	if err != nil {
		return err
	}
	err = each(tx, ended, func(key, value []byte) error {
		_, err := opened(ended, key, value)
		found.Ended++
		return err
	})
	if err != nil {
		return err
	}
	found.Epoch, found.Gone = claimed.Epoch, claimed.Gone
	found.Last = max(found.Last, claimed.Last)
	if *found != claimed {
		return fmt.Errorf("%w: it holds %+v and should hold %+v", errDamaged, *found, claimed)
	}
	return nil
}

// each calls f with every key and value of a bucket.
func each(tx *bbolt.Tx, bucket byte, f func(key, value []byte) error) error {
	b := tx.Bucket([]byte{bucket})
	if b == nil {
		return fmt.Errorf("%w: bucket %q is missing", errDamaged, bucket)
	}
	return b.ForEach(func(key, value []byte) error {
		if err := f(key, value); err != nil {
			return fmt.Errorf("bucket %q, key %q: %w", bucket, key, err)
		}
		return nil
	})
}

// bbolt keeps two pages that each tell where a commit's tree begins, and takes the older
// one if the newer is damaged: that would lose a commit without a word. So both must be
// whole; see its internal/common/meta.go. A file in which only the first commit was made
// has both, too.
const (
	metaAt   = 16 // behind the page's header
	metaSum  = 56 // checksum, FNV-1a of the bytes before it
	metaMark = 0xED0CDAED
)

func checkMetas(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	page := make([]byte, 2*os.Getpagesize())
	if _, err := f.ReadAt(page, 0); err != nil {
		return errors.Join(errDamaged, err)
	}
	for _, at := range []int{0, os.Getpagesize()} {
		meta := page[at+metaAt:]
		h := fnv.New64a()
		h.Write(meta[:metaSum])
		if binary.NativeEndian.Uint32(meta) != metaMark || binary.NativeEndian.Uint64(meta[metaSum:]) != h.Sum64() {
			return fmt.Errorf("%w: meta page at %d", errDamaged, at)
		}
	}
	return nil
}
