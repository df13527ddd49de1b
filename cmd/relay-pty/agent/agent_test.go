package agent

import (
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/watch"
)

// TestKeysWhileTheComposerIsOutOfSight: they are the draft's in a torn frame, and a dialog's later.
func TestKeysWhileTheComposerIsOutOfSight(t *testing.T) {
	p, _ := agents.Named("claude")
	start := time.Unix(1_700_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name string
		out  []int // when looks find no composer, in milliseconds
		back int   // when one finds it again; 0: never
		key  int   // when a newline is typed
		want string
	}{
		{"in sight", nil, 0, 1000, "draft\n"},
		{"between two parts of a frame", []int{1000}, 1100, 1050, "draft\n"},
		{"just before it is back", []int{1000, 1150}, 1200, 1199, "draft\n"},
		{"behind a dialog", []int{1000}, 0, 1200, "draft"},
		{"behind a dialog that is painted again and again", []int{1000, 1100, 1200, 1300}, 0, 1350, "draft"},
		{"in the second of two torn frames", []int{500}, 600, 1000, "draft\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(p, "", []string{"claude"})
			must(t, err)
			look := func(visible bool, ms int) watch.Look {
				l := watch.Look{}
				if l.Box.Visible, l.Box.Top = visible, visible; visible {
					l.Box.Text = "draft"
				}
				a.follow(&l, 80, true, at(ms))
				return l
			}
			a.shadow.Keys([]byte("draft"), start)
			look(true, 100)
			for _, ms := range c.out {
				look(false, ms)
			}
			if c.back > 0 && c.back < c.key {
				look(true, c.back)
				look(false, c.key-50)
			}
			a.shadow.Keys([]byte("\n"), at(c.key))
			if got := look(true, max(c.back, c.key+1)).Draft.Text; got != c.want {
				t.Errorf("the draft is %q, want %q", got, c.want)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
