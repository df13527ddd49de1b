package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/pty/screen"
)

// hookedClaude is the real Claude Code with our hooks, on a terminal.
type hookedClaude struct {
	*user
	*term.Term
	agentrig.Agent
	ctx      context.Context
	api      *fakemodel.Server
	cwd      string
	settings string // the user's file
}

func startHooked(ctx context.Context, t *testing.T, a agentrig.Agent) *hookedClaude {
	t.Helper()
	u := newUser(t)
	path, err := a.Find()
	testrig.Require(t, a.Name(), err)
	api, err := a.API()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	api.KeepRaw = true
	home := testrig.Dir(t)
	env, cwd, err := a.Prepare(home, api.URL())
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{filepath.Join(u.bin, "relay"), "run", "alice", "--socket", filepath.Join(u.dir, "alice"), "--draft-timeout", "0", "--"}, a.Argv(path)...)
	tm := testrig.StartTerm(t, term.Options{Argv: argv, Env: slices.Concat(u.env, env, environment(u.dir, u.bin)[:2]), Dir: cwd, Answers: true})
	h := &hookedClaude{u, tm, a, ctx, api, cwd, filepath.Join(home, "home", ".claude", "settings.json")}
	u.sees(ctx, "alice to be ready", func(e router.Event) bool { return e.State == "ready" })
	return h
}

// waits waits until a hook waits for messages: the one that the session's start, or the last turn, began.
func (h *hookedClaude) waits(event string) {
	h.t.Helper()
	h.becomes(h.ctx, "a hook that waits", func() bool { return len(running(h.dir, "\x00hook\x00"+event+"\x00wait\x00")) > 0 })
}

// sends sends an important message.
func (h *hookedClaude) sends(id, text string) {
	h.t.Helper()
	h.does(h.ctx, "send", "alice", text, "--important", "--id", id)
}

// gets waits until the model gets a request with the message in it.
func (h *hookedClaude) gets(id string) fakemodel.Turn {
	h.t.Helper()
	turn, err := h.api.WaitTurn(h.ctx, func(t fakemodel.Turn) bool { return bytes.Contains(t.Raw, []byte("[relay "+id+" from human]")) })
	if err != nil {
		h.t.Fatalf("a request with %s: %v\n%s\n%s", id, err, h.Screen(), h.does(h.t.Context(), "events"))
	}
	return turn
}

// delivered waits for the message's end, which the agent's log proves, or other evidence that is
// given.
func (h *hookedClaude) delivered(id string, or ...string) {
	h.t.Helper()
	var end router.Event
	h.sees(h.ctx, id+" to be delivered", func(e router.Event) bool {
		end = e
		return e.ID == id && (e.Status == "delivered" || e.Status == "unknown" || e.Status == "failed")
	})
	if end.Status != "delivered" || !slices.Contains(append(or, "turn"), end.Evidence) || end.Attempt != 1 {
		h.t.Errorf("%s ended as %s (%s), attempt %d", id, end.Status, end.Evidence, end.Attempt)
	}
}

func (h *hookedClaude) types(keys string) {
	h.t.Helper()
	if err := h.Type(keys); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hookedClaude) shows(text string) {
	h.t.Helper()
	if err := h.WaitText(h.ctx, text); err != nil {
		h.t.Fatalf("%v\n%s", err, h.Screen())
	}
}

// asks types a prompt of the human's and sends it.
func (h *hookedClaude) asks(prompt string) {
	h.t.Helper()
	h.types(prompt)
	h.shows("❯\u00a0" + prompt)
	h.types("\r")
}

// rests waits until the model has no open request and the agent is ready.
func (h *hookedClaude) rests() {
	h.t.Helper()
	n := len(h.api.Turns()) - 1
	if _, err := h.api.WaitTurn(h.ctx, func(t fakemodel.Turn) bool { return t.N == n && !t.Open() }); err != nil {
		h.t.Fatal(err)
	}
	h.becomes(h.ctx, "the end of the turn", func() bool {
		return strings.Contains(h.does(h.ctx, "status", "alice", "--json"), `"state":"ready"`)
	})
}

// rowsOf is what a screen shows.
func rowsOf(s *screen.Screen) string {
	rows, _ := s.Size()
	var b strings.Builder
	for r := range rows {
		b.WriteString(s.Row(r) + "\n")
	}
	return b.String()
}

// TestRealHooks: important messages reach Claude Code beside a draft, a dialog and its work, each
// once, and neither is touched; the user's settings stay as they are.
func TestRealHooks(t *testing.T) {
	versions := []string{"2.1.329", "2.1.197"}
	for _, version := range versions[:testrig.Runs(1, 2)] {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Minute, errors.New("not within 3m"))
			defer cancel()
			h := startHooked(ctx, t, agentrig.Claude(version))
			before, err := os.ReadFile(h.settings)
			if err != nil {
				t.Fatal(err)
			}

			h.waits("SessionStart")
			h.sends("idle", "wake up")
			woken := h.gets("idle")
			h.delivered("idle", "submitted") // it is typed if the hook is slower to ask for it
			for _, e := range h.log(ctx) {
				if e.ID == "idle" && (e.Type == router.TypeMessage || e.Status == "injecting") {
					t.Logf("an idle session asks its model %v after: %s %s", woken.At.Sub(time.UnixMilli(e.Timestamp)), e.Type, e.Status)
				}
			}
			h.rests()

			const draft = "half a prompt"
			h.waits("Stop")
			h.types(draft)
			h.shows("❯\u00a0" + draft)
			h.sends("draft", strings.Repeat("beside a draft\n", 2000))
			h.gets("draft")
			h.delivered("draft")
			h.rests()
			h.shows("❯\u00a0" + draft)
			h.types(strings.Repeat("\x7f", len(draft)))

			h.waits("Stop")
			h.asks("please TOOL 4")
			h.shows("esc to interrupt")
			h.sends("busy-1", "for the one who waits")
			h.sees(ctx, "busy-1 to be pulled", func(e router.Event) bool { return e.ID == "busy-1" && e.Status == "injecting" })
			h.types(draft) // so that it cannot be typed
			h.sends("busy-2", strings.Repeat("with the tool's result\n", 300))
			one, two := h.gets("busy-1"), h.gets("busy-2")
			h.delivered("busy-1")
			h.delivered("busy-2")
			if len(two.Results) == 0 || one.N != two.N {
				t.Errorf("they came with turns %d and %d, results %q", one.N, two.N, two.Results)
			}
			h.rests()
			h.types(strings.Repeat("\x7f", len(draft)))

			h.waits("Stop")
			h.asks("please TOUCH made.txt")
			h.shows(h.Question())
			h.sends("dialog", "beside a question")
			h.sees(ctx, "dialog to be pulled", func(e router.Event) bool { return e.ID == "dialog" && e.Status == "injecting" })
			h.shows(h.Question())
			if _, err := os.Stat(filepath.Join(h.cwd, "made.txt")); err == nil {
				t.Error("the question was answered")
			}
			answered := func(s *screen.Screen) bool { return !strings.Contains(rowsOf(s), h.Question()) }
			if err := h.PressUntil(ctx, "1", time.Second, answered); err != nil {
				t.Fatal(err)
			}
			h.gets("dialog")
			h.delivered("dialog")
			h.rests()
			if _, err := os.Stat(filepath.Join(h.cwd, "made.txt")); err != nil {
				t.Error("the human's answer did not count")
			}

			turns := h.api.Turns()
			whole := turns[len(turns)-1].Raw
			for _, id := range []string{"idle", "draft", "busy-1", "busy-2", "dialog"} {
				if n := bytes.Count(whole, fmt.Appendf(nil, "[relay %s from human]", id)); n != 1 {
					t.Errorf("the model got %s %d times", id, n)
				}
				if n := bytes.Count(whole, fmt.Appendf(nil, "[end %s ", id)); n != 1 {
					t.Errorf("the model got the end of %s %d times", id, n)
				}
			}
			if after, err := os.ReadFile(h.settings); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the user's settings are %s, %v; were %s", after, err, before)
			}
		})
	}
}
