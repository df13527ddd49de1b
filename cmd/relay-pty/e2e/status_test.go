package e2e

import (
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	known "relay-pty/inject/agents"
	"relay-pty/inject/sight"
	"relay-pty/pty/screen"
)

// status asks for the status.
func (w *wrapped) status() testrig.Frame {
	w.t.Helper()
	return w.request(fields("status"))
}

// wantStatus checks fields of the present status.
func (w *wrapped) wantStatus(want map[string]any) {
	w.t.Helper()
	got := w.status()
	for name, v := range want {
		if has, told := got.Fields[name]; !told || has != v {
			w.t.Errorf("%s is %v, want %v: %s", name, has, v, got.Raw)
		}
	}
}

// TestStatusTellsWhatGoesOn: what waits, and what for; what is being typed, though the agent looks
// as ready as before and our text in its composer is no draft.
func TestStatusTellsWhatGoesOn(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{Swallow: -1})
	f.wantStatus(map[string]any{"queue_length": 0.0, "waiting_for": nil, "injecting": nil, "draft": false})
	f.inject("m1", "hello")
	_, err := f.agent.WaitEvent(patience(t, "an Enter that does nothing"), agents.KindSwallow, 1)
	must(t, err)
	f.wantStatus(map[string]any{"state": "ready", "queue_length": 0.0, "waiting_for": nil, "injecting": "m1", "draft": false})
	f.fails("m1", "failed", "stranded")
	must(t, f.Type("half a draft"))
	f.shows("half a draft")
	f.inject("m2", "again")
	f.waitsFor("m2", "draft")
	f.wantStatus(map[string]any{"queue_length": 1.0, "waiting_for": "draft", "injecting": nil, "draft": true})
}

// TestProveClaudeModeWithoutTextIsADraft: the composer is in a mode of its own, so nothing can be
// typed there, whether it holds text or not.
func TestProveClaudeModeWithoutTextIsADraft(t *testing.T) {
	t.Parallel()
	r := startClaude(t, 24, 80)
	look, _ := known.Named("claude")
	must(t, r.Type("!"))
	must(t, r.WaitScreen(patience(t, "the composer's shell mode"), func(s *screen.Screen) bool { return sight.Look(look, s).Box.Foreign }))
	r.inject("m1", "hello")
	r.reason("m1", "draft", nil)
	r.wantStatus(map[string]any{"draft": true, "waiting_for": "draft", "can_accept": false, "state": "unknown"})
	must(t, r.Type("\x7f"))
	r.delivers("m1", "submitted", "turn")
	r.onlyTurn("m1", "hello")
}
