package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// saving is the n-th, which leaves one page more; all have the same number.
func saving(n int) router.Saving {
	v := router.Saving{State: fmt.Append(nil, n)}
	for i := range n {
		p := router.Page{Place: router.Place{Seq: int64(i), ID: fmt.Sprint("m", i)}, Open: i%2 == 0}
		p.Line, p.All = fmt.Append(nil, n), fmt.Append(make([]byte, 3000), n)
		v.Pages = append(v.Pages, p)
	}
	return v
}

// TestMain saves on and on where it is told to.
func TestMain(m *testing.M) {
	begins = func(time.Time) int64 { return 1 } // which is easier to read
	dir := os.Getenv("STORE_TO_FILL")
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(context.Background(), dir, month)
	for n := 1; err == nil; n++ {
		if err = s.Save(saving(n % 50)); err == nil {
			_, err = fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestAKillLeavesTheWhole: whenever whoever saves is killed, the file has one saving as a whole.
func TestAKillLeavesTheWhole(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TO_FILL="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
		fmt.Fscan(out, new(int)) // it has saved once, and is saving
		time.AfterFunc(30*time.Millisecond, func() { cmd.Process.Kill() })
		cmd.Wait() // by the kill
		whole(t, dir)
	}
}

func whole(t *testing.T, dir string) {
	t.Helper()
	f := open(t, dir)
	defer f.Close()
	var n, lines int
	state, err := f.Load(func(router.Place, []byte) error { lines++; return nil }, func(string) {})
	if err != nil || state == nil {
		t.Fatalf("%q, %v", state, err)
	}
	if _, err := fmt.Sscan(string(state), &n); err != nil || lines < n {
		t.Fatalf("the state is %q, with %d lines, %v", state, lines, err)
	}
	for i := range n {
		if got := f.Find(fmt.Sprint("m", i)); string(got[3000:]) != string(state) {
			t.Errorf("page %d is of %q, the state of %s", i, got[3000:], state)
		}
	}
}

// TestAStoreThatLostItsPlaceKeepsNothing: what is saved into it is told as not saved.
func TestAStoreThatLostItsPlaceKeepsNothing(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	must(t, s.Save(saving(1)))
	must(t, os.Remove(s.file()))
	if err := s.Save(saving(2)); !errors.Is(err, ErrGone) {
		t.Errorf("it is said to be kept: %v", err)
	}
}

// TestDamagedRows: a row that is not as it was written is never told as it is. Events are passed
// over, and the state is made anew from the log.
func TestDamagedRows(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for i := range 3 {
		_, err := s.Append(t.Context(), "state", "bob", fmt.Append(nil, "event ", i))
		must(t, err)
	}
	must(t, s.Save(saving(2)))
	for _, change := range []string{
		`UPDATE events SET data = 'event X' WHERE seq = 2`, `UPDATE messages SET data = 'X' WHERE id = 'm1'`, `UPDATE state SET data = '3'`,
	} {
		_, err := s.w.Exec(change)
		must(t, err)
	}
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if got := s.all(t, 0); fmt.Sprint(got) != "[1 event 0 3 event 2]" || fmt.Sprint(s.Damaged()) != "[2]" {
		t.Errorf("read %q, damaged: %v", got, s.Damaged())
	}
	if _, ok, err := s.Get(t.Context(), 2); ok || err != nil {
		t.Errorf("event 2 is there: %v, %v", ok, err)
	}
	if s.Find("m0") == nil || s.Find("m1") != nil {
		t.Errorf("found %q and %q", s.Find("m0"), s.Find("m1"))
	}
	if state, err := s.Load(func(router.Place, []byte) error { return nil }, func(string) {}); err == nil {
		t.Errorf("the state is %q", state)
	}
	must(t, s.Save(router.Saving{State: []byte("3"), Drop: []router.Place{{Seq: 0, ID: "m0"}}}))
	left := []string{}
	_, err := s.Load(func(p router.Place, _ []byte) error { left = append(left, p.ID); return nil }, func(string) {})
	if err != nil || fmt.Sprint(left) != "[m1]" || s.Find("m0") != nil {
		t.Errorf("m0 is forgotten: %v are left, %v", left, err)
	}
	must(t, s.Clear())
	if state, err := s.Load(nil, nil); state != nil || err != nil {
		t.Errorf("cleared: %q, %v", state, err)
	}
}

// TestOldStore: what one of an older version has stays where it is, and that is said once.
func TestOldStore(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "version"), []byte("1\n"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "jetstream"), 0o700))
	for _, want := range []bool{true, false} {
		s := open(t, dir)
		if s.Close(); s.Old != want {
			t.Errorf("old: %v, want %v", s.Old, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		t.Error(err)
	}
}

// TestNewLogs: each has an epoch of its own, and numbers above those of any that was made before.
func TestNewLogs(t *testing.T) {
	now := begins
	defer func() { begins = now }()
	second := int64(1_900_000_000)
	begins = func(time.Time) int64 { second++; return second << 20 }
	dir := t.TempDir()
	epochs, last := map[string]bool{}, int64(0)
	for range 3 {
		s := open(t, dir)
		oldest, newest, err := s.Span(t.Context())
		must(t, err)
		if epochs[s.Epoch()] || s.Epoch() == "" || oldest <= last || newest != oldest-1 {
			t.Errorf("epoch %q of %v, span %d to %d behind %d", s.Epoch(), epochs, oldest, newest, last)
		}
		epochs[s.Epoch()] = true
		last, err = s.Append(t.Context(), "state", "bob", []byte("x"))
		must(t, err)
		s.Close()
		s = open(t, dir)
		if _, newest, err := s.Span(t.Context()); !epochs[s.Epoch()] || newest != last || err != nil {
			t.Errorf("opened again: epoch %s, newest %d, want %d, %v", s.Epoch(), newest, last, err)
		}
		s.Close()
		must(t, errors.Join(os.Remove(s.file())))
	}
}

// TestFilesAreTheUsersAlone: whatever the directory and the umask let others do.
func TestFilesAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	s := open(t, dir)
	defer s.Close()
	_, err := s.Append(t.Context(), "state", "bob", []byte("x"))
	must(t, err)
	for _, name := range []string{"relay.db", "relay.db-wal", "relay.db-shm"} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}
