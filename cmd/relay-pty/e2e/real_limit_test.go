package e2e

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// TestRealMessagesWaitForAnAPIThatRefuses: after a turn that the API refused, nothing is typed into
// an agent that shows that it is ready, and its status says why. A resume lets one message be
// tried; that one is refused again, and the next one is answered, so that all go on.
func TestRealMessagesWaitForAnAPIThatRefuses(t *testing.T) {
	each(t, realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()), refusedByALimit)
}

// refused has the agent's API refuse each request so, as long as that is true.
func (r *realAgent) refused(reply fakemodel.Reply) *atomic.Bool {
	var refuses atomic.Bool
	refuses.Store(true)
	answers := r.api.Responder()
	r.api.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if refuses.Load() {
			return reply
		}
		return answers(turn)
	})
	return &refuses
}

func refusedByALimit(t *testing.T, a agentrig.Agent) {
	r := startAgent(t, a)
	refuses := r.refused(fakemodel.Reply{Refuse: 429, Resets: 10 * time.Minute})
	r.inject("m1", "one")
	r.delivers("m1", "submitted", "turn")
	r.state("blocked")
	if a.Profile == "codex" { // which offers another model once, in a dialog
		const offers = "Approaching rate limits"
		must(t, r.WaitText(patience(t, offers), offers))
		must(t, r.Type("\x1b"))
		over := func(s *screen.Screen) bool { return !strings.Contains(term.Dump(s), offers) }
		must(t, r.WaitScreen(patience(t, "the end of that"), over))
	}
	began := len(r.api.Turns())
	for _, id := range []string{"m2", "m3", "m4"} {
		r.inject(id, "more")
	}
	for _, id := range []string{"m2", "m3", "m4"} {
		r.held(id, "ready", time.Second)
	}
	if n := len(r.api.Turns()); n != began {
		t.Errorf("%d more requests came while the API refuses", n-began)
	}
	status := r.request(fields("status"))
	why := status.Str("blocked_by")
	if status.Fields["agent_idle"] != false || status.Str("waiting_for") != "ready" || !strings.Contains(why, "refused a turn (limit): ") {
		t.Errorf("got %s", status.Raw)
	}
	says := map[string]string{"claude": "the next message is tried at ", "codex": "messages wait until "}[a.Profile]
	if !strings.Contains(why, says) {
		t.Errorf("got %q, want %q", why, says)
	}

	r.ask(map[string]any{"type": "resume"})
	r.delivers("m2", "submitted", "turn")
	r.held("m3", "ready", time.Second)
	refuses.Store(false)
	r.ask(map[string]any{"type": "resume"})
	for _, id := range []string{"m3", "m4"} {
		r.delivers(id, "submitted", "turn")
	}
	r.state("ready")
	r.once([]string{"m1", "m2", "m3", "m4"})
}

// TestRealMenuBehindALimitIsADialog: Gemini CLI asks what to do now when its API has refused a turn
// by a limit. It is blocked by that question, and nothing is typed into its menu, however urgent;
// what waited is read when a human has answered.
func TestRealMenuBehindALimitIsADialog(t *testing.T) {
	each(t, realagent.Tried(agentrig.Gemini()), func(t *testing.T, a agentrig.Agent) {
		r := startAgent(t, a)
		refuses := r.refused(fakemodel.Reply{Refuse: 429, Resets: 10 * time.Minute})
		r.inject("m1", "one")
		r.told("Usage limit reached for ")
		must(t, r.WaitText(patience(t), "1. Keep trying"))
		menu := r.drawn()
		waiting := map[string]string{"m2": "sequential", "m3": "important", "m4": "urgent"}
		for id, mode := range waiting {
			r.press(mode, id, "2\n1\nthere")
			r.held(id, "dialog", 600*time.Millisecond)
		}
		if now := r.drawn(); now != menu {
			t.Errorf("the menu changed, and no human answered it; before:\n%s\nnow:\n%s", menu, now)
		}
		refuses.Store(false)
		must(t, r.Type("1"))
		for id := range waiting {
			r.delivers(id, "submitted", "turn")
			r.turnWith("[relay " + id + " from bob]")
		}
		r.once([]string{"m2", "m3", "m4"})
	})
}

// TestRealAgentThatTriesAgainSaysSo: while an agent's API refuses and it tries again by itself, as
// often as it likes, its status says so; then it answers. Gemini CLI and Qwen Code show nothing of
// it.
func TestRealAgentThatTriesAgainSaysSo(t *testing.T) {
	list := []agentrig.Agent{agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()}
	if testrig.Proving() {
		list = append(list, agentrig.OpenCode())
	}
	each(t, realagent.Tried(list...), func(t *testing.T, a agentrig.Agent) {
		r := startAgent(t, a)
		refuses := r.refused(fakemodel.Reply{Refuse: 529})
		r.inject("m1", "one")
		const why = "its API refuses, and it tries again by itself"
		r.wrapped.told("a state with "+why, func(f testrig.Frame) bool {
			return f.Type() == "state" && f.Str("state") == "busy" && strings.Contains(f.Str("blocked_by"), why)
		})
		refuses.Store(false)
		r.delivers("m1", "submitted", "turn")
		r.state("ready")
		if status := r.request(fields("status")); status.Fields["blocked_by"] != nil {
			t.Errorf("then it is %s", status.Raw)
		}
	})
}
