package home

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/own"
	"relay-pty/protocol/sock"
)

// moved is a user whose environment names one place, and whose router listens in another one.
func moved(t *testing.T) (here string, there *sock.Listener) {
	t.Helper()
	dir := testrig.Dir(t)
	here = filepath.Join(dir, "here")
	for _, made := range []string{here, dir + "/there/relay", dir + "/state/relay"} {
		must(t, os.MkdirAll(made, 0o700))
	}
	t.Setenv("XDG_RUNTIME_DIR", here)
	t.Setenv("XDG_STATE_HOME", dir+"/state")
	there, err := sock.Listen(dir+"/there/relay/router.sock", "relay")
	must(t, err)
	t.Cleanup(func() { there.Close() })
	return here, there
}

// tells has the store's lock say where the router listens.
func tells(t *testing.T, socket string) {
	t.Helper()
	lock, err := own.Hold(store.LockFile(os.Getenv("XDG_STATE_HOME")+"/relay"), "store", "--store", "relay")
	must(t, err)
	must(t, lock.Tell(socket))
	t.Cleanup(lock.Release)
}

// TestLockLeadsToTheRouter wherever that listens, as long as it does.
func TestLockLeadsToTheRouter(t *testing.T) {
	here, there := moved(t)
	at := func(want string) {
		t.Helper()
		for name, find := range map[string]func(string) (Home, error){"find": Find, "look": Look} {
			if h, err := find(""); err != nil || h.Socket != want+"/router.sock" || h.Agents != want+"/agents" {
				t.Errorf("%s: %+v, %v; want %s", name, h, err, want)
			}
		}
	}
	at(here + "/relay")
	tells(t, there.Path())
	at(filepath.Dir(there.Path()))
	if h, err := Here(""); err != nil || h.Socket != here+"/relay/router.sock" {
		t.Errorf("a router's own: %+v, %v", h, err)
	}
	if h, _ := Look(""); h.Because() != "where the router runs, pid "+strconv.Itoa(os.Getpid()) {
		t.Errorf("because %s", h.Because())
	}
	// One that listens here is nearer.
	l, err := sock.Listen(here+"/relay/router.sock", "relay")
	must(t, err)
	at(here + "/relay")
	l.Close()
	at(filepath.Dir(there.Path()))
	there.Close()
	at(here + "/relay")
}

// TestLockThatIsNotBelieved: nothing is asked that listens where others can put something.
func TestLockThatIsNotBelieved(t *testing.T) {
	for what, spoil := range map[string]func(dir, place string) error{
		"an open place": func(_, place string) error { return os.Chmod(place, 0o755) },
		"a place by a link": func(_, place string) error {
			if err := os.Rename(place, place+".real"); err != nil {
				return err
			}
			return os.Symlink(place+".real", place)
		},
		"an open lock": func(dir, _ string) error { return os.Chmod(store.LockFile(dir), 0o666) },
		"a lock by a link": func(dir, _ string) error {
			if err := os.Rename(store.LockFile(dir), dir+"/real"); err != nil {
				return err
			}
			return os.Symlink("real", store.LockFile(dir))
		},
	} {
		t.Run(what, func(t *testing.T) {
			here, there := moved(t)
			tells(t, there.Path())
			must(t, spoil(os.Getenv("XDG_STATE_HOME")+"/relay", filepath.Dir(there.Path())))
			if h, err := Look(""); err != nil || h.Socket != here+"/relay/router.sock" {
				t.Errorf("got %+v, %v", h, err)
			}
		})
	}
}

// TestRouterThatIsNotBeyond: one that is dead, or has our mounts, is not told as one that cannot be
// reached.
func TestRouterThatIsNotBeyond(t *testing.T) {
	_, there := moved(t)
	tells(t, there.Path()+".none") // by this process
	h, err := Look("")
	must(t, err)
	if err := h.Beyond(); err != nil {
		t.Errorf("got %v", err)
	}
	e := &BeyondError{Socket: "/s", PID: 7}
	if e.Hint() == "" || OtherMounts(1<<30) {
		t.Error("a process that is not there has other mounts")
	}
}
