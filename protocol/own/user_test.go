package own

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// TestHomeWithoutHOME is that of the passwd entry, which cron and service managers leave us.
func TestHomeWithoutHOME(t *testing.T) {
	entry, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil || !filepath.IsAbs(entry.HomeDir) {
		t.Logf("NOT RUN: there is no passwd entry: %v", err)
		return
	}
	t.Setenv("XDG_STATE_HOME", "")
	for home, want := range map[string]string{"": entry.HomeDir, "/home/of/alice": "/home/of/alice"} {
		t.Setenv("HOME", home)
		if got, err := HomeDir(); err != nil || got != want {
			t.Errorf("HOME=%q: %s, %v; want %s", home, got, err, want)
		}
		if got, err := StateDir(); err != nil || got != filepath.Join(want, ".local", "state") {
			t.Errorf("HOME=%q: %s, %v", home, got, err)
		}
	}
	for state, want := range map[string]string{"/state/": "/state", "relative": "/home/of/alice/.local/state"} {
		t.Setenv("HOME", "/home/of/alice")
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := StateDir(); err != nil || got != want {
			t.Errorf("XDG_STATE_HOME=%q: %s, %v; want %s", state, got, err, want)
		}
	}
}

// TestSigned: a lock's file tells where its owner listens, also when it was made anew; what is not
// a file of ours alone tells nothing.
func TestSigned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if by, ok := Signed(path); ok {
		t.Errorf("no file: %+v", by)
	}
	must(t, os.WriteFile(path, []byte("pid 4711 started 1 name relay socket /of/one/that/was/killed/and/had/a/long/path\n"), 0o600))
	lock, err := Hold(path, "lock", "--lock", "relay")
	must(t, err)
	defer lock.Release()
	if by, ok := Signed(path); !ok || by.PID != os.Getpid() || by.Socket != "" {
		t.Errorf("before it listens: %+v, %v", by, ok)
	}
	const socket = "/run/user/1/a dir/router.sock"
	must(t, lock.Tell(socket))
	for range 2 {
		if by, ok := Signed(path); !ok || by.PID != os.Getpid() || by.Socket != socket {
			t.Errorf("got %+v, %v", by, ok)
		}
		must(t, os.Remove(path))
		if _, err := lock.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	must(t, os.Chmod(path, 0o644))
	if by, ok := Signed(path); ok {
		t.Errorf("others read it: %+v", by)
	}
	must(t, os.Chmod(path, 0o600))
	must(t, os.Symlink(path, path+".link"))
	if by, ok := Signed(path + ".link"); ok {
		t.Errorf("by a link: %+v", by)
	}
	if os.Geteuid() == 0 {
		must(t, os.Chown(path, 65534, 65534))
		if by, ok := Signed(path); ok {
			t.Errorf("of another user: %+v", by)
		}
	}
	for _, text := range []string{"", "pid", "pid x socket /s", "pid 5 started 1 name relay socket relative\n", "pid 5 started 1 name relay socket /cut"} {
		bad := filepath.Join(t.TempDir(), "bad")
		must(t, os.WriteFile(bad, []byte(text), 0o600))
		if by, _ := Signed(bad); by.Socket != "" {
			t.Errorf("%q tells %+v", text, by)
		}
	}
}
