package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/protocol/sock"
)

// apart are two places of one user: that of a router, and one where cron's wrappers are.
func apart(t *testing.T) (p Places, other string) {
	t.Helper()
	d := dir(t)
	p = Places{Main: d + "/run/agents", Others: []string{d + "/none/agents", d + "/tmp/agents"}, State: d + "/state"}
	other = p.Others[1]
	for _, made := range []string{p.Main, other} {
		must(t, os.MkdirAll(made, 0o700))
		must(t, os.Chmod(filepath.Dir(made), 0o700))
	}
	return p, other
}

// listed has somebody listen, and lists him.
func listed(t *testing.T, dir string, r Record) {
	t.Helper()
	l, err := sock.Listen(in(dir, r.Name+".sock"), r.Name)
	must(t, err)
	r.Socket = l.Path()
	a, err := Announce(dir, r)
	must(t, err)
	t.Cleanup(func() { a.Retire(); l.Close() })
}

// TestOtherPlaces: wrappers of the same state are found in another place of the user's, those of
// another state and of no state are not, and of two with one name the first place's counts.
func TestOtherPlaces(t *testing.T) {
	p, other := apart(t)
	listed(t, p.Main, Record{Name: "alice", Agent: "here"})
	listed(t, other, Record{Name: "alice", Agent: "there", State: p.State})
	listed(t, other, Record{Name: "bob", State: p.State})
	listed(t, other, Record{Name: "carol", State: p.State + "2"})
	listed(t, other, Record{Name: "dave"})
	list, err := p.List()
	if got := named(list); err != nil || got != "alice bob " || list[0].Agent != "here" {
		t.Errorf("got %s, %v: %+v", got, err, list)
	}
	for name, want := range map[string]bool{"alice": true, "bob": true, "carol": false, "dave": false, "eve": false} {
		if r, running, err := p.Find(name); err != nil || running != want || running && r.Name != name {
			t.Errorf("%s: %+v, %v, %v", name, r, running, err)
		}
	}
	// A directory that others can write to is not looked into.
	must(t, os.Chmod(other, 0o770))
	list, err = p.List()
	if got := named(list); err != nil || got != "alice " {
		t.Errorf("from an open directory: %s, %v", got, err)
	}
	if _, running, err := p.Find("bob"); running || err != nil {
		t.Errorf("bob: %v, %v", running, err)
	}
}

// TestWatchOverPlaces: comings in another place are told as those in the main one, and a main place
// that is taken away and comes back is no end.
func TestWatchOverPlaces(t *testing.T) {
	p, other := apart(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	step := 0
	for list, err := range p.Watch(ctx) {
		step++
		switch got := named(list); step {
		case 1:
			listed(t, other, Record{Name: "bob", State: p.State})
		case 2:
			if got != "bob " || err != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			must(t, os.Rename(p.Main, p.Main+".away"))
		case 3:
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("it is gone: got %q, %v", got, err)
			}
			must(t, os.Mkdir(p.Main, 0o700))
		case 4:
			if got != "bob " || err != nil {
				t.Fatalf("it is back: got %q, %v", got, err)
			}
			listed(t, p.Main, Record{Name: "alice"})
		case 5:
			if got != "alice bob " || err != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			return
		}
	}
	t.Errorf("ended at step %d: %v", step, ctx.Err())
}
