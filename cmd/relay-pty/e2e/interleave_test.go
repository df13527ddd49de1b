package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/compose"
	"relay-pty/cmd/internal/testrig/realagent"
	known "relay-pty/inject/agents"
)

// hand is a human who types at random. What comes of it without any message is
// known: the same keys go, write by write, into an editor of the agent's kind.
type hand struct {
	t     *testing.T
	rnd   *rand.Rand
	press func(string) error
	agent hands

	keys  compose.Decoder
	edit  compose.Editor
	typed strings.Builder // all of it
	sent  []string        // what was submitted
	n     int             // of words, which are all different
	fresh int             // bytes since the agent was seen to have read all; a paste counts as many
	last  time.Time       // the last key
	diary []string        // what was done, and when
	began time.Time
}

// hands are what a human does at an agent.
type hands struct {
	paste   bool     // pastes, too
	newline []string // keys for a new line
	clear   string   // empties the composer
}

var fakeHands = hands{paste: true, newline: []string{"\n", "\\\r"}, clear: "\x03"}

func newHand(t *testing.T, rnd *rand.Rand, press func(string) error, h hands) *hand {
	return &hand{t: t, rnd: rnd, press: press, agent: h, began: time.Now()}
}

func (h *hand) note(format string, args ...any) {
	h.diary = append(h.diary, fmt.Sprintf("%9.3f %s", time.Since(h.began).Seconds(), fmt.Sprintf(format, args...)))
}

// do types one write.
func (h *hand) do(keys string) {
	h.t.Helper()
	h.note("%q", clip(keys))
	must(h.t, h.press(keys))
	h.last = time.Now()
	h.typed.WriteString(keys)
	if h.fresh += len(keys); strings.HasPrefix(keys, "\x1b[200~") {
		h.fresh += blind
	}
	for _, ev := range h.keys.Feed([]byte(keys)) {
		switch {
		case ev.Paste:
			h.edit.Paste(ev.Text)
		case ev.Text != "":
			h.edit.Insert(ev.Text)
		case ev.Key == compose.Enter:
			h.enter()
		case ev.Key == compose.Interrupt:
			h.edit.Clear()
		default:
			h.edit.Press(ev.Key)
		}
	}
}

func (h *hand) enter() {
	if head, ok := strings.CutSuffix(h.edit.Text(), `\`); ok {
		h.edit.Put(head + "\n")
	} else if s := h.edit.Take(); s != "" {
		h.sent = append(h.sent, s)
	}
}

// rest lets time pass, as a human does.
func (h *hand) rest(d time.Duration) { idle(h.t, d) }

// idle lets time pass; nothing is decided by its end.
func idle(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

func (h *hand) upTo(d time.Duration) time.Duration { return time.Duration(h.rnd.Int64N(int64(d))) }

func (h *hand) word() string {
	h.n++
	return fmt.Sprintf("W%dX", h.n)
}

// burst types a few things; seen waits until the agent has read everything.
// Text and Enter that an agent may read at once, it may take for a paste: so
// nobody presses Enter on much that was not seen.
func (h *hand) burst(seen func()) {
	h.t.Helper()
	for range 1 + h.rnd.IntN(5) {
		h.act()
		if h.rnd.IntN(3) > 0 {
			h.rest(h.upTo(40 * time.Millisecond))
		}
	}
	switch n := h.rnd.IntN(10); {
	case n < 6:
		h.submit(seen)
	case n < 8:
		h.do(h.agent.clear)
	}
}

const blind = 40 // bytes that no agent takes for a paste, Enter included

func (h *hand) submit(seen func()) {
	if h.fresh > blind || h.rnd.IntN(2) == 0 {
		seen()
		h.fresh = 0
	}
	h.do("\r")
}

func (h *hand) act() {
	switch n := h.rnd.IntN(12); {
	case n < 4:
		for _, r := range h.word() {
			h.do(string(r))
			if h.rnd.IntN(4) == 0 {
				h.rest(h.upTo(10 * time.Millisecond))
			}
		}
	case n < 6:
		h.do(h.word() + " ")
	case n == 6:
		h.do("\x7f")
	case n == 7:
		h.do([]string{"\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x01", "\x05"}[h.rnd.IntN(6)])
	case n == 8:
		h.do(h.agent.newline[h.rnd.IntN(len(h.agent.newline))])
	case n == 9:
		h.do("\x15")
	case n == 10 && h.agent.paste:
		h.do("\x1b[200~" + h.word() + "\n" + h.word() + "\x1b[201~")
	case n == 11 && h.agent.paste:
		h.do("\x1b[200~" + strings.Repeat(h.word()+"\n", 1+h.rnd.IntN(300)) + "\x1b[201~")
	}
}

// post is the sender's side: messages that were sent and are not at their end.
type post struct {
	*wrapped
	name   string
	bodies map[string]string // of all, by id
	open   []string
	missed map[string]string // how those ended that a starved agent did not take in time
	seen   int               // frames looked at
}

func (p *post) send(rnd *rand.Rand) {
	p.t.Helper()
	id := fmt.Sprintf("%s-%d", p.name, len(p.bodies))
	body := []string{
		"y", "one line of a body", "three\nshort\nlines", strings.Repeat("many lines\n", 30) + "end", strings.Repeat("long ", 300) + "end",
	}[rnd.IntN(5)]
	p.bodies[id] = body
	p.open = append(p.open, id)
	p.inject(id, body)
}

// settle takes the messages off that are at their end, which must be delivery. Elsewhere than
// in `make prove` the machine may starve an agent until a few are given up.
func (p *post) settle() {
	p.t.Helper()
	frames := p.client.Frames()
	for ; p.seen < len(frames); p.seen++ {
		switch f := frames[p.seen]; f.Str("status") {
		case "failed", "unknown":
			if proving() || len(p.missed) > len(p.bodies)/5 {
				p.t.Fatalf("not delivered, as were %v before: %s", p.missed, f.Raw)
			}
			p.t.Logf("not delivered: %s", f.Raw)
			if p.missed == nil {
				p.missed = map[string]string{}
			}
			p.missed[f.Str("id")] = f.Str("status")
			fallthrough
		case "delivered":
			p.open = slices.DeleteFunc(p.open, func(id string) bool { return id == f.Str("id") })
		case "expired":
			p.t.Fatalf("not delivered: %s", f.Raw)
		}
	}
}

// next waits until something is being injected, or ctx ends.
func (p *post) next(ctx context.Context) bool {
	n := len(p.client.Frames())
	_, err := p.client.WaitFrom(ctx, n, func(f testrig.Frame) bool { return f.Str("status") == "injecting" })
	return err == nil
}

// drain waits until everything is delivered.
func (p *post) drain() {
	p.t.Helper()
	for _, id := range slices.Clone(p.open) {
		if f := p.ends(id); f.Str("status") == "delivered" {
			p.delivers(id, "submitted", "turn", "queued")
		}
	}
	p.settle()
}

// interleave lets the hand type and the senders send n times, around the moments
// at which a message may begin.
func interleave(h *hand, p *post, n int, seen func()) {
	t := h.t
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("diary of the hand:\n%s", strings.Join(h.diary[max(0, len(h.diary)-120):], "\n"))
		}
	})
	for i := range n {
		if len(p.open) < 4 {
			p.send(h.rnd)
		}
		h.burst(seen)
		if len(p.open) < 4 && h.rnd.IntN(3) == 0 {
			p.send(h.rnd)
		}
		switch h.rnd.IntN(5) {
		case 0, 1: // into the message, or right behind it
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			hit := p.next(ctx)
			cancel()
			h.note("injecting %v", hit)
			h.rest(h.upTo(120 * time.Millisecond))
		case 2, 3: // around the end of the human's rest
			h.rest(time.Until(h.last.Add(980*time.Millisecond + h.upTo(280*time.Millisecond))))
		default:
			h.rest(h.upTo(300 * time.Millisecond))
		}
		p.settle()
		if i%20 == 19 || i == n-1 {
			h.do(h.agent.clear)
			h.note("drain")
			p.drain()
		}
	}
	h.do(h.word())
	seen() // so that nothing is on its way
}

func TestKeysAndMessagesNeverMix(t *testing.T) {
	t.Parallel()
	base, wrappers, rounds := seed(t), runs(2, 60), runs(10, 167)
	var mu sync.Mutex
	var submits, messages, held int
	together(t, wrappers, func(t *testing.T, i int) {
		f := startComposer(t, agents.Config{BusyMS: 40, QuitKeys: -1, Still: i%2 == 0})
		h := newHand(t, rand.New(rand.NewPCG(base, uint64(i))), f.Type, fakeHands)
		p := &post{wrapped: f.wrapped, name: fmt.Sprint("x", i), bodies: map[string]string{}}
		interleave(h, p, rounds, func() { f.shows(h.edit.Text()) })
		late := f.neverMixed(h, p)
		mu.Lock()
		defer mu.Unlock()
		submits, messages, held = submits+len(h.sent), messages+len(p.bodies), held+late
	})
	shown(t, "composer: random interleavings of a typist and senders: what the agent read is the human's bytes in order, with whole messages between submissions",
		"%d, with %d submissions and %d messages; %d times the human's keys came right behind a message", wrappers*rounds, submits, messages, held)
}

// together runs n subtests, four of them at once, and all in `make prove`, however few
// processors there are: they wait most of the time.
func together(t *testing.T, n int, once func(t *testing.T, i int)) {
	var all sync.WaitGroup
	places := make(chan struct{}, runs(2, n))
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			t.Run(fmt.Sprint(i), func(t *testing.T) { once(t, i) })
		})
	}
	all.Wait()
}

// Enter that was typed a while after a paste is no part of it, also when both
// had to wait: agents take what they read at once for a paste.
func TestKeysThatWaitedKeepTheirPauses(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"a paste":          "\x1b[200~" + strings.Repeat("PASTED ", 200) + "\x1b[201~",
		"a long line":      strings.Repeat("TYPED ", 12),
		"a paste of lines": "\x1b[200~A\nB\x1b[201~",
	} {
		t.Run(name, func(t *testing.T) {
			f := startComposer(t, agents.Config{Swallow: 1})
			h := newHand(t, rand.New(rand.NewPCG(1, 1)), f.Type, fakeHands)
			f.inject("m1", "hello")
			_, err := f.agent.WaitEvent(patience(t), agents.KindSwallow, 1)
			must(t, err)
			h.do(keys)
			h.rest(200 * time.Millisecond) // the replay's longest pause, for an agent that a loaded machine holds up
			h.do("\r")
			f.delivers("m1", "submitted")
			if _, err := f.agent.WaitEvent(patience(t), agents.KindReply, 2); err != nil {
				t.Errorf("no second turn: %v", err)
			}
			f.wantSubmits(text("m1", "hello"), h.sent[0])
		})
	}
}

// shows waits until the agent's composer holds the draft.
func (f *fake) shows(draft string) {
	f.t.Helper()
	ctx := patience(f.t)
	for {
		n := len(f.Output())
		st, err := f.agent.State(ctx)
		must(f.t, err)
		if st.Draft == draft {
			return
		}
		if err := f.WaitOutput(ctx, func(b []byte) bool { return len(b) > n }); err != nil {
			f.t.Fatalf("the composer holds %q, want %q: %v", clip(st.Draft), clip(draft), err)
		}
	}
}

// neverMixed checks all that the agent read and submitted. It returns how often
// the human's keys followed right after a message's Enter.
func (f *fake) neverMixed(h *hand, p *post) (late int) {
	f.t.Helper()
	human, late := f.without(p)
	if want := h.typed.String(); human != want {
		at := 0
		for at < min(len(human), len(want)) && human[at] == want[at] {
			at++
		}
		f.t.Fatalf("besides messages the agent read %q …, want %q … (at %d of %d and %d)",
			clip(human[max(0, at-40):]), clip(want[max(0, at-40):]), at, len(human), len(want))
	}
	var sent []string
	left := map[string]string{}
	for id, body := range p.bodies {
		left[text(id, body)] = id
	}
	for _, s := range f.taken() {
		if !strings.HasPrefix(s, "[relay ") {
			sent = append(sent, s)
		}
		for strings.HasPrefix(s, "[relay ") {
			id := begins(s)
			rest, whole := strings.CutPrefix(s, text(id, p.bodies[id]))
			if !whole || left[text(id, p.bodies[id])] == "" || p.missed[id] == "failed" {
				f.t.Fatalf("%s was submitted before, or not whole, or failed: %q", id, clip(s))
			}
			delete(left, text(id, p.bodies[id]))
			s = strings.TrimPrefix(rest, "\n\n")
		}
	}
	maps.DeleteFunc(left, func(_, id string) bool { return p.missed[id] != "" })
	if len(left) > 0 {
		f.t.Errorf("%d messages were never submitted: %q", len(left), left)
	}
	for i := range max(len(sent), len(h.sent)) {
		if i >= len(sent) || i >= len(h.sent) || sent[i] != h.sent[i] {
			f.t.Fatalf("submission %d of %d and %d: %q, want %q", i, len(sent), len(h.sent), clip(nth(sent, i)), clip(nth(h.sent, i)))
		}
	}
	return late
}

func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}

// taken are the texts that Enter took out of the box, in order.
func (f *fake) taken() []string {
	f.t.Helper()
	events, err := f.agent.EventLog()
	must(f.t, err)
	texts, unasked := agents.Taken(events)
	for _, e := range unasked {
		f.t.Fatalf("%s: %q", e.Kind, e.Text)
	}
	return texts
}

// without is what the agent read, without the messages, which must have been
// typed whole, with nothing in between, and followed by Enter or by the keys
// that take them back.
func (f *fake) without(p *post) (human string, late int) {
	f.t.Helper()
	look, _ := known.Named("claude")
	var out strings.Builder
	log, delivered := f.read(), map[string]bool{}
	for len(log) > 0 {
		ids, rest, err := p.message(log, look.Typing.Clear)
		must(f.t, err)
		if len(ids) == 0 {
			out.WriteByte(log[0])
			log = log[1:]
			continue
		}
		after, entered := strings.CutPrefix(rest, look.Typing.Submit)
		for _, keys := range look.Typing.Clear {
			for !entered && strings.HasPrefix(after, keys) {
				after = after[len(keys):]
			}
		}
		if log = after; len(after) == len(rest) {
			f.t.Fatalf("messages %s are followed by %q", ids, clip(rest))
		}
		for _, id := range ids {
			if entered && delivered[id] {
				f.t.Fatalf("message %s was submitted before", id)
			}
			delivered[id] = delivered[id] || entered
		}
		if entered && log != "" && begins(log) == "" {
			late++
		}
	}
	return out.String(), late
}

// begins is the id of the message of which log is the beginning, "" for none.
func begins(log string) string {
	rest, ours := strings.CutPrefix(strings.TrimPrefix(log, "\x1b[200~"), "[relay ")
	id, _, _ := strings.Cut(rest, " ")
	if !ours {
		return ""
	}
	return id
}

// message takes the messages of one turn from the beginning of log. The last may have been
// typed in part, if one of the keys follows that take it back.
func (p *post) message(log string, clear []string) (ids []string, rest string, err error) {
	for id := begins(log); id != ""; id = begins(log) {
		ids = append(ids, id)
		body := text(id, p.bodies[id])
		var whole bool
		if rest, whole = typed(log, body); !whole {
			if slices.ContainsFunc(clear, func(keys string) bool { return strings.HasPrefix(rest, keys) }) {
				return ids, rest, nil
			}
			return nil, "", fmt.Errorf("message %s was not typed whole: %q", id, clip(log[:min(len(log), len(body)+40)]))
		}
		if _, more := typed(rest, "\n\n[relay "); !more {
			break
		}
		log, _ = typed(rest, "\n\n")
	}
	return ids, rest, nil
}

// typed cuts text from log, in which any part of it may be pasted, or as much of it as log
// begins with.
func typed(log, text string) (rest string, whole bool) {
	for {
		if cut, ok := strings.CutPrefix(log, "\x1b[200~"); ok && text != "" {
			log = cut
			continue
		}
		if cut, ok := strings.CutPrefix(log, "\x1b[201~"); ok {
			log = cut
			continue
		}
		if text == "" || log == "" || log[0] != text[0] {
			return log, text == ""
		}
		log, text = log[1:], text[1:]
	}
}

func TestProveKeysAndMessagesNeverMix(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()) {
		t.Run(a.Name(), func(t *testing.T) { t.Parallel(); interleaveReal(t, a, 200) })
	}
}

// interleaveReal types at the real agent as interleave does, but at a human's
// pace, and reads what the model received.
func interleaveReal(t *testing.T, a agentrig.Agent, n int) {
	r := startAgent(t, a)
	rnd := rand.New(rand.NewPCG(seed(t), 1))
	h := newHand(t, rnd, r.Type, hands{newline: []string{"\n"}})
	p := &post{wrapped: r.wrapped, name: "x", bodies: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("diary of the hand:\n%s", strings.Join(h.diary[max(0, len(h.diary)-120):], "\n"))
		}
	})
	for i := range n {
		p.send(rnd)
		r.say(h)
		switch rnd.IntN(3) {
		case 0: // into the message, or right behind it
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			h.note("injecting %v", p.next(ctx))
			cancel()
			h.rest(h.upTo(200 * time.Millisecond))
		case 1: // around the end of the human's rest
			h.rest(time.Until(h.last.Add(980*time.Millisecond + h.upTo(400*time.Millisecond))))
		default:
			h.rest(h.upTo(300 * time.Millisecond))
		}
		p.settle()
		if i%10 == 9 || i == n-1 {
			p.drain()
		}
	}
	r.neverMixed(h, p)
	shown(t, a.Name()+": random interleavings of a typist and senders: its model received the human's texts in order and whole messages, each once",
		"%d, with %d submissions and %d messages", n, len(h.sent), len(p.bodies))
}

// say types a text of words, blanks, new lines and mistakes, and submits it.
func (r *realAgent) say(h *hand) {
	r.t.Helper()
	for range 1 + h.rnd.IntN(4) {
		switch h.rnd.IntN(6) {
		case 0:
			h.do("\x7f")
		case 1:
			h.do(h.agent.newline[0])
		default:
			for _, c := range h.word() + " " {
				h.do(string(c))
				h.rest(12*time.Millisecond + h.upTo(30*time.Millisecond)) // faster, it is a paste to some
			}
		}
		h.rest(12*time.Millisecond + h.upTo(100*time.Millisecond))
	}
	h.do(h.word())
	r.shows(h.edit.Text())
	idle(r.t, 200*time.Millisecond) // sooner, Enter belongs to what is before it
	h.do("\r")
}

// neverMixed checks what the model received, turn by turn: the human's texts in
// order, those sent together in one turn, and the messages.
func (r *realAgent) neverMixed(h *hand, p *post) {
	r.t.Helper()
	for id := range p.bodies {
		if p.missed[id] == "" {
			r.turnWith("[relay " + id + " ")
		}
	}
	if n := len(h.sent); n > 0 {
		words := strings.Fields(h.sent[n-1])
		r.turnWith(words[len(words)-1])
	}
	var got []string
	ids := map[string]bool{}
	var before []string
	for _, turn := range r.api.Turns() {
		all := turn.Text
		if n := len(before); n < len(all) && slices.Equal(all[:n], before) {
			turn.Text = all[n:] // a human who adds to what Codex works on makes it ask again, with all of it
		}
		before = all
		s := r.Received(turn)
		for s = strings.TrimSpace(s); strings.HasPrefix(s, "[relay "); s = strings.TrimSpace(s) {
			id := begins(s)
			rest, whole := strings.CutPrefix(s, text(id, p.bodies[id]))
			if !whole || ids[id] || p.missed[id] == "failed" {
				r.t.Fatalf("message %s came before (%v), or not whole (%v), or failed: %q", id, ids[id], !whole, clip(s))
			}
			ids[id], s = true, rest
		}
		got = append(got, strings.Fields(s)...)
	}
	want := strings.Fields(strings.Join(h.sent, "\n"))
	if strings.Join(got, " ") != strings.Join(want, " ") {
		r.t.Fatalf("besides messages the model received\n%q\nwant\n%q", got, want)
	}
	if want := len(p.bodies) - len(p.missed); len(ids) < want {
		r.t.Errorf("%d messages received, want %d", len(ids), want)
	}
}
