package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// one is a conversation's news: an entry that shows the message id, or is a human's where the id
// does not begin with m.
func one(of string, born time.Time, id string) News {
	e := Entry{Kind: User, UUID: of + id, Text: "[relay " + id + " from x] y"}
	if !strings.HasPrefix(id, "m") {
		e.Text = "> " + id
	}
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
			{6, "grown", nil, ""},
			{6.5, "grown", []News{one("a", at(1), "m1")}, "m1"},
			{20, "grown", nil, ""},
		},
		"another process is given our message later": {
			{1, "grown", []News{one("a", at(1), "m1")}, "m1"}, {2, "grown", []News{one("b", at(1), "m1")}, ""}, {90, "grown", nil, ""},
		},
		"an older conversation that is resumed": {
			{1, "none", []News{one("a", at(1), "m1")}, "m1"},
			{20, "grown", []News{one("b", at(-50), "m2")}, ""},
			{24, "grown", []News{one("b", at(-50), "x")}, ""},
			{25, "grown", nil, "m2 x"},
		},
		"another process goes on in a conversation of ours": {
			{1, "none", []News{one("a", at(1), "m1")}, "m1"},
			{2, "none", []News{one("a", at(1), "m9")}, "m9"},
			{3, "grown", []News{one("a", at(1), "m9")}, ""},
			{4, "grown", []News{one("a", at(1), "x")}, ""},
			{5, "grown", []News{one("a", at(1), "m2")}, "m2"},
			{6, "grown", []News{one("a", at(1), "y")}, "y"},
		},
		"what another process was told is not held": {
			{1, "starting", []News{one("a", at(1), "m9"), one("a", at(1), "x"), one("a", at(1), "m1"), one("a", at(1), "y")}, ""},
			{4, "starting", nil, "m1 y"},
		},
		"nor is it ours where a process holds the file open": {
			{1, "grown", []News{sure}, "m1"}, {2, "grown", []News{one("a", at(0), "m9"), one("a", at(0), "x")}, ""},
			{3, "grown", []News{one("a", at(0), "m2"), one("a", at(0), "y")}, "m2 y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rival := ""
			o := owner{since: start, talks: map[string]*talk{}, rival: func(grown bool) bool { return rival == "starting" || rival == "grown" && !grown }}
			o.expect([]string{"m1", "m2"})
			for i, l := range looks {
				rival = l.rival
				var got []string
				for _, e := range o.sort(at(l.at), l.all) {
					got = append(got, strings.Fields(e.Text)[1])
				}
				if strings.Join(got, " ") != l.want {
					t.Errorf("look %d: %q, want %q", i, got, l.want)
				}
			}
		})
	}
}

// TestTurnsThatWereBegunElsewhere: a prompt that nobody can have typed here begins a turn of
// another process's, in a conversation of ours or in one that we take for ours. A turn of ours goes
// on beside it where the log names turns.
func TestTurnsThatWereBegunElsewhere(t *testing.T) {
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	const typed, silent, company = 1, 2, 4 // here, as the log tells of it; another process is there
	says := func(turn, what string) Entry { return Entry{Kind: Assistant, Turn: turn, Text: "> " + what} }
	asks := func(turn, what string) Entry {
		if !strings.HasPrefix(what, "m") {
			return Entry{Kind: User, UUID: turn, Turn: turn, Text: "> " + what, Typed: true}
		}
		return Entry{Kind: User, UUID: turn, Turn: turn, Text: "[relay " + what + " from x] y", Typed: true}
	}
	all := []Entry{asks("1", "m1"), says("1", "a"), asks("2", "p"), says("2", "b"), says("1", "c"), asks("3", "m2"), says("3", "d")}
	unnamed := slices.Clone(all)
	for i := range unnamed {
		unnamed[i].Turn = ""
	}
	untyped := slices.Clone(all)
	untyped[2].Typed = false
	stranger, blocks := slices.Clone(all), slices.Clone(all)
	stranger[2] = asks("2", "m9")
	blocks[1] = asks("1", "q") // behind the message of the same prompt
	for name, c := range map[string]struct {
		entries []Entry
		is      int
		want    string
	}{
		"typed here":                           {all, typed, "m1 a p b c m2 d"},
		"typed here, beside another process":   {all, typed | company, "m1 a p b c m2 d"},
		"not typed here, while it said much":   {all, 0, "m1 a p b c m2 d"}, // as an agent that goes on by itself
		"not typed here, beside another":       {all, company, "m1 a c m2 d"},
		"not typed here, while it was silent":  {all, silent, "m1 a c m2 d"},
		"in a log that names no turns":         {unnamed, company, "m1 a m2 d"},
		"not typed by anyone":                  {untyped, company | silent, "m1 a p b c m2 d"},
		"a message of ours in two blocks":      {blocks, company, "m1 q c m2 d"},
		"a message to another":                 {stranger, typed | company, "m1 a c m2 d"},
		"a message to another that has ended":  {stranger, silent, "m1 a c m2 d"},
		"a message that a person quotes to us": {stranger, typed | silent, "m1 a m9 b c m2 d"},
	} {
		t.Run(name, func(t *testing.T) {
			var at time.Time
			o := owner{
				since: start, talks: map[string]*talk{}, rival: func(bool) bool { return c.is&company != 0 },
				here: func(time.Time) (bool, bool) { return c.is&typed != 0, c.is&silent != 0 },
			}
			o.expect([]string{"m1", "m2"})
			var got []string
			for i, e := range c.entries {
				e.Time = start.Add(time.Duration(i) * time.Second)
				if i == 2 {
					at = e.Time
				}
				for _, e := range o.sort(e.Time, []News{{Of: "a", Sure: true, Entries: []Entry{e}}}) {
					got = append(got, strings.Fields(e.Text)[1])
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("heard %q, want %q", got, c.want)
			}
			if left := !o.left.IsZero(); left == slices.Contains(strings.Fields(c.want), "b") || left && !o.left.Equal(at) {
				t.Errorf("a turn was left out at %v", o.left)
			}
		})
	}
}

// TestMessageIsExpectedUntilItShows, whatever was expected since and however often that was looked
// for; what a conversation of ours has shown makes no copy of it ours.
func TestMessageIsExpectedUntilItShows(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(1_800_000_000+seconds), 0) }
	o := owner{since: at(0), talks: map[string]*talk{}, rival: func(bool) bool { return true }}
	look := func(second int, all ...News) (n int) { return len(o.sort(at(second), all)) }
	o.expect([]string{"m0", "m1"})
	for i := range ExpectedMost - 1 {
		o.expect([]string{fmt.Sprint("m", i+1), fmt.Sprint("m", i+2)})
	}
	if len(o.typed) != ExpectedMost {
		t.Errorf("%d messages are expected, want %d", len(o.typed), ExpectedMost)
	}
	look(1)
	look(100)
	if n := look(200, one("a", at(0), "m0")) + look(210); n != 0 {
		t.Errorf("the message before the last %d shows %d entries", ExpectedMost, n)
	}
	if n := look(300, one("b", at(0), "m1")) + look(310); n != 1 {
		t.Errorf("the first of the last %d shows %d entries", ExpectedMost, n)
	}
	if n := look(500, one("c", at(400), "m1")) + look(510); n != 0 {
		t.Errorf("a copy of a conversation of ours shows %d entries", n)
	}
}

func TestHeldEntriesAreBounded(t *testing.T) {
	o := owner{talks: map[string]*talk{}, rival: func(bool) bool { return true }}
	for i := range 3 * heldMost {
		n := one("a", time.UnixMilli(0), fmt.Sprint("x", i))
		if i > 2*heldMost {
			n.Entries[0].Text = strings.Repeat("x", heldBytes/8)
		}
		o.sort(time.UnixMilli(0), []News{n})
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
