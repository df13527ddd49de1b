package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/inject/sight"
	"relay-pty/parser"
	"relay-pty/pty/screen"
)

// stream sends messages, five a second, until ctx ends.
func (w *wrapped) stream(ctx context.Context) {
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
			w.client.Send(map[string]any{"type": "inject", "id": fmt.Sprint("f", i), "from": "bob", "body": "one of many"}) // a lost one shows nowhere, and need not
		}
	}
}

// injected waits for the next message that begins.
func (w *wrapped) injected() {
	w.t.Helper()
	n := w.client.Len()
	_, err := w.client.WaitFrom(patience(w.t, "the next message that begins"), n, func(f testrig.Frame) bool { return f.Str("status") == "injecting" })
	must(w.t, err)
}

// transactions are the times between which messages had the terminal, by the
// events' milliseconds.
func (w *wrapped) transactions() (spans [][2]time.Time) {
	for _, f := range w.client.Frames() {
		at := time.UnixMilli(f.Num("timestamp"))
		switch f.Str("status") {
		case "injecting":
			spans = append(spans, [2]time.Time{at.Add(-2 * time.Millisecond)})
		case "queued", "":
		default:
			for i := range spans {
				if spans[i][1].IsZero() {
					spans[i][1] = at.Add(3 * time.Millisecond)
				}
			}
		}
	}
	return spans
}

func within(at time.Time, spans [][2]time.Time) bool {
	return slices.ContainsFunc(spans, func(s [2]time.Time) bool { return at.After(s[0]) && (s[1].IsZero() || at.Before(s[1])) })
}

// stroke is a key, when it was typed, and the draft that it makes.
type stroke struct {
	at    time.Time
	draft string
}

// strokes types words at random moments, at a brisk pace, each behind a call of next. Each key goes
// to one terminal, then to the other: what else the machine does delays both alike.
func strokes(t *testing.T, terms [2]*testrig.Term, rnd *rand.Rand, n int, next func()) (all [2][]stroke) {
	t.Helper()
	for i := range n {
		next()
		word := fmt.Sprintf("K%dKEYS", i)
		for end := range word {
			for j, tm := range terms {
				all[j] = append(all[j], stroke{time.Now(), word[:end+1]})
				must(t, tm.Type(word[end:end+1]))
				idle(t, 8*time.Millisecond+time.Duration(rnd.Int64N(int64(10*time.Millisecond))))
			}
		}
		for _, tm := range terms {
			must(t, tm.WaitText(patience(t), word))
			must(t, tm.Type("\x15"))
		}
	}
	return all
}

// latencies are how long the agent took to have each key, by its own clock. One that
// is busy has several with one read.
func latencies(t *testing.T, a testrig.FakeAgent, all []stroke) []time.Duration {
	t.Helper()
	events, err := a.EventLog()
	must(t, err)
	var out []time.Duration
	for _, s := range all {
		for len(events) > 0 && (events[0].Kind != agents.KindDraft || !strings.HasPrefix(events[0].Text, s.draft) || events[0].At < s.at.UnixNano()) {
			events = events[1:]
		}
		if len(events) == 0 {
			t.Fatalf("%q never reached the agent", s.draft)
		}
		out = append(out, time.Unix(0, events[0].At).Sub(s.at))
	}
	return out
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

// The bounds for what a human feels; they are asserted in full runs only, for
// they move with what else the machine does.
const (
	addedMost = time.Millisecond // at the 99th percentile, outside of messages, or as much again as without us
	heldMost  = time.Second
	slack     = 250 * time.Millisecond // of a machine at work, for the longest of all
)

func TestProveComposerKeysAreQuickWhileMessagesFlow(t *testing.T) {
	n := runs(4, 150)
	rnd := rand.New(rand.NewPCG(seed(t), 1))
	conf := agents.Config{BusyMS: 40, Still: true}
	a, err := testrig.Agent(scratch(t), "composer", conf)
	must(t, err)
	direct := testrig.StartTerm(t, term.Options{Argv: a.EnvArgv(), Env: os.Environ()})
	must(t, direct.WaitText(patience(t), "❯"))

	f := startFake(t, "composer", conf, "--agent", "claude", "--queue-max", "100000")
	f.state("ready")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go f.stream(ctx)
	i := 0
	typed := strokes(t, [2]*testrig.Term{f.Term, direct}, rnd, n, func() {
		f.injected()
		if i++; i%3 > 0 { // sometimes at once, into the message
			idle(t, time.Duration(rnd.Int64N(int64(500*time.Millisecond))))
		}
	})
	all, alone := typed[0], latencies(t, a, typed[1])
	took, spans := latencies(t, f.agent, all), f.transactions()
	var free, held []time.Duration
	for i, d := range took {
		if within(all[i].at, spans) {
			held = append(held, d)
		} else {
			free = append(free, d)
		}
	}
	// A key passes two programs instead of one: what the machine delays each by adds up.
	bare := quantile(alone, 0.99)
	added, most := quantile(free, 0.99)-bare, max(addedMost, bare)
	if longest := quantile(held, 1); proving() && (longest > heldMost+slack || added > most) {
		t.Errorf("keys waited up to %v for a message; %v added at p99 outside, want %v and %v at most", longest, added, heldMost, most)
	}
	shown(t, "composer, messages at 5 a second: time from a key to the agent", "outside of messages p50 %s, p99 %s of %d keys (without the wrapper %s, %s); within one p50 %s, p99 %s, max %s of %d",
		ms(quantile(free, 0.5)), ms(quantile(free, 0.99)), len(free), ms(quantile(alone, 0.5)), ms(quantile(alone, 0.99)),
		ms(quantile(held, 0.5)), ms(quantile(held, 0.99)), ms(quantile(held, 1)), len(held))
}

// TestProveKeysAreQuickWhileMessagesFlow measures in `make prove`. Elsewhere it shows that keys
// reach the composer while messages do, which TestProveKeysAndMessagesNeverMix shows of the others.
func TestProveKeysAreQuickWhileMessagesFlow(t *testing.T) {
	for _, c := range []struct {
		agentrig.Agent
		most time.Duration // a message holds keys longer than a paste by hand takes, at the median
	}{
		{agentrig.Gemini(), 400 * time.Millisecond},
		{agentrig.Claude(agentrig.ClaudeNow), 80 * time.Millisecond},
		{agentrig.Codex(), 80 * time.Millisecond},
	} {
		t.Run(c.Name(), func(t *testing.T) { quickReal(t, c.Agent, c.most) })
	}
}

// byHand is how long the agent takes, at the median, to show what a human pastes and to take it
// with Enter, without the pause between.
func (r *realAgent) byHand() time.Duration {
	var all []time.Duration
	for range 20 {
		text := parser.Envelope{ID: "p", From: "bob", Body: "one of many"}.Text()
		at := time.Now()
		must(r.t, r.Type("\x1b[200~"+text+"\x1b[201~"))
		r.shows("one of many")
		took := time.Since(at)
		pause(r.t, humanPause)
		at = time.Now()
		must(r.t, r.Type("\r"))
		must(r.t, r.WaitScreen(patience(r.t, "an empty composer"), func(s *screen.Screen) bool { return strings.TrimSpace(sight.Look(r.look, s).Box.Text) == "" }))
		all = append(all, took+time.Since(at))
		must(r.t, r.atRest(2*time.Minute))
	}
	return quantile(all, 0.5)
}

// quickReal types a word right when a message begins, and one when none has the
// terminal, and measures how long each takes to show.
func quickReal(t *testing.T, a agentrig.Agent, most time.Duration) {
	r := startAgent(t, a, "--queue-max", "100000", "--batch-max", "1")
	hand := r.byHand()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go r.stream(ctx)
	var held, free []time.Duration
	n := 0
	word := func() (at time.Time, took time.Duration) {
		n++
		w := fmt.Sprintf("q%dz", n)
		at = time.Now()
		must(t, r.Type(w))
		must(t, r.WaitScreen(patience(t, w+" in the composer"), func(s *screen.Screen) bool { return strings.Contains(sight.Look(r.look, s).Box.Text, w) }))
		return at, time.Since(at)
	}
	for range 60 {
		r.injected()
		at, took := word()
		idle(t, 100*time.Millisecond)
		_, after := word()
		if within(at, r.transactions()) {
			held = append(held, took)
		}
		free = append(free, after)
		must(t, r.Type("\x15"))
	}
	hold := quantile(held, 0.5) - quantile(free, 0.5)
	if longest := quantile(held, 1) - quantile(free, 0.5); hold > hand+most || longest > heldMost+slack {
		t.Errorf("messages held keys %v at the median and %v at most, want %v and %v", hold, longest, hand+most, heldMost)
	}
	shown(t, a.Name()+", messages at 5 a second: time from a key to its show", "outside of messages p50 %s, max %s; within one p50 %s, max %s, of %d; held at the median for %s, where a paste and Enter by hand take %s",
		ms(quantile(free, 0.5)), ms(quantile(free, 1)), ms(quantile(held, 0.5)), ms(quantile(held, 1)), len(held), ms(hold), ms(hand))
}
