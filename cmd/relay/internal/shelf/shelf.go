// Package shelf keeps what a router.State has saved in a file (bbolt) beside the log. What is kept
// is the state after some event, as a whole, on disk when [File.Keep] returns; a kill at any moment
// leaves that of the time before. The log has all that came later.
package shelf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/own"
)

// version is that of what is written. A file of another one is made anew from the log.
const version = "1"

var (
	states   = []byte("state")
	pages    = []byte("messages") // by id
	lines    = []byte("lines")    // by number and id
	unended  = []byte("open")     // by id
	buckets  = [][]byte{states, pages, lines, unended}
	newest   = []byte("newest")
	versions = []byte("version")
)

// openWait is how long somebody else may have the file, whose owner is told by the store's lock.
const openWait = 5 * time.Second

// File is an open shelf. Keep and Clear are for one goroutine at a time, the rest for any.
type File struct {
	db *bbolt.DB
	at own.Place
}

// Name is the file's, which nobody may take from it: what is kept behind it would be lost.
func (f *File) Name() own.Name { return f.at }

// Open opens the file, or makes it. One that cannot be read, or is of another version, is made
// anew.
func Open(path string) (*File, error) {
	f, err := open(path)
	var system syscall.Errno
	if err == nil || errors.Is(err, bolterrors.ErrTimeout) || errors.As(err, &system) {
		return f, err // what the system refuses now, a full disk for one, says nothing of the file
	}
	if err := os.Remove(path); err != nil {
		return nil, fmt.Errorf("make %s anew: %w", path, err)
	}
	return open(path)
}

var errVersion = errors.New("it is of another version")

func open(path string) (f *File, err error) {
	defer guard(&err)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: openWait, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	f = &File{db: db}
	if f.at, err = own.At(path); err != nil {
		db.Close() // already failing
		return nil, err
	}
	made := false
	err = db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(states)
		if made = b != nil; made && string(b.Get(versions)) != version {
			return errVersion
		}
		return nil
	})
	if made && err == nil {
		return f, nil // which writes nothing: a full disk keeps nobody from reading
	}
	if err == nil {
		err = f.make()
	}
	if err != nil {
		db.Close() // already failing
		return nil, err
	}
	return f, nil
}

// make writes what an empty file has.
func (f *File) make() error {
	return f.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return tx.Bucket(states).Put(versions, []byte(version))
	})
}

// guard makes an error of what the library panics with when the file is damaged.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read what is kept: %v", p)
	}
}

// Close gives the file up.
func (f *File) Close() error { return f.db.Close() }

// seal puts a sum before what is written.
func seal(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), crc32.ChecksumIEEE(data)), data...)
}

// unseal returns what was sealed, nil where nothing was, or it is damaged.
func unseal(b []byte) []byte {
	if len(b) < 4 || binary.BigEndian.Uint32(b) != crc32.ChecksumIEEE(b[4:]) {
		return nil
	}
	return b[4:]
}

func key(p router.Place) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(p.ID)), uint64(p.Seq)), p.ID...)
}

// Keep keeps all of it, or nothing. What a file takes that lost its name is not kept.
func (f *File) Keep(v router.Saving) error {
	if err := f.keep(v); err != nil {
		return err
	}
	return f.at.Gone()
}

func (f *File) keep(v router.Saving) (err error) {
	defer guard(&err)
	return f.db.Update(func(tx *bbolt.Tx) error {
		page, line, open := tx.Bucket(pages), tx.Bucket(lines), tx.Bucket(unended)
		for _, p := range v.Pages {
			id := []byte(p.ID)
			errs := []error{page.Put(id, seal(p.All))}
			if len(p.Line) > 0 {
				errs = append(errs, line.Put(key(p.Place), seal(p.Line)))
			}
			if p.Open {
				errs = append(errs, open.Put(id, nil))
			} else {
				errs = append(errs, open.Delete(id))
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
		for _, p := range v.Drop {
			id := []byte(p.ID)
			if err := errors.Join(page.Delete(id), line.Delete(key(p)), open.Delete(id)); err != nil {
				return err
			}
		}
		return tx.Bucket(states).Put(newest, seal(v.State))
	})
}

// Find returns what was kept of a message, nil for nothing.
func (f *File) Find(id string) (data []byte) {
	var err error
	defer guard(&err) // then it is not kept
	f.db.View(func(tx *bbolt.Tx) error {
		data = append(data, unseal(tx.Bucket(pages).Get([]byte(id)))...)
		return nil
	})
	return data
}

var errDamaged = errors.New("what is kept is damaged")

// Load returns the state that was kept last, nil for none, and calls each with the lines, as their
// messages came, and open with the ids of messages that have not ended.
func (f *File) Load(each func(router.Place, []byte) error, open func(id string)) (state []byte, err error) {
	defer guard(&err)
	err = f.db.View(func(tx *bbolt.Tx) error {
		if kept := tx.Bucket(states).Get(newest); kept != nil {
			if state = append(state, unseal(kept)...); state == nil {
				return errDamaged
			}
		}
		err := tx.Bucket(lines).ForEach(func(k, v []byte) error {
			line := unseal(v)
			if line == nil || len(k) < 8 {
				return errDamaged
			}
			return each(router.Place{Seq: int64(binary.BigEndian.Uint64(k)), ID: string(k[8:])}, line)
		})
		if err != nil {
			return err
		}
		return tx.Bucket(unended).ForEach(func(k, _ []byte) error { open(string(k)); return nil })
	})
	return state, err
}

// Clear forgets all.
func (f *File) Clear() (err error) {
	defer guard(&err)
	return f.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return tx.Bucket(states).Put(versions, []byte(version))
	})
}
