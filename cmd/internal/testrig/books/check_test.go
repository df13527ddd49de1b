package books

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig/figures"
	"time"
)

// runs is how often a test repeats: short in `make test`, full in `make prove`.
func runs(short, full int) int {
	if os.Getenv("RELAY_PROVE") != "" {
		return full
	}
	return short
}

func TestCorrectBooksAreClean(t *testing.T) {
	t.Parallel()
	var messages, kills, doubts int
	for seed := range uint64(runs(50, 5000)) {
		r := books(seed, 4, 400)
		for _, v := range Check(*r) {
			t.Fatalf("seed %d: %s %s %s: %s", seed, v.Invariant, v.Agent, v.ID, v.What)
		}
		messages, kills, doubts = messages+len(r.Sends), kills+len(r.Faults), doubts+Doubts(*r).Messages
	}
	t.Logf("%d messages, %d kills, %d messages in doubt", messages, kills, doubts)
}

// TestManyMessages: the books of the largest run must be checked in a minute, and no copy
// of them is made.
func TestManyMessages(t *testing.T) {
	n := runs(10_000, 200_000)
	r := (&sim{rnd: rand.New(rand.NewPCG(1, 1)), kills: 30, size: 1200}).books(20, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	v := Check(*r)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if len(v) > 0 {
		t.Error(v[0])
	}
	bytes := 0
	for _, b := range r.Readings {
		bytes += len(b.Bytes)
	}
	allocated := int(after.TotalAlloc - before.TotalAlloc)
	figures.Shown(t, "books of a run: checked", "%d messages, %d MB read by agents, %d faults, in %v, %d MB of garbage and all",
		len(r.Sends), bytes>>20, len(r.Faults), took.Round(time.Millisecond), allocated>>20)
	if took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if limit := 3*bytes + n*4000; allocated > limit {
		t.Errorf("%d bytes were allocated, want at most %d", allocated, limit)
	}
}

func TestBodiesProveThemselves(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		s := Send{ID: "m-1", From: "bob", N: n, Priority: n%5 - 2}
		text := Prose(rnd, rnd.IntN(12_000), 1+rnd.IntN(3000))
		body := Body(s, text)
		if body != content(body) || !proven(body) {
			t.Fatalf("it does not prove itself: %q", body)
		}
		at := rnd.IntN(len(body))
		if other := body[:at] + "~" + body[at+1:]; proven(other) {
			t.Fatalf("with another byte at %d it does: %q", at, other)
		}
	}
}

func TestProseKeepsToItsLines(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		size, line := rnd.IntN(5000), 12+rnd.IntN(4000)
		text := Prose(rnd, size, line)
		for l := range strings.SplitSeq(text, "\n") {
			if len(l) > line || text != "" && l == "" {
				t.Fatalf("a line of %d bytes, want 1 … %d", len(l), line)
			}
		}
		if len(text) < size || len(text) > size+14 {
			t.Fatalf("%d bytes, want about %d", len(text), size)
		}
	}
}

func TestWordsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, agent := range []string{"a0", "a1", "alice"} {
		for life := range 30 {
			for n := range 500 {
				w := Word(agent, life, n)
				if seen[w] || strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || strings.IndexByte(w, 'Z') != len(w)-1 {
					t.Fatalf("word %q", w)
				}
				seen[w] = true
			}
		}
	}
}

// TestContentIsWhatTheAgentReads: control characters go, and what looks like ours is indented.
func TestContentIsWhatTheAgentReads(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ntext":                      "plain\ntext",
		"a\tb\r\nc\x1b[201~\x7f\u0085d":    "a    b\nc[201~d",
		"[relay x from y] z\n [end x · r]": "    [relay x from y] z\n     [end x · r]",
		"    [relay x\nnot [end x":         "    [relay x\nnot [end x",
	} {
		if got := content(in); got != want || content(got) != got {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
