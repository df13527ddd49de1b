package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"relay-pty/protocol/own"
)

// DamagedError is that the file of a store cannot be read as it is. It is left as it is.
type DamagedError struct {
	Dir string
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store %s: relay.db is damaged: %v", e.Dir, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *DamagedError) Hint() string {
	return "relay doctor --fix copies it aside, and goes on with all that can be read of it; agents that run go on meanwhile"
}

// Explain makes a *DamagedError of an error that tells of damage.
func Explain(dir string, err error) error {
	var known *DamagedError
	if corrupt(err) && !errors.As(err, &known) {
		return &DamagedError{dir, err}
	}
	return err
}

// corrupt reports whether SQLite found what it read damaged, or no database at all.
func corrupt(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

var errEmpty = errors.New("it is empty, and had events")

// before looks at the files before SQLite opens them: it takes an empty file for a new one, and
// throws a WAL away that belongs to it. Where there is no log yet but for its version, it has begun
// to be made.
func (s *Store) before(ctx context.Context) error {
	_, seq, err := readNewest(s.where)
	if err != nil {
		return err
	}
	info, err := os.Lstat(s.file)
	switch {
	case err == nil && info.Size() == 0 && (seq > 0 || hasBytes(s.file+"-wal")):
		return &DamagedError{s.place, errEmpty}
	case errors.Is(err, fs.ErrNotExist) && hasBytes(s.file+"-wal"):
		aside, err := makeAside(s.dir)
		if err == nil {
			err = os.Rename(s.file+"-wal", filepath.Join(aside, filepath.Base(s.file)+"-wal"))
		}
		return err
	case err != nil || info.Size() == 0:
		return nil // one is made
	}
	db, err := readOnly(s.file)
	if err != nil {
		return err
	}
	defer db.Close() // only read
	version := 0
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	switch {
	case err == nil && version > Version:
		err = newer(version)
	case err == nil && version == 0 && seq > 0:
		err = &DamagedError{s.place, errEmpty}
	}
	return err
}

func hasBytes(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// makeAside makes a directory for what is put aside.
func makeAside(dir string) (aside string, err error) {
	aside = filepath.Join(dir, "damaged-"+time.Now().Format("20060102-150405.000"))
	return aside, os.Mkdir(aside, 0o700)
}

// after looks, when the log is open, whether it goes as far as it went, and at what the router
// reads first and makes anew when it is damaged.
func (s *Store) after() (err error) {
	if s.newest, err = openNewest(s.where); err != nil {
		return err
	}
	switch told := s.newest; {
	case told.epoch != "" && told.epoch != s.epoch:
		s.Lost = told.seq
	case told.seq > s.last.Load(): // they are missing; see missing
		s.last.Store(told.seq)
	}
	s.newest.write(s.epoch, s.last.Load())
	return nil
}

// readOnly opens the file of a store to look at it: nothing is made or changed, but where a router
// runs, or was killed, for a file by which those that read know of each other.
func readOnly(file string) (*sql.DB, error) {
	set := "mode=ro&_pragma=busy_timeout(10000)"
	if !hasBytes(file + "-wal") {
		set += "&immutable=1"
	}
	return sql.Open("sqlite", fileURL(file, set))
}

// Inspect reads all of the store at a place, and tells what is damaged or missing. It changes
// nothing. What is no store of this version, or not ours, is not looked at.
func Inspect(ctx context.Context, place string) (found []string, err error) {
	s := &Store{where: at(place)}
	info, err := os.Lstat(s.file)
	if err != nil || own.Check(s.file, "") != nil || own.Trust(s.dir, "") != nil {
		return nil, nil // there is none, or that is told elsewhere
	}
	epoch, seq, err := readNewest(s.where)
	if err != nil {
		return nil, nil // as before
	}
	if info.Size() == 0 {
		if seq > 0 || hasBytes(s.file+"-wal") {
			found = []string{"relay.db is damaged: " + errEmpty.Error()}
		}
		return found, nil
	}
	db, err := readOnly(s.file)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var version int
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	switch {
	case err == nil && version == 0 && seq > 0:
		return []string{"relay.db is damaged: " + errEmpty.Error()}, nil
	case err == nil && version != Version:
		return nil, nil
	}
	var log numbers
	if err == nil {
		s.epoch, log, err = spanOf(ctx, db)
	}
	if err == nil {
		if s.epoch == epoch {
			log.last = max(log.last, seq)
		}
		found, err = lookAtAll(ctx, db, func() numbers { return log })
	}
	if corrupt(err) {
		return []string{fmt.Sprintf("relay.db is damaged: %v", err)}, nil
	}
	return found, err
}

// spanOf are the epoch of a log, and the numbers of its events.
func spanOf(ctx context.Context, db *sql.DB) (epoch string, all numbers, err error) {
	const span = `SELECT epoch, first, (SELECT coalesce(max(seq), first - 1) FROM events) FROM log`
	err = db.QueryRowContext(ctx, span).Scan(&epoch, &all.first, &all.last)
	return epoch, all, err
}
