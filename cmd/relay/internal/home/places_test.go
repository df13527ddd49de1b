package home

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// TestBecause: whoever wonders why an agent is not found is told where is looked, and why there.
func TestBecause(t *testing.T) {
	dir := testrig.Dir(t)
	for run, want := range map[string]string{
		"":              "XDG_RUNTIME_DIR is not set",
		dir:             "by XDG_RUNTIME_DIR",
		dir + "/":       "by XDG_RUNTIME_DIR",
		dir + "/absent": "XDG_RUNTIME_DIR is " + dir + "/absent, which is no directory",
	} {
		t.Setenv("XDG_RUNTIME_DIR", run)
		h, err := Look(dir + "/store")
		if got := h.Because(); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", run, got, err, want)
		}
	}
}

// TestStrays: who runs elsewhere is found, and what died there is not.
func TestStrays(t *testing.T) {
	dir := testrig.Dir(t)
	there := filepath.Join(dir, "there", "agents")
	must(t, os.MkdirAll(there, 0o700))
	l, err := sock.Listen(filepath.Join(dir, "bob"), "bob")
	must(t, err)
	defer l.Close()
	for _, r := range []registry.Record{{Name: "bob", Socket: l.Path(), PID: os.Getpid()}, {Name: "eve", Socket: dir + "/eve"}, {Name: "carol", Socket: l.Path(), State: dir}} {
		listed, err := registry.Announce(there, r)
		must(t, err)
		defer listed.Retire()
	}
	here := Home{Agents: filepath.Join(dir, "here", "agents"), State: dir}
	if got, want := here.strays(there, here.Agents), []Stray{{"bob", there}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (Home{Agents: there}).strays(there); len(got) > 0 {
		t.Errorf("at home: %v", got)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
