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
	"golang.org/x/sys/unix"

	"relay-pty/protocol/failpoint"
	"relay-pty/queue"
)

// Past is what a journal kept of the runs before.
type Past struct {
	Epoch   string
	Last    int64          // number of the newest event
	Live    []queue.Record // messages that have not ended, by arrival
	Damaged string         // what was found wrong with the file, "" for nothing
	Fault   error          // why no file can be made at present, when there is none
}

// lockWait is how long another process may hold the file: one that is just ending.
const lockWait = 200 * time.Millisecond

// Open opens the journal at path, or begins one: its file is made when there is something
// to promise. A damaged file is put aside, with ".damaged" behind its name, and what it
// still holds is taken over: messages of which it cannot be told whether they were
// delivered count as being injected.
//
// mine is asked before a file is put in the place of the name, and an error leaves alone what is
// there; nil: nobody else can have the name.
func Open(path string, mine func() error) (*Journal, Past, error) {
	if mine == nil {
		mine = func() error { return nil }
	}
	fail := func(err error) (*Journal, Past, error) { return nil, Past{}, fmt.Errorf("journal %s: %w", path, err) }
	all, err := inspect(path)
	damaged := ""
	var db *tree
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		j := &Journal{path: path, mine: mine, state: state{Epoch: queue.NewEpoch()}}
		fault := writable(filepath.Dir(path))
		if fault == nil {
			fault = mine()
		}
		j.broken = fault != nil
		return j, Past{Epoch: j.state.Epoch, Fault: fault}, nil
	case errors.Is(err, errDamaged):
		damaged = err.Error()
		if all, err = salvage(path); err == nil {
			db, err = create(path, mine, all.putAll)
		}
	case err == nil:
		db, err = openFile(path)
	}
	if err != nil {
		return fail(err)
	}
	if err := makeDurable(db, path); err != nil {
		db.Close() // nothing was written
		return fail(err)
	}
	j := &Journal{path: path, mine: mine, state: all.state}
	j.adopt(db)
	slices.SortFunc(all.live, func(a, b queue.Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return j, Past{Epoch: j.state.Epoch, Last: j.state.Last, Live: all.live, Damaged: damaged}, nil
}

// makeDurable syncs the file and its directory before anything in them is told to others: a run
// that was killed may have written them without a sync, and the machine could still lose that.
func makeDurable(db *tree, path string) error {
	if err := db.Sync(); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// writable says why no file can be made in a directory, which it makes.
func writable(dir string) error {
	err := MakeDir(dir)
	if err == nil {
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		return fmt.Errorf("journal in %s: %w", dir, err)
	}
	return nil
}

// openFile opens a bbolt file for writing.
func openFile(path string) (*tree, error) {
	db := &tree{}
	open := func(name string, flag int, perm os.FileMode) (f *os.File, err error) {
		db.file, err = os.OpenFile(name, flag, perm)
		return db.file, err
	}
	err := guarded(func() (err error) {
		db.DB, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, OpenFile: open,
			NoSync: failpoint.Built && failpoint.On(failpoint.Unsynced)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}
