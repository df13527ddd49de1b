package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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

// Open opens the journal at path, or begins one: its file is made when there is something
// to promise, and so is its directory. A damaged file is put aside, with ".damaged" behind its name, and what it
// still holds is taken over: messages of which it cannot be told whether they were
// delivered count as being injected.
func Open(path string) (*Journal, Past, error) {
	fail := func(err error) (*Journal, Past, error) { return nil, Past{}, fmt.Errorf("journal %s: %w", path, err) }
	all, err := inspect(path)
	damaged := ""
	switch {
	case errors.Is(err, errDamaged):
		damaged = err.Error()
		if all, err = salvage(path); err == nil {
			err = create(path, all.putAll)
		}
	case errors.Is(err, fs.ErrNotExist):
		j := &Journal{path: path, state: state{Epoch: queue.NewEpoch()}}
		return j, Past{Epoch: j.state.Epoch}, nil
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
