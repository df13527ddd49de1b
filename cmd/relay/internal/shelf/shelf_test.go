package shelf

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

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
	path := os.Getenv("SHELF_TO_FILL")
	if path == "" {
		os.Exit(m.Run())
	}
	f, err := Open(path)
	for n := 1; err == nil; n++ {
		if err = f.Keep(saving(n % 50)); err == nil {
			_, err = fmt.Println(n)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestAKillLeavesTheWhole: whenever whoever saves is killed, the file has one saving as a whole.
func TestAKillLeavesTheWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for range 5 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "SHELF_TO_FILL="+path)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
		fmt.Fscan(out, new(int)) // it has saved once, and is saving
		time.AfterFunc(30*time.Millisecond, func() { cmd.Process.Kill() })
		cmd.Wait() // by the kill
		whole(t, path)
	}
}

func whole(t *testing.T, path string) {
	t.Helper()
	f, err := Open(path)
	must(t, err)
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

// TestOthersAreMadeAnew: what is kept by another version is nothing to us.
func TestOthersAreMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, err := Open(path)
	if err == nil {
		err = f.Keep(saving(3))
	}
	must(t, err)
	f.Close()
	for _, want := range []bool{true, false} {
		if f, err = Open(path); err != nil {
			t.Fatal(err)
		}
		if got := f.Find("m1") != nil; got != want {
			t.Errorf("kept: %v, want %v", got, want)
		}
		err = f.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(states).Put(versions, []byte("0")) })
		must(t, err)
		f.Close()
	}
}

// TestOpeningWritesNothing: a file that is there is read on a full disk, too.
func TestOpeningWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, err := Open(path)
	if err == nil {
		err = f.Keep(saving(3))
	}
	must(t, err)
	f.Close()
	was, err := os.ReadFile(path)
	must(t, err)
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, was) {
		t.Errorf("the file was written, %v", err)
	}
}

// TestAFileThatLostItsNameKeepsNothing: what is saved into it is told as not saved.
func TestAFileThatLostItsNameKeepsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	f, err := Open(path)
	must(t, err)
	defer f.Close()
	must(t, f.Keep(saving(1)))
	must(t, os.Remove(path))
	if err := f.Keep(saving(2)); err == nil {
		t.Error("it is said to be kept")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
