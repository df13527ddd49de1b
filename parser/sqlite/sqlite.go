// Package sqlite reads the rows of a table in a SQLite database that another
// process writes, as they are appended. It takes no lock and writes nothing, so
// the writer never notices; each look is of one committed state or is repeated.
//
// Known are databases in WAL mode, with UTF-8 text and tables with a rowid. The
// formats are those of https://www.sqlite.org/fileformat2.html and
// https://www.sqlite.org/walformat.html.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"relay-pty/protocol/regular"
)

var (
	// ErrBusy says that the writer changed what was being read, each time.
	ErrBusy = errors.New("database changes too fast")
	// ErrNoWAL says that the database is not written in WAL mode at present.
	ErrNoWAL = errors.New("database has no write-ahead log")
	errBad   = errors.New("database is malformed")
)

const (
	indexHeader = 136   // bytes at the start of the WAL index, see index
	indexBlock  = 32768 // bytes of a block of the WAL index: 4096 page numbers, and a hash table
	firstBlock  = 4062  // page numbers in the first block, which begins with the header
	maxFrames   = 1 << 20
	walHeader   = 32
	frameHeader = 24
	tries       = 8
)

// DB is a database that is open for reading. It is not safe for concurrent use.
type DB struct {
	file, wal, shm source

	last   index    // as of the last View that succeeded
	frames []uint32 // the page in each frame of the WAL; the first is frame 1
}

type source interface {
	io.ReaderAt
	io.Closer
}

// Open opens the database at path.
func Open(path string) (*DB, error) {
	db := &DB{}
	for _, f := range []struct {
		to     *source
		suffix string
	}{{&db.file, ""}, {&db.wal, "-wal"}, {&db.shm, "-shm"}} {
		opened, err := regular.Open(path + f.suffix)
		if err != nil {
			db.Close()
			if f.suffix != "" && errors.Is(err, os.ErrNotExist) {
				err = ErrNoWAL
			}
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		*f.to = opened
	}
	return db, nil
}

// Close closes the files.
func (db *DB) Close() {
	for _, f := range []source{db.file, db.wal, db.shm} {
		if f != nil {
			f.Close() // was only read
		}
	}
}

// index is the header of the WAL index, as far as it says which state is committed.
type index struct {
	change   uint32 // counts the transactions
	pageSize int
	frames   uint32 // of the WAL that are valid
	pages    uint32 // of the database
	salt     uint64 // of the WAL; another one after it began anew
	copied   uint32 // frames that a checkpoint has copied, or tries to copy, into the database
}

// readIndex reads the WAL index. Its header stands there twice, and is whole
// when both copies are the same.
func (db *DB) readIndex() (index, error) {
	var b [indexHeader]byte
	for range tries {
		if _, err := db.shm.ReadAt(b[:], 0); err == io.EOF {
			return index{}, ErrNoWAL // about to be made
		} else if err != nil {
			return index{}, err
		}
		if [48]byte(b[:48]) == [48]byte(b[48:96]) {
			return parseIndex(b[:])
		}
	}
	return index{}, ErrBusy
}

func parseIndex(b []byte) (index, error) {
	native := binary.NativeEndian
	size := int(native.Uint16(b[14:]))
	if size == 1 {
		size = 65536
	}
	x := index{
		change: native.Uint32(b[8:]), pageSize: size, frames: native.Uint32(b[16:]), pages: native.Uint32(b[20:]),
		salt: native.Uint64(b[32:]), copied: native.Uint32(b[128:]),
	}
	switch {
	case b[12] == 0, size == 0: // not yet initialised, or nothing was ever written
		return index{}, ErrNoWAL
	case native.Uint32(b) != 3007000 || size < 512 || size&(size-1) != 0 || x.frames > maxFrames:
		return index{}, errBad
	}
	return x, nil
}

// same reports whether both are of the same committed state.
func (x index) same(y index) bool {
	return x.change == y.change && x.frames == y.frames && x.salt == y.salt
}

// Changed reports whether something was committed since the last View that
// succeeded. It costs one read.
func (db *DB) Changed() (bool, error) {
	now, err := db.readIndex()
	return err == nil && !now.same(db.last), err
}

// View calls read with the latest committed state. Should that state be
// overwritten meanwhile, it calls read again, which therefore begins anew each
// time; what read found counts only once View returns nil.
func (db *DB) View(read func(*Tx) error) error {
	for range tries {
		before, err := db.readIndex()
		if err != nil {
			return err
		}
		err = db.loadFrames(before)
		if err == nil {
			err = read(&Tx{db: db, index: before})
		}
		after, err2 := db.readIndex()
		if err2 != nil {
			return err2
		}
		// A writer overwrites frames only after it gave the WAL another salt, and
		// a checkpoint says how far it will copy before it copies.
		if after.salt == before.salt && after.copied <= before.frames {
			if err == nil {
				db.last = before
			}
			return err
		}
		db.frames = db.frames[:0]
	}
	return ErrBusy
}

// loadFrames learns which page is in which frame.
func (db *DB) loadFrames(x index) error {
	if x.salt != db.last.salt || int(x.frames) < len(db.frames) {
		db.frames = db.frames[:0]
	}
	// A transaction that was rolled back leaves none behind: they are no part of
	// the header's count.
	for len(db.frames) < int(x.frames) {
		n := len(db.frames)
		offset, room := int64(indexHeader+4*n), firstBlock-n
		if n >= firstBlock {
			block, at := 1+(n-firstBlock)/4096, (n-firstBlock)%4096
			offset, room = int64(block*indexBlock+4*at), 4096-at
		}
		b := make([]byte, 4*min(room, int(x.frames)-n))
		if _, err := db.shm.ReadAt(b, offset); err != nil {
			return err
		}
		for ; len(b) > 0; b = b[4:] {
			db.frames = append(db.frames, binary.NativeEndian.Uint32(b))
		}
	}
	return nil
}
