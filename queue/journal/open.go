package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"relay-pty/queue"
)

// Past is what a journal kept of the runs before.
type Past struct {
	Epoch   string
	Last    int64          // number of the newest event
	Live    []queue.Record // messages that have not ended, by arrival
	Damaged string         // what was found wrong with the file, "" for nothing
}

// lockWait is how long another process may hold the file: one that is just ending.
const lockWait = 200 * time.Millisecond

// Open opens the journal at path, or begins one, in a directory that is made if it is
// missing. A damaged file is put aside, with ".damaged" behind its name, and what it
// still holds is taken over: messages of which it cannot be told whether they were
// delivered count as being injected.
func Open(path string) (*Journal, Past, error) {
	fail := func(err error) (*Journal, Past, error) { return nil, Past{}, fmt.Errorf("journal %s: %w", path, err) }
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	all, err := inspect(path)
	damaged := ""
	switch {
	case errors.Is(err, errDamaged):
		damaged = err.Error()
		all, err = salvage(path)
	case errors.Is(err, fs.ErrNotExist):
		all, err = contents{fresh: true, state: state{Epoch: queue.NewEpoch()}}, nil
	}
	if err == nil && all.fresh {
		err = create(path, all.putAll)
	}
	if err != nil {
		return fail(err)
	}
	j := &Journal{path: path, state: all.state}
	if j.db, err = openFile(path); err != nil {
		return fail(err)
	}
	j.gone.Store(j.state.Gone)
	slices.SortFunc(all.live, func(a, b queue.Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return j, Past{Epoch: j.state.Epoch, Last: j.state.Last, Live: all.live, Damaged: damaged}, nil
}

// openFile opens a bbolt file for writing.
func openFile(path string) (db *bbolt.DB, err error) {
	err = guarded(func() error {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType})
		return err
	})
	return db, err
}
