package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig/awkward"
	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

// TestProveSweep sends each agent messages of every awkward shape, in terminals of five sizes: a
// tenth of them in each in `make prove`. A hundredth is sent to all elsewhere, see swept.
func TestProveSweep(t *testing.T) {
	seed := seed(t)
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		sizes := composed(a, [2]int{40, 10}, [2]int{40, 24}, [2]int{80, 24}, [2]int{120, 24}, [2]int{200, 50})
		all := &tally{took: map[string][]timing{}}
		for _, size := range sizes {
			name := fmt.Sprintf("%dx%d", size[0], size[1])
			t.Run(name, func(t *testing.T) {
				s := sweep{T: t, tally: all, a: a, cols: size[0], rows: size[1], seed: sizedSeed(seed, size)}
				s.run(chosen(t, awkward.Share(s.seed, 10)))
			})
		}
		slow := all.again(t, a, seed)
		t.Logf("SWEEP %s: %d items, %d messages, %d items not as they should be, %d slow by themselves", a.Name(), all.items, all.n, all.bad, slow)
		shown(t, fmt.Sprintf("%s in terminals of %d sizes: messages of %d awkward kinds, each once and whole, nothing left behind", a.Name(), len(sizes), len(all.took)),
			"%d of %d", all.n, all.n)
	})
}

// composed are the sizes of terminals in which the agent shows its composer.
func composed(a agentrig.Agent, sizes ...[2]int) [][2]int {
	look, _ := agents.Named(a.Profile)
	return slices.DeleteFunc(sizes, func(size [2]int) bool { return size[1] < look.Rules.Rows })
}

// chosen are the numbers of the items to send: those that $RELAY_SWEEP lists, to try again what
// went wrong with the seed that it told, or else a share.
func chosen(t *testing.T, share []int) (numbers []int) {
	list := strings.Fields(os.Getenv("RELAY_SWEEP"))
	if len(list) == 0 {
		return share
	}
	for _, word := range list {
		n, err := strconv.Atoi(word)
		must(t, err)
		numbers = append(numbers, n)
	}
	return numbers
}

// tally is what became of the messages to one agent.
type tally struct {
	took          map[string][]timing // by kind
	items, n, bad int                 // n: messages
}

// timing is how long an item took that can be sent again.
type timing struct {
	time.Duration
	number, cols, rows int
}

func (t timing) String() string {
	return fmt.Sprintf("%v (%d at %dx%d)", t.Round(time.Millisecond), t.number, t.cols, t.rows)
}

// slow are the items that took more than twice the median of their kind, by the terminal's size.
func (all *tally) slow(t *testing.T) (slow map[[2]int][]late) {
	slow = map[[2]int][]late{}
	for _, kind := range slices.Sorted(maps.Keys(all.took)) {
		took := slices.SortedFunc(slices.Values(all.took[kind]), func(a, b timing) int { return cmp.Compare(a.Duration, b.Duration) })
		median := took[len(took)/2].Duration
		t.Logf("%-28s %3d, median %v, worst %v", kind, len(took), median.Round(time.Millisecond), took[len(took)-1])
		for _, d := range took {
			if size := [2]int{d.cols, d.rows}; d.Duration > 2*median {
				slow[size] = append(slow[size], late{timing: d, most: 2 * median})
			}
		}
	}
	return slow
}

// late is an item that was slow, and may have been so by what ran beside it.
type late struct {
	timing
	most time.Duration
}

// tries is how often what was slow is sent again. The quickest counts.
const tries = 3

// again sends what was slow to new agents, and tells what is so by itself.
func (all *tally) again(t *testing.T, a agentrig.Agent, seed uint64) (left int) {
	for size, list := range all.slow(t) {
		s := sweep{a: a, cols: size[0], rows: size[1], seed: sizedSeed(seed, size)}
		for range tries {
			t.Run(fmt.Sprintf("again %dx%d", s.cols, s.rows), func(t *testing.T) { s.T = t; s.resend(list) })
		}
		for _, d := range list {
			if d.Duration > d.most {
				left++
				item := awkward.Make(s.seed, d.number, awkward.Where{Rows: s.rows, Cols: s.cols})
				t.Logf("SLOW %s, %v, over %v: %d messages, %d bytes", item.Kind, d.timing, d.most.Round(time.Millisecond), len(item.Messages), item.Size())
			}
		}
	}
	return left
}

// resend sends slow items to one more agent, which has got a message before, and notes the times
// of those that were quicker.
func (s *sweep) resend(list []late) {
	r := beginSized(s.T, s.a, s.rows, s.cols, nil)
	r.state("ready")
	first := awkward.Item{Kind: "the first", Messages: []awkward.Message{{ID: "begin", Sent: "go", Read: "go"}}}
	if _, err := r.gets(first); err != nil {
		s.Fatalf("BAD the message before all others: %v", err)
	}
	for i := range list {
		d := &list[i]
		took, err := r.gets(awkward.Make(s.seed, d.number, r.where(s.rows, s.cols)))
		if err != nil {
			s.Fatalf("BAD %d (seed %d) again: %v", d.number, s.seed, err)
		}
		d.Duration = min(d.Duration, took)
	}
}

// sizedSeed is the seed of a terminal's share.
func sizedSeed(seed uint64, size [2]int) uint64 { return seed + uint64(100*size[0]+size[1]) }

// sweep is the messages to one agent in one terminal.
type sweep struct {
	*testing.T
	*tally
	a          agentrig.Agent
	cols, rows int
	seed       uint64
	left       []int // numbers of the items that were not sent yet
}

// An agent's conversation is kept short: it comes again with each turn.
const (
	mostItems = 40
	mostBytes = 200 << 10
)

func (s *sweep) run(numbers []int) {
	s.left = numbers
	for before := -1; len(s.left) > 0 && len(s.left) != before; { // an agent that does not even start ends it
		before = len(s.left)
		s.Run(fmt.Sprintf("from %d", s.left[0]), s.session)
	}
}

// session sends items to a new agent, until its conversation is long or one goes wrong.
func (s *sweep) session(t *testing.T) {
	r := beginSized(t, s.a, s.rows, s.cols, nil)
	r.state("ready")
	var sent []awkward.Item
	for size := 0; len(s.left) > 0 && len(sent) < mostItems && size < mostBytes; {
		number := s.left[0]
		item := awkward.Make(s.seed, number, r.where(s.rows, s.cols))
		s.left, s.items = s.left[1:], s.items+1
		s.n, size, sent = s.n+len(item.Messages), size+item.Size(), append(sent, item)
		took, err := r.gets(item)
		if err != nil {
			s.bad++
			t.Errorf("BAD %d (seed %d), %s: %v\n%s", number, s.seed, item.Kind, err, describe(item))
			return
		}
		s.took[item.Kind] = append(s.took[item.Kind], timing{took, number, s.cols, s.rows})
	}
	end := awkward.Item{Kind: "the last", Messages: []awkward.Message{{ID: "end", Sent: "and on", Read: "and on"}}}
	if _, err := r.gets(end); err != nil {
		t.Errorf("BAD the message behind all others: %v", err)
	}
	r.readOnce(append(sent, end))
}

// where is the agent's terminal and what of it is known to matter to the shape of messages.
func (r *realAgent) where(rows, cols int) awkward.Where {
	k := r.look.Typing
	return awkward.Where{Rows: rows, Cols: cols, Bytes: k.PasteBytes, Lines: k.PasteLines, Canary: r.canary}
}

// swept sends the agent a hundredth of a sweep, other shapes to others.
func (r *realAgent) swept() {
	r.t.Helper()
	s := seed(r.t)
	for i, c := range r.Name() {
		s += uint64(i) * uint64(c)
	}
	var sent []awkward.Item
	for _, n := range awkward.Share(s, 100) {
		item := awkward.Make(s, n, r.where(24, 80))
		if _, err := r.gets(item); err != nil {
			r.t.Fatalf("%d (seed %d), %s: %v\n%s", n, s, item.Kind, err, describe(item))
		}
		sent = append(sent, item)
	}
	r.readOnce(sent)
}

// takes is how long an agent may take to take a text.
func takes(profile, text string) time.Duration {
	look, _ := agents.Named(profile)
	if slow := look.Typing.SlowText; slow > 0 && len(text) > slow/2 {
		return 4 * time.Minute
	}
	return 2 * time.Minute
}

// gets has the agent get the item and rest again, and says how long it took or what is wrong.
func (r *realAgent) gets(item awkward.Item) (took time.Duration, err error) {
	began := time.Now()
	if len(item.Messages) > 1 { // what is sent while it is busy is typed together
		r.inject("before-"+item.Messages[0].ID, "hello")
	}
	for _, m := range item.Messages {
		if m.Asked == "" {
			r.inject(m.ID, m.Sent)
			continue
		}
		r.sendsAnswer(m.ID, m.Asked, m.Sent)
	}
	limit := time.Duration(0)
	for _, m := range item.Messages {
		limit = max(limit, takes(r.Profile, m.Read))
	}
	for _, m := range item.Messages {
		early := ""
		if r.outcome(m.ID, 4*time.Second) == "" {
			early = r.Screen()
		}
		if status := r.outcome(m.ID, limit); status != "delivered" {
			return 0, fmt.Errorf("%s: status %q within %v, waiting for %q; after 4 s the screen was\n%s", m.ID, status, limit, r.waitingFor(m.ID), early)
		}
	}
	took = time.Since(began)
	for _, m := range item.Messages {
		if err := r.read(m, limit); err != nil {
			return 0, err
		}
	}
	return took, r.atRest(limit)
}

// read says what is wrong with the message as the model received it.
func (r *realAgent) read(m awkward.Message, limit time.Duration) error {
	head := m.Header()
	t, err := r.api.WaitTurn(bounded(r.t, limit), func(t fakemodel.Turn) bool { return strings.Contains(t.UserText(), head) })
	if err != nil {
		return fmt.Errorf("no turn with %s: %w", m.ID, err)
	}
	got, want := r.Received(t), m.Text()
	if r.Composes {
		got, want = awkward.Decomposed(got), awkward.Decomposed(want)
	}
	if !strings.Contains(got, want) && !strings.Contains(got, r.Unwrap(want)) && !strings.Contains(t.UserText(), want) {
		return fmt.Errorf("%s: the model received %d bytes\n%q\nwant %d\n%q\n%s", m.ID, len(got), clip(got), len(want), clip(want), differs(got, want))
	}
	return nil
}

// differs is where two texts part.
func differs(got, want string) string {
	at := strings.Index(got, want[:min(len(want), 12)])
	if at < 0 {
		return "without its header"
	}
	got = got[at:]
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	n = max(0, n-20)
	return fmt.Sprintf("they part at\n%q, want\n%q", clip(got[n:min(len(got), n+80)]), clip(want[n:min(len(want), n+80)]))
}

// atRest waits until the agent is ready, nothing waits, and the composer is empty.
func (r *realAgent) atRest(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	var state string
	for ctx.Err() == nil {
		f, err := r.client.Request(ctx, map[string]any{"type": "status"})
		if err != nil {
			return err
		}
		state = f.Raw
		if f.Str("state") == "ready" && f.Num("queue_length") == 0 && f.Fields["injecting"] == nil && !r.holds() && r.settled() {
			return nil
		}
		pause(r.t, 20*time.Millisecond)
	}
	return fmt.Errorf("not at rest within %v, composer %q, status %s", limit, r.box(), state)
}

// holds reports whether the composer shows a text. Of some characters an agent leaves a part in
// cells that it takes for blank.
func (r *realAgent) holds() bool {
	return strings.ContainsFunc(r.box(), func(c rune) bool { return !profile.Uncertain(c) && !unicode.IsSpace(c) })
}

// settled reports whether no turn runs.
func (r *realAgent) settled() bool {
	return !slices.ContainsFunc(r.api.Turns(), func(t fakemodel.Turn) bool { return t.Open() })
}

// readOnce checks that every message is in the model's conversation once, nothing else is, and that
// none ran or was taken for a message of the agent's.
func (r *realAgent) readOnce(sent []awkward.Item) {
	r.t.Helper()
	var all strings.Builder
	for _, t := range r.api.Turns() {
		all.WriteString(t.UserText() + "\n")
	}
	got := all.String()
	for _, item := range sent {
		for _, m := range item.Messages {
			if n := strings.Count(got, m.Header()); n < 1 || n > strings.Count(m.Read, m.Header())+1 {
				r.t.Errorf("BAD %s, %s, is %d times in the conversation, want once", m.ID, item.Kind, n)
			}
		}
	}
	if _, err := os.Stat(r.canary); err == nil {
		r.t.Error("BAD a message ran a command")
	}
	if said := r.commands(); len(said) > 0 {
		r.t.Errorf("BAD the agent is taken to have written %q", said)
	}
}

func describe(item awkward.Item) string {
	var b strings.Builder
	for _, m := range item.Messages {
		fmt.Fprintf(&b, "%s: %d bytes, %d newlines: %q\n", m.ID, len(m.Sent), strings.Count(m.Sent, "\n"), clip(m.Sent))
	}
	return b.String()
}
