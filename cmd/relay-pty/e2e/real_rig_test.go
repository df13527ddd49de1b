package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/inject/sight"
	"relay-pty/parser"
	"relay-pty/pty/screen"
)

// realAgent is a real agent of the rig's table under the wrapper.
type realAgent struct {
	*wrapped
	agentrig.Agent
	api    *fakemodel.Server
	cwd    string
	canary string // what a message would make if it ran
	look   *profile.Profile
}

// eachAgent runs test for every agent of the table, side by side.
func eachAgent(t *testing.T, test func(t *testing.T, a agentrig.Agent)) {
	each(t, realagent.Tried(agentrig.All()...), test)
}

// each runs test for agents, side by side. In `make test` their sessions are the longest tests, so
// none of them queues for a place behind tests that are not the last.
func each(t *testing.T, agents []agentrig.Agent, test func(t *testing.T, a agentrig.Agent)) {
	t.Parallel()
	var all sync.WaitGroup
	atOnce := make(chan struct{}, 4) // more starve each other, and what is typed together is read together
	for _, a := range agents {
		once := func(t *testing.T) { test(t, a) }
		if proving() {
			t.Run(a.Name(), func(t *testing.T) { t.Parallel(); once(t) })
		} else {
			atOnce <- struct{}{}
			all.Go(func() {
				defer func() { <-atOnce }()
				t.Run(a.Name(), once)
			})
		}
	}
	all.Wait()
}

// begin starts the agent with the changes to its home.
func begin(t *testing.T, a agentrig.Agent, changes []agentrig.Change, flags ...string) *realAgent {
	t.Helper()
	return beginSized(t, a, 0, 0, changes, flags...)
}

// beginSized is begin in a terminal of that size; 0 is the usual.
func beginSized(t *testing.T, a agentrig.Agent, rows, cols int, changes []agentrig.Change, flags ...string) *realAgent {
	t.Helper()
	real := realagent.SetUp(t, a, scratch(t), changes...)
	real.API.KeepRaw()
	must(t, os.WriteFile(filepath.Join(real.Dir, "work.txt"), []byte("contents\n"), 0o600))
	look, _ := agents.Named(a.Profile)
	w := start(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir, Rows: rows, Cols: cols}, append([]string{"--agent", a.Profile}, flags...)...)
	return &realAgent{w, a, real.API, real.Dir, filepath.Join(real.Dir, "canary"), look}
}

// startAgent starts the agent and waits until it is ready. On a machine with ten programs to a
// processor OpenCode, whose start takes 20 seconds of one there, paints nothing for two minutes.
func startAgent(t *testing.T, a agentrig.Agent, flags ...string) *realAgent {
	t.Helper()
	r := begin(t, a, nil, flags...)
	r.stateBy(bounded(t, 5*time.Minute, "its start"), "ready")
	return r
}

// startClaude starts Claude Code in a terminal of that size and waits until it is ready.
func startClaude(t *testing.T, rows, cols int, flags ...string) *realAgent {
	t.Helper()
	r := beginSized(t, agentrig.Claude(agentrig.ClaudeNow), rows, cols, nil, flags...)
	r.state("ready")
	return r
}

// turn waits for the turn with the message and checks that it holds the message
// whole and nothing else that is new.
func (r *realAgent) turn(id, body string) fakemodel.Turn {
	r.t.Helper()
	turn := r.turnWith("[relay " + id + " from bob]")
	want := parser.Envelope{ID: id, From: "bob", Body: body}.Text()
	fresh := strings.Join(slices.DeleteFunc(slices.Clone(turn.Text), func(text string) bool { return r.said(turn.N, text) }), "\n")
	if got := r.Unwrap(fresh); got != want && got != r.Unwrap(want) && fresh != want {
		r.t.Fatalf("%s: the model received\n%q\nwant\n%q", id, clip(got), clip(want))
	}
	return turn
}

// onlyTurn is turn, in which nothing comes again either.
func (r *realAgent) onlyTurn(id, body string) fakemodel.Turn {
	r.t.Helper()
	turn := r.turn(id, body)
	if got, want := r.Received(turn), (parser.Envelope{ID: id, From: "bob", Body: body}).Text(); got != want {
		r.t.Fatalf("%s: the model received\n%q\nwant\n%q", id, clip(got), clip(want))
	}
	return turn
}

// said reports whether a turn before n brought the same text: it comes again with
// the next one when the model's answer to it was interrupted.
func (r *realAgent) said(n int, text string) bool {
	for _, before := range r.api.Turns()[:n] {
		if slices.Contains(before.Text, text) {
			return true
		}
	}
	return false
}

// turnWith waits for the first turn whose user text holds part. Gemini CLI takes
// half a minute to send 64 KB without a blank.
func (r *realAgent) turnWith(part string) fakemodel.Turn {
	r.t.Helper()
	turn, err := r.api.WaitTurn(bounded(r.t, 4*time.Minute), func(t fakemodel.Turn) bool { return strings.Contains(t.UserText(), part) })
	if err != nil {
		r.t.Fatalf("turn with %q: %v", clip(part), err)
	}
	return turn
}

// ended waits for the end of a turn's reply.
func (r *realAgent) ended(n int) fakemodel.Turn {
	r.t.Helper()
	turn, err := r.api.WaitTurn(patience(r.t, fmt.Sprintf("the end of turn %d", n)), func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
	must(r.t, err)
	return turn
}

// once checks that every message is in the model's conversation once, and that
// no message ran.
func (r *realAgent) once(ids []string) {
	r.t.Helper()
	turns := r.api.Turns()
	whole := string(turns[len(turns)-1].Raw)
	for _, id := range ids {
		if n := strings.Count(whole, "[relay "+id+" from bob]"); n != 1 {
			r.t.Errorf("%s is %d times in the conversation, want once", id, n)
		}
	}
	if _, err := os.Stat(r.canary); err == nil {
		r.t.Error("a message ran a command")
	}
}

// pause is the time that a human takes between what they see and the next key.
// Gemini CLI takes an Enter sooner behind text for one more line.
func pause(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

const humanPause = 400 * time.Millisecond

// enter is the human's Enter.
func (r *realAgent) enter() {
	r.t.Helper()
	pause(r.t, humanPause)
	must(r.t, r.Type("\r"))
}

// shows waits until the composer shows something, with part in it, white space apart.
func (r *realAgent) shows(part string) {
	r.t.Helper()
	part = squeeze(part)
	err := r.WaitScreen(patience(r.t), func(s *screen.Screen) bool {
		shown := squeeze(sight.Look(r.look, s).Box.Text)
		return shown != "" && strings.Contains(shown, part)
	})
	if err != nil {
		r.t.Fatalf("wait for the composer to show %q: %v\n%s", clip(part), err, r.Screen())
	}
}

// box is what the composer shows now.
func (r *realAgent) box() (text string) {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	must(r.t, r.WaitScreen(ctx, func(s *screen.Screen) bool { text = sight.Look(r.look, s).Box.Text; return true }))
	return text
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }
