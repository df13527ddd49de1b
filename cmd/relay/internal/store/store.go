// Package store keeps the router's truth in one SQLite file: the log of events, whose numbers are
// the public cursors, and what they add up to: messages, agents, and members of channels. Events
// and the rows that they change are on disk when [Store.Commit] returns; a kill at any moment
// leaves all of them or none. Rows have checksums, for SQLite's own checks find no flipped bit in a
// value. One process at a time has a store.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver

	"relay-pty/protocol/own"
)

// Limit says how much of the log is kept; the oldest events go first.
type Limit struct {
	Age   time.Duration
	Bytes int64
}

// Version is that of the store's layout; it stands in the store's file "version".
const Version = 2

// schema is what a new file is given.
const schema = `
CREATE TABLE events (
	seq   INTEGER PRIMARY KEY,
	type  TEXT NOT NULL,
	agent TEXT NOT NULL, -- whom it is about, or ''
	data  TEXT NOT NULL, -- all of it, as JSON
	sum   INTEGER NOT NULL
);
CREATE TABLE messages (
	n         INTEGER PRIMARY KEY, -- the newest has the highest
	id        TEXT NOT NULL UNIQUE,
	short     TEXT, -- id that is read in place of a longer one
	root      TEXT, -- id of the message to several that it is of
	seq       INTEGER NOT NULL, -- of the event that accepted it, or set it for later
	sender    TEXT NOT NULL,
	recipient TEXT NOT NULL,
	status    TEXT NOT NULL,
	sent      INTEGER NOT NULL, -- it was accepted, and is no more for later
	part      INTEGER NOT NULL, -- one of several got it
	open      INTEGER NOT NULL, -- it has not ended
	dead      INTEGER NOT NULL, -- it did not arrive, or may not have, and was not sent again
	last      INTEGER NOT NULL, -- number of the newest event about it
	data      TEXT NOT NULL,    -- all of it, as JSON
	sum       INTEGER NOT NULL
);
CREATE INDEX messages_short ON messages (short) WHERE short IS NOT NULL;
CREATE INDEX messages_root ON messages (root) WHERE root IS NOT NULL;
CREATE INDEX messages_to ON messages (recipient, seq, sender) WHERE sent;
CREATE INDEX messages_from ON messages (sender, seq) WHERE sent AND NOT part;
CREATE INDEX messages_sent ON messages (seq) WHERE sent AND NOT part;
CREATE INDEX messages_open ON messages (seq) WHERE open;
CREATE INDEX messages_dead ON messages (seq) WHERE dead;
CREATE INDEX messages_ended ON messages (status) WHERE sent AND NOT open;
CREATE INDEX messages_old ON messages (last) WHERE root IS NULL AND NOT open;
CREATE VIEW messages_by_agent AS -- for people: who got what, from whom, and what became of it
	SELECT recipient AS agent, datetime(json_extract(data, '$.Accepted') / 1000, 'unixepoch', 'localtime') AS accepted, sender, id, status,
		json_extract(data, '$.body') AS body, json_extract(data, '$.reply_to') AS reply_to, json_extract(data, '$.thread') AS thread
	FROM messages WHERE sent AND recipient <> '*' AND recipient NOT LIKE '#%' ORDER BY seq, n;
CREATE TABLE agents (
	name TEXT PRIMARY KEY,
	data TEXT NOT NULL, -- what is known of it, as JSON
	sum  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE members (
	channel TEXT NOT NULL,
	name    TEXT NOT NULL,
	PRIMARY KEY (channel, name)
) WITHOUT ROWID;
CREATE TABLE log ( -- one row
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	epoch TEXT NOT NULL,   -- differs from that of any other log
	first INTEGER NOT NULL -- number of the event that is to be the first
);
`

// Store is an open store. Commit, Trim and Forget are for one goroutine at a time each, the rest
// for any.
type Store struct {
	where
	limit  Limit
	lock   *own.Lock
	places []own.Place // what is open
	spare  int64       // bytes of the disk that are left to others

	// Old says that the files of an older version are in the directory, which are not read. It is
	// said once.
	Old bool
	// Lost is the number of the newest event of the log that was here before this one, and is gone
	// with its file; 0: there was none.
	Lost int64

	newest      newest
	epoch       string
	first, last atomic.Int64 // numbers of the oldest and the newest event

	writing sync.Mutex // held while something is written
	w, r    *sql.DB    // the one connection that writes, and those that read
	does    statements

	mu      sync.Mutex
	damaged map[string]bool // rows that were passed over
	found   []string        // what is damaged or missing
}

// where is where a store is.
type where struct {
	place string // as it was said
	dir   string
	file  string // SQLite's
}

// at is where a store is: in a directory, as relay.db, or in a file, which has an extension.
func at(place string) where {
	info, err := os.Stat(place)
	if err == nil && info.IsDir() || strings.LastIndexByte(filepath.Base(place), '.') < 1 {
		return where{place, place, filepath.Join(place, "relay.db")}
	}
	return where{place, filepath.Dir(place), place}
}

// beside is one of our files that belong to SQLite's. Those of relay.db have names of their own.
func (w where) beside(name string) string {
	if filepath.Base(w.file) == "relay.db" {
		return filepath.Join(w.dir, name)
	}
	return w.file + "-" + name
}

// Open opens the store at a place: a directory, or SQLite's file. It makes what is missing. One
// that another process has is an *[own.HeldError]; one of a newer version is refused, and left
// alone.
func Open(ctx context.Context, place string, limit Limit) (*Store, error) {
	w := at(place)
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := hold(w)
	if err != nil {
		return nil, err
	}
	s := &Store{where: w, limit: limit, lock: lock, spare: spare}
	if err := s.begin(ctx); err != nil {
		s.Close()
		if damaged := Explain(place, err); damaged != err {
			return nil, damaged
		}
		return nil, fmt.Errorf("open store %s: %w", place, err)
	}
	return s, nil
}

// hold takes the lock of a store whose directory is ours.
func hold(w where) (*own.Lock, error) {
	if err := own.Trust(w.dir, "--store"); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return own.Hold(w.beside("lock"), "store "+w.place, "--store", own.Router)
}

func (s *Store) begin(ctx context.Context) (err error) {
	file := s.beside("version")
	version, err := readVersion(file)
	if err != nil {
		return err
	}
	for _, beside := range []string{"", "-wal", "-shm", "-journal"} {
		if err := own.Check(s.file+beside, moveAway); err != nil {
			return err
		}
	}
	if err := s.before(ctx); err != nil {
		return err
	}
	if s.Old = 0 < version && version < Version; version != Version {
		if err := own.Write(file, []byte(strconv.Itoa(Version)+"\n")); err != nil {
			return err
		}
	}
	// SQLite gives what it makes beside the file the mode of the file.
	f, err := own.Open(s.file, os.O_CREATE|os.O_RDWR, moveAway)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if s.w, err = s.connect("immediate", 1); err != nil {
		return err
	}
	if s.r, err = s.connect("deferred", readers); err != nil {
		return err
	}
	if err := s.make(ctx); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.after(); err != nil {
		return err
	}
	for _, path := range []string{s.dir, s.file, s.file + "-wal", s.lock.Path()} {
		place, err := own.At(path)
		if err != nil {
			return err
		}
		s.places = append(s.places, place)
	}
	return nil
}

// moveAway is what to do about something in the place of one of our files.
const moveAway = "move it away, or choose another --store"

// readers is how many may read at once.
const readers = 4

// connect opens the file. What was committed is on disk: that is what synchronous=FULL is in a WAL.
func (s *Store) connect(lock string, most int) (*sql.DB, error) {
	set := url.Values{"_txlock": {lock}, "_pragma": {
		"busy_timeout(10000)", "auto_vacuum(incremental)", "journal_mode(wal)", "synchronous(full)", "journal_size_limit(4194304)",
	}}
	db, err := sql.Open("sqlite", fileURL(s.file, set.Encode()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	if err := db.Ping(); err != nil {
		db.Close() // already failing
		return nil, err
	}
	return db, nil
}

func fileURL(path, query string) string {
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query}).String()
}

// make gives a new file its tables, and looks how far the log goes.
func (s *Store) make(ctx context.Context) error {
	var is int
	if err := s.w.QueryRowContext(ctx, "PRAGMA user_version").Scan(&is); err != nil {
		return err
	}
	if is == 0 {
		err := s.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", Version))
			if err == nil {
				_, err = tx.ExecContext(ctx, `INSERT INTO log (one, epoch, first) VALUES (1, ?, ?)`, rand.Text(), begins(time.Now()))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if _, err := s.w.ExecContext(ctx, checks); err != nil {
		return err
	}
	epoch, all, err := spanOf(ctx, s.r)
	s.epoch = epoch
	s.first.Store(all.first)
	s.last.Store(all.last)
	return err
}

func newer(version int) error {
	return fmt.Errorf("it is of version %d, and this relay knows %d: use the newer relay, or another --store", version, Version)
}

// begins is the number with which a log begins that is made then. It is above all of any earlier
// one, so that whoever comes with one of those is told that what came after it is gone.
var begins = func(now time.Time) int64 { return now.Unix() << 20 }

// Epoch tells this log from others.
func (s *Store) Epoch() string { return s.epoch }

// write does something in one transaction.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.w.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		tx.Rollback() // already failing
		return err
	}
	return tx.Commit()
}

// Tell lets whoever finds the store know where its router listens.
func (s *Store) Tell(socket string) error { return s.lock.Tell(socket) }

// LockFile is the file of the lock of a store at a place.
func LockFile(place string) string { return at(place).beside("lock") }

// readVersion is what the file says, 0 where there is none, and refuses a newer program's. What one
// of an older version has is not read: its files are left where they are.
func readVersion(path string) (is int, err error) {
	b, err := own.Tail(path, moveAway, 100)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err == nil {
		if is, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
			err = fmt.Errorf("%s holds no version: %w; write %d into it, or move it away", path, err, Version)
		}
	}
	if err == nil && is > Version {
		err = newer(is)
	}
	return is, err
}

// ErrGone is that the store lost its place while it was open: what is written would go to files
// that nobody finds again. Nothing more is appended, and the event was not kept.
var ErrGone = errors.New("the log is gone")

// Dir is the store's directory.
func (s *Store) Dir() string { return s.dir }

// Files are those of the store, its directory and its lock.
func (s *Store) Files() (list []string) {
	for _, p := range s.places {
		list = append(list, p.Path)
	}
	return list
}

// Keep makes nothing anew, which would only be in the way of whoever removes the store.
func (s *Store) Keep() (anew bool, err error) { return false, s.Gone() }

// Gone says, with ErrGone, that what is open is no longer at its place.
func (s *Store) Gone() error {
	for _, p := range s.places {
		if err := p.Gone(); err != nil {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
}

// Close gives the store up. One that lost its place is not closed: SQLite would remove by their
// names what may be files of another by now. It ends with the process.
func (s *Store) Close() {
	for _, db := range []*sql.DB{s.r, s.w} {
		if db != nil && s.Gone() == nil {
			db.Close() // all that counts was committed
		}
	}
	if s.newest.file != nil {
		s.newest.file.Close() // it was only a hint
	}
	s.lock.Release()
}
