// Package storerig has stores for tests: real ones, whose events are counted from 1, that fail when
// they are told to.
package storerig

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// Store is one that lasts as long as the test.
type Store struct {
	*store.Store

	mu     sync.Mutex
	fails  error
	writes bool
	full   bool
	ran    bool                       // a write has run into it
	before func(events []store.Entry) // is called before they are written
}

// Open opens a store in the directory, "" for one that nobody else has.
func Open(t testing.TB, dir string) *Store {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if dir == "" {
		dir = t.TempDir()
	}
	open := func() *store.Store {
		s, err := store.Open(t.Context(), dir, store.Limit{Age: 1000 * time.Hour, Bytes: 1 << 40})
		must(err)
		return s
	}
	s := open()
	if _, newest, err := s.Span(t.Context()); err == nil && newest >= 1<<20 { // it was made just now
		s.Close()
		db, err := sql.Open("sqlite", filepath.Join(dir, "relay.db"))
		must(err)
		_, err = db.Exec(`UPDATE log SET first = 1`)
		must(errors.Join(err, db.Close(), os.Remove(filepath.Join(dir, "newest"))))
		s = open()
	}
	t.Cleanup(s.Close)
	return &Store{Store: s}
}

// Fill makes the store take nothing, which the first write finds out, until it does again.
func (s *Store) Fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full, s.ran = full, false
}

// Fail makes the next write fail, which may have been done all the same.
func (s *Store) Fail(err error, writes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.writes = err, writes
}

// Before has f called before events are written.
func (s *Store) Before(f func(events []store.Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Commit writes, or fails as it was told to.
func (s *Store) Commit(ctx context.Context, events []store.Entry, rows router.Rows) error {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(events)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		s.ran = true
		return store.ErrFull
	}
	if err := s.fails; err != nil {
		s.fails = nil
		if s.writes {
			err = errors.Join(err, s.Store.Commit(ctx, events, rows))
		}
		return err
	}
	return s.Store.Commit(ctx, events, rows)
}

// Room has none once a write has found the store full.
func (s *Store) Room(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full && s.ran {
		return store.ErrFull
	}
	return s.Store.Room(n)
}

// Count is how many events there are.
func (s *Store) Count(t testing.TB) int {
	t.Helper()
	n, _, err := s.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
