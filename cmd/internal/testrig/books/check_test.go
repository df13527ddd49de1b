package books

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/figures"
	"relay-pty/protocol"
)

// TestManyMessages: the books of the largest run must be checked in a minute, and no copy
// of them is made.
func TestManyMessages(t *testing.T) {
	n := testrig.Runs(500, 200_000)
	r := large(20, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	clean(t, "large", r)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	bytes := 0
	for _, b := range r.Readings {
		bytes += len(b.Bytes)
	}
	allocated := int(after.TotalAlloc - before.TotalAlloc)
	figures.Shown(t, "books of a run: checked", "%d messages, %d MB read by agents, in %v, %d MB of garbage and all",
		len(r.Sends), bytes>>20, took.Round(time.Millisecond), allocated>>20)
	if took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if limit := 4*bytes + n*4000; testrig.Proving() && allocated > limit { // the race detector has its own
		t.Errorf("%d bytes were allocated, want at most %d", allocated, limit)
	}
}

// large is a run of n messages, all of them delivered.
func large(agents, n int) Run {
	rnd := rand.New(rand.NewPCG(1, 1))
	r := Run{Drained: true}
	for i := range agents {
		b := Reading{Agent: fmt.Sprintf("a%d", i), Life: 1, Line: i%2 == 0}
		for k := range n / agents {
			m := protocol.Inject{ID: fmt.Sprintf("m%d-%d", i, k), From: "bob", Mode: "sequential"}
			m.Body = m.ID + " " + Prose(rnd, rnd.IntN(1200), 80)
			text := "[relay " + m.ID + " from bob] " + m.Body + "\n[end " + m.ID + " · reply: ->relay:bob [re=" + m.ID + "] <<<…>>>]"
			for at, e := range []protocol.InjectResult{{Status: "queued"}, {Status: "injecting", Attempt: 1}, {Status: "delivered", Attempt: 1, Evidence: "echo"}} {
				e.ID, e.Seq = m.ID, int64(4*k+at+1)
				r.Events = append(r.Events, Event{b.Agent, e})
			}
			if b.Line {
				b.Bytes = append(b.Bytes, text+"\n"...)
			} else {
				b.Bytes = append(b.Bytes, "\x1b[200~"+text+"\x1b[201~\r"...)
				b.Turns = append(b.Turns, text)
			}
			r.Sends = append(r.Sends, Send{b.Agent, m, "queued"})
		}
		r.Readings = append(r.Readings, b)
	}
	return r
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
