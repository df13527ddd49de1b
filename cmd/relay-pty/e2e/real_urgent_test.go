package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/inject/sight"
	"relay-pty/pty/screen"
)

// TestProveUrgentMessagesAreQuick: an urgent message cuts a long reply and a long silence short
// within the time that the product promises, on an idle machine.
func TestProveUrgentMessagesAreQuick(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		const n = 20
		r := startAgent(t, a)
		if !r.interrupted() {
			r.joins("urgent", n)
			return
		}
		took, withDraft := r.urgents(n, 1)
		if worst := slices.Max(took); worst > 2*time.Second {
			t.Errorf("the model had an urgent message after %v, want 2s at the most", worst)
		}
		cell(t, a.Name(), "urgent", n, n)
		shown(t, a.Name()+", urgent: long reply or silence cut short, the model has the message, the interrupted prompt and a draft are kept",
			"%d of %d, %d with a draft; after %s", n, n, withDraft, spread(took))
	})
}

// urgentCutsReplies: so does one in a session in which much else happened before. In `make test`
// one comes into a reply that fills the screen, and one into a silence, beside a draft.
func urgentCutsReplies(t *testing.T, r *realAgent) {
	if !r.interrupted() {
		r.joins("urgent", runs(1, 3))
		return
	}
	r.urgents(runs(2, 3), runs(3, 1))
}

// interrupted reports whether an urgent message interrupts the agent. Another one gets it as an
// important one.
func (r *realAgent) interrupted() bool { return len(r.look.Typing.Interrupt) > 0 }

// urgents sends every so many-th of the urgent messages, each into a long reply or a long silence,
// some beside a draft, and returns how long each took to the model.
func (r *realAgent) urgents(n, step int) (took []time.Duration, withDraft int) {
	r.t.Helper()
	r.api.Respond(onlyOnce(r.api))
	for i := 0; i < n*step; i += step {
		long, id := fmt.Sprintf("cut%d", i), fmt.Sprintf("urgent%d", i)
		r.inject(long, []string{"SLOW 60", "THINK 60"}[i%2])
		reply := r.turnWith("[relay " + long + " from bob]")
		r.state("busy")
		body := "now"
		if i%4 == 0 { // the reply fills the screen, and what the agent then leaves there is its own
			must(r.t, r.WaitText(patience(r.t, "a reply that fills the screen"), "Line 12 of"))
			body = strings.Repeat("now\n", i/4%5) + "now"
		}
		d := begun{name: "one line", text: fmt.Sprintf("meanwhile-%d half a line", i), shown: "half a line"}
		begun := i%4 >= 2 && r.look.Typing.Stash != ""
		if begun {
			r.begins(d)
			pause(r.t, 1200*time.Millisecond) // a human at the keys comes first
		}
		began := time.Now()
		must(r.t, r.client.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "body": body, "mode": "urgent"}))
		turn := r.turnWith("[relay " + id + " from bob]")
		took = append(took, turn.At.Sub(began))
		r.delivers(id, "submitted", "turn")
		if reply = r.ended(reply.N); !reply.Aborted {
			r.t.Fatalf("%s: the reply before it was not cut short", id)
		}
		r.remembers(reply.N, long)
		r.state("ready")
		if begun {
			withDraft++
			r.shows(d.shown)
			r.submits(d)
			r.state("ready")
		}
	}
	r.t.Logf("from the socket to the model, in order: %v", took)
	return took, withDraft
}

// onlyOnce is the model's script, but a long reply to the same text is given once:
// an interrupted prompt may come again.
func onlyOnce(api *fakemodel.Server) func(fakemodel.Turn) fakemodel.Reply {
	var mu sync.Mutex
	seen := map[string]bool{}
	return func(t fakemodel.Turn) fakemodel.Reply {
		mu.Lock()
		defer mu.Unlock()
		text := t.Text[max(0, len(t.Text)-1):]
		if len(text) > 0 && seen[text[0]] {
			return fakemodel.Say("Again.")
		}
		if len(text) > 0 {
			seen[text[0]] = true
		}
		return api.Script(t)
	}
}

// remembers checks that an interrupted message is not lost: the model gets it with
// a later request, as its history or as what is new; or it is the prompt before
// the newest in the agent's own history.
func (r *realAgent) remembers(after int, id string) {
	r.t.Helper()
	header := "[relay " + id + " from bob]"
	if key := r.Recall; key != "" {
		r.state("ready")
		must(r.t, r.Type(key))
		r.shows("[relay")
		for range 3 { // within a prompt of several rows it goes up by one
			if pause(r.t, humanPause); strings.Contains(squeeze(r.box()), squeeze(header)) {
				break
			}
			must(r.t, r.Type(key))
		}
		r.shows(header)
		must(r.t, r.Type("\x03"))
		must(r.t, r.WaitScreen(patience(r.t, "an empty composer behind Ctrl-C"), func(s *screen.Screen) bool {
			b := sight.Look(r.look, s).Box
			return b.Visible && b.Text == ""
		}))
		return
	}
	has := func(t fakemodel.Turn) bool { return t.N > after && strings.Contains(string(t.Raw), header) }
	if _, err := r.api.WaitTurn(patience(r.t), has); err != nil {
		r.t.Fatalf("%s: the model does not get the interrupted message again: %v", id, err)
	}
}
