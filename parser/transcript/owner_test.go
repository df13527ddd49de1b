package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// one is a conversation's news: an entry that shows the message id.
func one(of string, born time.Time, id string) News {
	e := Entry{Kind: User, UUID: of + id, Text: "[relay " + id + " from x] y"}
	return News{Of: of, Born: born, Changed: born, Entries: []Entry{e}}
}

func TestWhoseConversationsAre(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	type look struct {
		at    float64
		rival string // none; starting: one that may be starting; grown: one that runs for long
		all   []News
		want  string
	}
	sure := one("a", at(0), "m1")
	sure.Sure = true
	for name, looks := range map[string][]look{
		"what the process holds open is its own": {{1, "starting", []News{sure}, "m1"}, {2, "starting", []News{one("a", at(0), "m2")}, "m2"}},
		"so is what nobody else can have begun":  {{1, "none", []News{one("a", at(1), "m1")}, "m1"}, {9, "starting", []News{one("a", at(1), "m2")}, "m2"}},
		"not what changed while nothing happened here": {
			{30, "none", []News{one("a", at(1), "x")}, ""}, {31, "none", []News{one("a", at(1), "y")}, ""},
		},
		"another process of it may have begun it, until a message of ours shows in it": {
			{1, "starting", []News{one("a", at(1), "x"), one("b", at(1), "y")}, ""},
			{2, "starting", []News{one("a", at(1), "m1")}, ""},
			{3.9, "starting", nil, ""},
			{4, "starting", nil, "x m1"},
			{5, "starting", []News{one("a", at(1), "z"), one("b", at(1), "y2")}, "z"},
		},
		"a message that shows in two conversations says nothing": {
			{1, "starting", []News{one("a", at(1), "m1")}, ""}, {2, "starting", []News{one("b", at(1), "m1")}, ""}, {9, "starting", nil, ""},
		},
		"another that runs for long has its own": {
			{1, "grown", []News{one("a", at(0.5), "m1")}, "m1"}, {2, "grown", []News{one("b", at(2), "x")}, ""},
		},
		"but may go on in it": {{1, "grown", []News{one("a", at(-500), "x")}, ""}},
		"a new conversation of ours next to another process": {
			{1, "none", []News{one("a", at(1), "m1")}, "m1"},
			{20, "grown", []News{one("b", at(20), "x")}, ""},
			{21, "grown", []News{one("b", at(20), "m2")}, ""},
			{24, "grown", nil, "x m2"},
		},
		"another process is given our message first": {
			{1, "none", []News{one("a", at(1), "m0")}, "m0"},
			{2, "grown", []News{one("b", at(-50), "m1")}, ""},
			{9, "grown", nil, ""},
			{10, "grown", []News{one("a", at(1), "m1")}, "m1"},
			{20, "grown", nil, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rival := ""
			o := owner{since: start, talks: map[string]*talk{}, rival: func(grown bool) bool { return rival == "starting" || rival == "grown" && !grown }}
			for i, l := range looks {
				rival = l.rival
				var got []string
				for _, e := range o.sort(at(l.at), l.all, map[string]bool{"m1": false, "m2": false}) {
					got = append(got, strings.Fields(e.Text)[1])
				}
				if strings.Join(got, " ") != l.want {
					t.Errorf("look %d: %q, want %q", i, got, l.want)
				}
			}
		})
	}
}

func TestHeldEntriesAreBounded(t *testing.T) {
	o := owner{talks: map[string]*talk{}, rival: func(bool) bool { return true }}
	for i := range 3 * heldMost {
		n := one("a", time.UnixMilli(0), fmt.Sprint(i))
		if i > 2*heldMost {
			n.Entries[0].Text = strings.Repeat("x", heldBytes/8)
		}
		o.sort(time.UnixMilli(0), []News{n}, nil)
	}
	if n := len(o.talks["a"].held); n != 8 {
		t.Errorf("holds %d entries, want 8", n)
	}
}

// named is a source whose conversation is at a path.
type named string

func (n named) Look() (Session, []News, error) { return Session{Transcript: string(n)}, nil, nil }

// TestGrown: what came after a look is seen at a glance, in the file and in a database's log.
func TestGrown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := &Log{source: named(path)}
	if l.Grown() {
		t.Error("nothing was found yet, and it has grown")
	}
	for n, file := range []string{path, path, path + "-wal"} {
		for l.Look(); l.Grown(); { // a look that finds another file does not know what it was before
			l.Look()
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("row\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if !l.Grown() {
			t.Errorf("%d: what was written to %s is not seen", n, filepath.Base(file))
		}
	}
}
