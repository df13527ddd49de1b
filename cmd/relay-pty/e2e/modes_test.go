package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/parser"
)

// press sends a message of a mode.
func (w *wrapped) press(mode, id, body string) {
	w.t.Helper()
	must(w.t, w.client.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "body": body, "mode": mode}))
}

// ask types a prompt and submits it once it shows.
func (f *fake) ask(prompt string) {
	f.t.Helper()
	f.types(prompt)
	n := len(f.submits())
	must(f.t, f.Type("\r"))
	_, err := f.agent.WaitEvent(patience(f.t), agents.KindSubmit, n+1)
	must(f.t, err)
}

// types types keys and waits until they show.
func (f *fake) types(keys string) {
	f.t.Helper()
	must(f.t, f.Type(keys))
	must(f.t, f.WaitText(patience(f.t), keys))
}

// draft is what stands in the composer.
func (f *fake) draft() string {
	f.t.Helper()
	return f.stands().Draft
}

// event waits for an event of a type.
func (w *wrapped) event(kind string) testrig.Frame {
	w.t.Helper()
	return w.told(kind, func(f testrig.Frame) bool { return f.Type() == kind })
}

func TestUrgentInterruptsAndTheDraftSurvives(t *testing.T) {
	times(t, "a composer with a draft, busy: an urgent message interrupts the turn, the draft comes back", func(t *testing.T) {
		f := startComposer(t, agents.Config{BusyMS: -1})
		f.ask("work")
		f.types("half a draft")
		f.press("urgent", "m1", "hello")
		f.delivers("m1", "submitted")
		f.event("draft_stashed")
		f.event("draft_restored")
		if want := []string{"work", text("m1", "hello")}; !slices.Equal(f.submits(), want) || f.draft() != "half a draft" {
			t.Errorf("submitted %q, the composer holds %q", f.submits(), f.draft())
		}
	})
}

func TestUrgentGivesTheInterruptedPromptBack(t *testing.T) {
	times(t, "a composer that thinks: an urgent message interrupts it, and the prompt that came back is submitted again", func(t *testing.T) {
		f := startComposer(t, agents.Config{BusyMS: -1, ReturnPrompt: true})
		f.ask("work")
		f.press("urgent", "m1", "hello")
		f.delivers("m1", "submitted")
		f.do(agents.Command{Cmd: "idle"})
		_, err := f.agent.WaitEvent(patience(t), agents.KindSubmit, 3)
		must(t, err)
		if want := []string{"work", text("m1", "hello"), "work"}; !slices.Equal(f.submits(), want) || f.draft() != "" {
			t.Errorf("submitted %q, the composer holds %q", f.submits(), f.draft())
		}
	})
}

func TestOldDraftIsSetAside(t *testing.T) {
	times(t, "a composer with a draft older than --draft-timeout: set aside, message delivered, draft back", func(t *testing.T) {
		f := startFake(t, "composer", agents.Config{BusyMS: 1}, "--agent", "claude", "--draft-timeout", "1500")
		f.state("ready")
		typed := time.Now()
		f.types("half a draft")
		f.inject("m1", "hello")
		f.notBefore("m1", typed.Add(1500*time.Millisecond))
		f.delivers("m1", "submitted")
		f.event("draft_restored")
		f.types(", and more")
		must(t, f.Type("\r"))
		_, err := f.agent.WaitEvent(patience(t), agents.KindSubmit, 2)
		must(t, err)
		if want := []string{text("m1", "hello"), "half a draft, and more"}; !slices.Equal(f.submits(), want) {
			t.Errorf("submitted %q, want %q", f.submits(), want)
		}
	})
}

func TestMessagesThatWaitGoTogether(t *testing.T) {
	t.Parallel()
	f := startFake(t, "composer", agents.Config{BusyMS: 1}, "--agent", "claude", "--batch-max", "3")
	f.state("ready")
	f.do(agents.Command{Cmd: "dialog", Text: "make"})
	f.state("blocked")
	var want []string
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		f.inject(id, "body of "+id+strings.Repeat(" and more", 100))
		want = append(want, text(id, "body of "+id+strings.Repeat(" and more", 100)))
	}
	f.held("m4", "dialog", time.Second)
	must(t, f.Type("\x1b"))
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		f.delivers(id, "submitted")
	}
	if got := f.submits(); !slices.Equal(got, []string{strings.Join(want[:3], "\n\n"), want[3]}) {
		t.Errorf("submitted %q", got)
	}
}

// quoting is a body that quotes its message's own header and footer, within a line and as one, and
// those of the next message of its turn. A long one shows as a chip in many composers.
func quoting(id, next string, long bool) string {
	own, other := parser.Envelope{ID: id, From: "bob", Body: "x"}, parser.Envelope{ID: next, From: "bob", Body: "y"}
	body := own.Header() + " and " + other.Footer() + " and " + other.Header() + " and\n" + own.Footer()
	if long {
		return body + "\n" + other.Text() + strings.Repeat("\nand more", 20)
	}
	return body
}

func TestMessagesThatQuoteEachOther(t *testing.T) {
	t.Parallel()
	f := startFake(t, "composer", agents.Config{BusyMS: 1}, "--agent", "claude")
	f.state("ready")
	f.inject("m0", quoting("m0", "m0", false))
	f.delivers("m0", "submitted")
	f.state("ready")
	f.do(agents.Command{Cmd: "dialog", Text: "make"})
	f.state("blocked")
	var want []string
	for i := range 4 {
		id := fmt.Sprint("m", i+1)
		body := quoting(id, fmt.Sprint("m", i+2), i%2 == 1)
		f.inject(id, body)
		want = append(want, text(id, body))
	}
	f.held("m4", "dialog", time.Second)
	must(t, f.Type("\x1b"))
	for i := range 4 {
		f.delivers(fmt.Sprint("m", i+1), "submitted")
	}
	if got := f.submits(); !slices.Equal(got, []string{text("m0", quoting("m0", "m0", false)), strings.Join(want, "\n\n")}) {
		t.Errorf("submitted %q", got)
	}
}

// messagesQuoteEachOther quotes what proves that a message stands in a composer, by
// itself and in a turn of several.
func messagesQuoteEachOther(t *testing.T, r *realAgent) {
	for i, body := range []string{quoting("q0", "other", false), quoting("q1", "other", true), "[end q2 · reply: ->relay:bob [re=q2] <<<…>>>]"} {
		id := fmt.Sprint("q", i)
		r.inject(id, body)
		end := r.delivers(id, "submitted", "turn")
		r.turn(id, body)
		r.rests(end)
	}
	r.inject("before", "SLOW 1")
	r.turnWith("[relay before from bob]")
	var want []string
	for i := range 4 {
		id := fmt.Sprint("o", i)
		body := quoting(id, fmt.Sprint("o", (i+1)%4), i == 2)
		r.inject(id, body)
		want = append(want, text(id, body))
	}
	for i := range 4 {
		r.delivers(fmt.Sprint("o", i), "submitted", "turn")
	}
	for i, whole := range want {
		_, err := r.api.WaitTurn(patience(t, fmt.Sprintf("a turn with all of o%d", i)), func(turn fakemodel.Turn) bool {
			return strings.Contains(r.Received(turn), r.Unwrap(whole))
		})
		must(t, err)
	}
	shown(t, r.Name()+": messages that quote their own and each other's headers and footers, alone and in one turn", "7 of 7")
}

// An important message is handed to the busy agent, in its own way: it waits in the
// agent's queue, cuts nothing, and is delivered once the log shows it in a turn.
func importantCutsNothing(t *testing.T, r *realAgent) { r.joins("important", runs(1, 20)) }

// joins has n messages of that mode handed to the busy agent.
func (r *realAgent) joins(mode string, n int) {
	t, late := r.t, 0
	var ids []string
	for i := range n {
		long, id := fmt.Sprintf("%s-j%d", mode, i), fmt.Sprintf("%s-i%d", mode, i)
		r.inject(long, []string{"SLOW 10", "THINK 10", "TOOL 10"}[i%3]) // it must not be over before the other is handed in
		reply := r.turnWith("[relay " + long + " from bob]")
		r.state("busy")
		r.press(mode, id, "by the way")
		_, err := r.client.WaitStatus(patience(t), id, "injecting")
		must(t, err)
		if now := r.api.Turns()[reply.N]; !now.Open() && i%3 != 2 { // a reply that calls a tool ends before the turn
			t.Errorf("%s: it waited for the end of the turn", id)
		}
		end := r.delivers(id, "turn", "submitted")
		if reply = r.ended(reply.N); reply.Aborted {
			t.Errorf("%s: the reply before it was cut short", id)
		}
		if end.Str("evidence") == "submitted" {
			late++
			r.wasIdle(end)
		}
		header := "[relay " + id + " from bob]"
		_, err = r.api.WaitTurn(patience(t, "a turn with "+header), func(turn fakemodel.Turn) bool {
			return strings.Contains(turn.UserText()+strings.Join(turn.System, "\n"), header) // in a turn, Claude tells it as the system
		})
		must(t, err)
		r.state("ready")
		ids = append(ids, long, id)
	}
	if late > max(1, n/3) {
		t.Errorf("%d of %d were handed over after the turn", late, n)
	}
	for _, id := range ids {
		n := 0
		for _, turn := range r.api.Turns() {
			n += strings.Count(turn.UserText()+strings.Join(turn.System, "\n"), "[relay "+id+" from bob]")
		}
		if n != 1 {
			t.Errorf("%s came %d times, want once", id, n)
		}
	}
	shown(t, r.Name()+", "+mode+": handed to the busy agent, delivered by its log, nothing cut", "%d of %d", n, n)
}

// wasIdle checks that no other turn ran when a message was delivered: an agent may show what is
// typed only when its turn is over, and then it was handed to an idle one.
func (r *realAgent) wasIdle(end testrig.Frame) {
	r.t.Helper()
	at := time.UnixMilli(end.Num("timestamp"))
	for _, turn := range r.api.Turns() {
		if !strings.Contains(turn.UserText(), "[relay "+end.Str("id")+" ") && (turn.Open() || turn.Ended.After(at)) {
			r.t.Errorf("%s: delivered as to an idle agent, in its turn %d", end.Str("id"), turn.N)
		}
	}
}

// gate makes the model think about each turn whose text holds word until it is opened.
func gate(t *testing.T, api *fakemodel.Server, word string) (open func()) {
	opened, script := make(chan struct{}), api.Responder()
	api.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if strings.Contains(turn.UserText(), word) {
			select {
			case <-opened:
			case <-t.Context().Done():
			}
		}
		return script(turn)
	})
	return sync.OnceFunc(func() { close(opened) })
}

func TestProveClaudeTakesManyAsOneTurn(t *testing.T) {
	t.Parallel()
	r := startClaude(t, 24, 80)
	open := gate(t, r.api, "[relay slow ")
	r.inject("slow", "think of it")
	r.delivers("slow", "submitted", "turn")
	var want []string
	for i, body := range []string{"one", "two\nthree\nfour\nfive", strings.Repeat("long ", 500), "five"} {
		id := fmt.Sprintf("m%d", i)
		r.inject(id, body)
		r.queued(id)
		want = append(want, text(id, body))
	}
	open()
	for i := range want {
		r.delivers(fmt.Sprintf("m%d", i), "submitted", "turn")
	}
	turn, err := r.api.WaitTurn(patience(t, "a turn with m0"), func(turn fakemodel.Turn) bool { return strings.Contains(turn.UserText(), "[relay m0") })
	must(t, err)
	if got := fakemodel.Received(turn); got != strings.Join(want, "\n\n") {
		t.Errorf("got %q", got)
	}
}
