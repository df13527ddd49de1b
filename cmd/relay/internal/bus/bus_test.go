package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var month = Keep{Age: 30 * 24 * time.Hour, Bytes: 1 << 30}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(t.Context(), dir, month)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *Log) all(t *testing.T, after int64) (list []string) {
	t.Helper()
	err := l.Read(t.Context(), after, func(seq int64, data []byte) error {
		list = append(list, fmt.Sprintf("%d %s", seq, data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
		seq, err := l.Append(t.Context(), "state", agent, fmt.Append(nil, "event ", i))
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
	var held *HeldError
	if _, err := Open(t.Context(), dir, month); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
}

// TestAStoreOfANewerVersionIsLeftAlone: an older program refuses it and touches nothing.
func TestAStoreOfANewerVersionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if _, err := l.Append(t.Context(), "state", "bob", []byte("x")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	path := filepath.Join(dir, "version")
	for _, is := range []string{"2\n", "new\n"} {
		if err := os.WriteFile(path, []byte(is), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dir, month); err == nil || !strings.Contains(err.Error(), "version") {
			t.Errorf("version %q: got %v", is, err)
		}
		if b, err := os.ReadFile(path); string(b) != is || err != nil {
			t.Errorf("the version is %q now, %v", b, err)
		}
	}
	if err := os.WriteFile(path, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	defer l.Close()
	if got := l.all(t, 0); len(got) != 1 {
		t.Errorf("it holds %q", got)
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir(), Keep{Age: time.Hour, Bytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 20 {
		if _, err := l.Append(t.Context(), "state", "bob", make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	oldest, newest, err := l.Span(t.Context())
	if err != nil || newest != 20 || oldest < 15 {
		t.Errorf("span %d to %d, %v", oldest, newest, err)
	}
	if got := l.all(t, 0); int64(len(got)) != newest-oldest+1 {
		t.Errorf("%d events from %d to %d", len(got), oldest, newest)
	}
}
