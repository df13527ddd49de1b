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

// rows is the n-th commit's: n messages, an agent and a member, all of which tell its number.
func rows(n int) router.Rows {
	v := router.Rows{Agents: map[string][]byte{"bob": fmt.Append(nil, n)}, Members: map[router.Member]bool{}}
	for _, c := range []int{n - 1, n} {
		v.Members[router.Member{Channel: fmt.Sprint("#", c), Name: "bob"}] = c == n
	}
	for i := range 50 {
		r := router.Row{ID: fmt.Sprint("m", i), Seq: int64(i + 1), From: "ci", To: "bob", Status: fmt.Sprint(n), Sent: true, Open: i%2 == 0, New: n%3 == 0 || n == 1}
		r.Data = fmt.Append(make([]byte, 3000), n)
		v.Messages = append(v.Messages, r)
	}
	return v
}

func (s *Store) commit(n int) error {
	seq := s.last.Load() + 1
	return s.Commit(context.Background(), []Entry{{seq, "state", "bob", fmt.Append(nil, n)}}, rows(n))
}

// TestMain commits on and on where it is told to.
func TestMain(m *testing.M) {
	begins = func(time.Time) int64 { return 1 } // which is easier to read
	dir := os.Getenv("STORE_TO_FILL")
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(context.Background(), dir, month)
	for n := 1; err == nil; n++ {
		if err = s.commit(n); err == nil {
			_, err = fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestAKillLeavesTheWhole: whenever whoever writes is killed, the file has the events and rows of
// each commit that was told, of one behind it or not, and of none a part.
func TestAKillLeavesTheWhole(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TO_FILL="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
		told := 0
		fmt.Fscan(out, &told) // it has written, and is writing
		time.AfterFunc(30*time.Millisecond, func() { cmd.Process.Kill() })
		for err == nil {
			_, err = fmt.Fscan(out, &told)
		}
		cmd.Wait() // by the kill
		whole(t, dir, told)
	}
}

func whole(t *testing.T, dir string, told int) {
	t.Helper()
	s := open(t, dir)
	defer s.Close()
	_, newest, err := s.Span(t.Context())
	must(t, err)
	n := int(newest)
	if n != told && n != told+1 {
		t.Fatalf("there are %d commits, and %d were told", n, told)
	}
	v, err := s.Load()
	want := fmt.Sprint(n)
	if err != nil || len(v.Open) != 25 || len(v.Agents) != 1 || string(v.Agents[0]) != want || len(v.Members) != 1 || v.Members[0].Channel != "#"+want {
		t.Fatalf("at %d there are %d open, agents %q, members %v, %v", n, len(v.Open), v.Agents, v.Members, err)
	}
	for i := range 50 {
		if got := s.Find(fmt.Sprint("m", i)); got == nil || string(got[3000:]) != want {
			t.Errorf("message %d is not of %s", i, want)
		}
	}
}

// TestAStoreThatLostItsPlaceKeepsNothing: what is committed is told as not kept.
func TestAStoreThatLostItsPlaceKeepsNothing(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	must(t, s.commit(1))
	must(t, os.Remove(s.file))
	if err := s.commit(2); !errors.Is(err, ErrGone) {
		t.Errorf("it is said to be kept: %v", err)
	}
}

// TestDamagedRows: a row that is not as it was written is passed over, and told.
func TestDamagedRows(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for n := range 3 {
		must(t, s.commit(n+1))
	}
	for _, change := range []string{
		`UPDATE events SET data = '7' WHERE seq = 2`, `UPDATE messages SET data = 'X' WHERE id IN ('m0', 'm1')`, `UPDATE agents SET data = '4'`,
	} {
		_, err := s.w.Exec(change)
		must(t, err)
	}
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if got := s.all(t, 0); fmt.Sprint(got) != "[1 1 3 3]" {
		t.Errorf("read %q", got)
	}
	if _, ok, err := s.Get(t.Context(), 2); ok || err != nil {
		t.Errorf("event 2 is there: %v, %v", ok, err)
	}
	if s.Find("m1") != nil || s.Find("m2") == nil {
		t.Error("m1 is found, or m2 is not")
	}
	if v, err := s.Load(); len(v.Open) != 24 || len(v.Agents) != 0 || err != nil {
		t.Errorf("%d are open, agents %q, %v", len(v.Open), v.Agents, err)
	}
	if got := fmt.Sprint(s.Damaged()); got != "[agent bob event 2 message m0 message m1]" {
		t.Errorf("damaged: %s", got)
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
		last, err = s.add("state", "bob", []byte("x"))
		must(t, err)
		s.Close()
		s = open(t, dir)
		if _, newest, err := s.Span(t.Context()); !epochs[s.Epoch()] || newest != last || err != nil {
			t.Errorf("opened again: epoch %s, newest %d, want %d, %v", s.Epoch(), newest, last, err)
		}
		s.Close()
		must(t, errors.Join(os.Remove(s.file)))
	}
}

// TestFilesAreTheUsersAlone: whatever the directory and the umask let others do.
func TestFilesAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	s := open(t, dir)
	defer s.Close()
	_, err := s.add("state", "bob", []byte("x"))
	must(t, err)
	for _, name := range []string{"relay.db", "relay.db-wal", "relay.db-shm"} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}
