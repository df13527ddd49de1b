package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
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
	j := &Journal{path: path, mine: mine, epoch: queue.NewEpoch()}
	past, err := j.open()
	if err != nil {
		j.Close() // nothing was promised
		return nil, Past{}, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, past, nil
}

func (j *Journal) open() (past Past, err error) {
	j.file, err = openFile(j.path, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		past = Past{Epoch: j.epoch, Fault: writable(filepath.Dir(j.path))}
		if past.Fault == nil {
			past.Fault = j.mine()
		}
		j.broken = past.Fault != nil
		return past, nil
	}
	if err == nil {
		past.Damaged, err = j.file.load()
	}
	switch {
	case err != nil:
		return past, err
	case past.Damaged != "":
		err = j.salvage()
	default:
		err = j.file.makeDurable(j.path)
	}
	if err != nil {
		return past, err
	}
	j.limit = j.file.roomy()
	past.Epoch, past.Last = j.file.epoch, j.file.last
	past.Live, err = j.file.lives()
	return past, err
}

// load takes in the frames of a file, and tells what is wrong with it.
func (f *file) load() (damaged string, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	c := cursor{file: f, end: info.Size(), damage: -1}
	for err == nil {
		var items []byte
		var at int64
		if items, at, err = c.next(); err == nil {
			err = f.add(items, at)
		}
	}
	switch {
	case c.damage >= 0:
		damaged = fmt.Sprintf("damaged at byte %d of %d", c.damage, c.end)
	case f.epoch == "":
		damaged = "it does not begin as a journal of this version"
	}
	return damaged, ignore(err, io.EOF)
}

// makeDurable syncs the file and its directory before anything in them is told to others: a run
// that was killed may have written them without a sync, and the machine could still lose that. What
// was cut short goes.
func (f *file) makeDurable(path string) error {
	err := f.Truncate(f.size)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		f.seal()
		err = SyncDir(filepath.Dir(path))
	}
	return err
}

// lives are the messages that have not ended, by arrival.
func (f *file) lives() (list []queue.Record, err error) {
	places := slices.DeleteFunc(f.remember(time.Now()), func(p place) bool { return p.ended != 0 })
	err = f.eachRecord(places, func(item []byte) error {
		r, err := recordOf(item)
		list = append(list, r)
		return err
	})
	slices.SortFunc(list, func(a, b queue.Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return list, err
}

// salvage puts a damaged file aside and goes on with one that has all that is left of it, in an
// epoch of its own. A newer version of a message may be among what is lost, so no message counts as
// one that still waits.
func (j *Journal) salvage() error {
	j.file.epoch = j.epoch
	aside := j.path + ".damaged"
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	if os.Link(j.path, aside) != nil { // where a file can have one name only
		raw, err := os.ReadFile(j.path)
		if err == nil {
			err = os.WriteFile(aside, raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return j.anew(func(f *file) error {
		return f.copy(j.file, func(item []byte) ([]byte, error) {
			r, err := recordOf(item)
			if err != nil || !r.Live() {
				return item, err
			}
			r.Status, r.Attempt = protocol.StatusInjecting, max(r.Attempt, 1)
			return recordItem(&r)
		})
	})
}

// create puts a file that fill has written in the place of path, at once or not at all, and only
// when free says that it may.
func create(path string, free func() error, fill func(*file) error) (*file, error) {
	if err := MakeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil { // of a run that was cut short
		return nil, err
	}
	f, err := openFile(temp, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err = fill(f); err == nil {
		err = f.sync()
	}
	if err == nil {
		err = free()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		f.Close() // already failing, as below
		os.Remove(temp)
		return nil, err
	}
	f.seal()
	return f, nil
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
