package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/own"
)

var month = Limit{Age: 30 * 24 * time.Hour, Bytes: 1 << 30}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	l, err := Open(t.Context(), dir, month)
	must(t, err)
	return l
}

// add writes an event, and returns its number.
func (l *Store) add(kind, agent string, data []byte) (seq int64, err error) {
	seq = l.last.Load() + 1
	return seq, l.Commit(context.Background(), []Entry{{seq, kind, agent, data}}, router.Rows{})
}

func (l *Store) all(t *testing.T, after int64) (list []string) {
	t.Helper()
	err := l.Read(t.Context(), after, func(seq int64, data []byte) error {
		list = append(list, fmt.Sprintf("%d %s", seq, data))
		return nil
	})
	must(t, err)
	return list
}

func TestALogIsReadAsItWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	l := open(t, dir)
	if got := l.all(t, 0); len(got) != 0 {
		t.Errorf("a new log holds %q", got)
	}
	var want []string
	for i, agent := range []string{"bob", "b.o-b_1", "", "bob"} {
		seq, err := l.add("state", agent, fmt.Append(nil, "event ", i))
		if err != nil || seq != int64(i+1) {
			t.Fatalf("got %d, %v", seq, err)
		}
		want = append(want, fmt.Sprintf("%d event %d", seq, i))
	}
	if got := l.all(t, 0); strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("got %q, want %q", got, want)
	}
	l.Close()
	l = open(t, dir)
	defer l.Close()
	if got := l.all(t, 1); strings.Join(got, ",") != strings.Join(want[1:], ",") {
		t.Errorf("opened again: got %q, want %q", got, want[1:])
	}
	if got := l.all(t, 4); len(got) != 0 {
		t.Errorf("behind the last: %q", got)
	}
	if oldest, newest, err := l.Span(t.Context()); oldest != 1 || newest != 4 || err != nil {
		t.Errorf("span %d to %d, %v", oldest, newest, err)
	}
	stop := errors.New("enough")
	seen := 0
	err := l.Read(t.Context(), 0, func(int64, []byte) error { seen++; return stop })
	if !errors.Is(err, stop) || seen != 1 {
		t.Errorf("stopped after %d with %v", seen, err)
	}
}

func TestOneProcessHasAStore(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	defer l.Close()
	var held *own.HeldError
	if _, err := Open(t.Context(), dir, month); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
}

// TestAStoreOfANewerVersionIsLeftAlone: an older program refuses it and touches nothing.
func TestAStoreOfANewerVersionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if _, err := l.add("state", "bob", []byte("x")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	path := filepath.Join(dir, "version")
	for _, is := range []string{"3\n", "new\n"} {
		must(t, os.WriteFile(path, []byte(is), 0o600))
		if _, err := Open(t.Context(), dir, month); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("version %q: got %v", is, err)
		}
		if b, err := os.ReadFile(path); string(b) != is || err != nil {
			t.Errorf("the version is %q now, %v", b, err)
		}
	}
	must(t, os.WriteFile(path, []byte("2\n"), 0o600))
	l = open(t, dir)
	defer l.Close()
	if got := l.all(t, 0); len(got) != 1 {
		t.Errorf("it holds %q", got)
	}
}

// TestTheOldestGoFirst: what is too much, or too old, goes when it is told to, and no sooner.
func TestTheOldestGoFirst(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(t.Context(), dir, Limit{Age: time.Hour, Bytes: 1 << 20})
	must(t, err)
	for i := range 100 {
		if _, err := l.add("state", "bob", append([]byte{byte(i)}, make([]byte, 10_000)...)); err != nil {
			t.Fatal(err)
		}
	}
	excess := func(older byte) int64 {
		t.Helper()
		upTo, err := l.Excess(t.Context(), func(data []byte) bool { return data[0] < older })
		must(t, err)
		return upTo
	}
	bySize := excess(0)
	if oldest, newest, err := l.Span(t.Context()); oldest != 1 || newest != 100 || err != nil || bySize < 8 || bySize > 30 {
		t.Fatalf("span %d to %d, %v; up to %d is too much", oldest, newest, err, bySize)
	}
	for upTo, want := range map[byte]int64{95: 95, 100: 99, 1: bySize} {
		if got := excess(upTo); got != want {
			t.Errorf("%d events are old: up to %d may go, want %d", upTo, got, want)
		}
	}
	must(t, l.Trim(t.Context(), bySize))
	if got := excess(0); got != 0 {
		t.Errorf("then up to %d may go", got)
	}
	for range 2 {
		seq, err := l.add("state", "bob", []byte{50})
		must(t, err)
		if got := l.all(t, 0); int64(len(got)) != seq-bySize {
			t.Errorf("%d events from %d to %d", len(got), bySize+1, seq)
		}
		l.Close()
		l = open(t, dir)
	}
	l.Close()
}

// TestAStoreThatLosesItsPlaceTakesNoMore: an event is never said to be kept in a file that nobody
// finds again, whatever of the store was removed or moved away.
func TestAStoreThatLosesItsPlaceTakesNoMore(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"all is removed":            os.RemoveAll,
		"it is moved away":          func(dir string) error { return os.Rename(dir, dir+".old") },
		"what is above it is moved": func(dir string) error { return os.Rename(filepath.Dir(dir), filepath.Dir(dir)+".old") },
		"another is in its place": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.CopyFS(dir, os.DirFS(dir+".old")))
		},
		"its lock is removed":            func(dir string) error { return os.Remove(filepath.Join(dir, "lock")) },
		"its events are removed":         func(dir string) error { return os.Remove(filepath.Join(dir, "relay.db")) },
		"what is not in its file yet is": func(dir string) error { return os.Remove(filepath.Join(dir, "relay.db-wal")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "above", "store")
			l := open(t, dir)
			defer l.Close()
			if _, err := l.add("state", "bob", []byte("x")); err != nil {
				t.Fatal(err)
			}
			must(t, lose(dir))
			for range 2 {
				if seq, err := l.add("state", "bob", []byte("y")); !errors.Is(err, ErrGone) {
					t.Errorf("event %d, %v", seq, err)
				}
			}
		})
	}
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAStoreByItsFile: it may be named by SQLite's file; what belongs to that stands beside it, so
// that two of them have room in one directory.
func TestAStoreByItsFile(t *testing.T) {
	dir := t.TempDir()
	for place, want := range map[string][]string{
		"a.db":        {"a.db", "a.db-lock", "a.db-newest", "a.db-version"},
		"b.sqlite":    {"b.sqlite", "b.sqlite-lock", "b.sqlite-newest", "b.sqlite-version"},
		"in/relay.db": {"in/relay.db", "in/lock", "in/newest", "in/version"},
		"there":       {"there/relay.db", "there/lock", "there/newest", "there/version"},
		".hidden":     {".hidden/relay.db", ".hidden/lock", ".hidden/newest", ".hidden/version"},
	} {
		s, err := Open(t.Context(), filepath.Join(dir, place), month)
		must(t, err)
		for _, name := range want {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s is %v, %v", place, name, info, err)
			}
		}
		if _, err := Open(t.Context(), filepath.Join(dir, want[0]), month); err == nil {
			t.Errorf("%s is opened twice", want[0])
		}
		epoch := s.Epoch()
		s.Close()
		if s, err = Open(t.Context(), filepath.Join(dir, want[0]), month); err != nil || s.Epoch() != epoch {
			t.Errorf("%s, opened again by its file: %v", place, err)
		} else {
			s.Close()
		}
	}
}
