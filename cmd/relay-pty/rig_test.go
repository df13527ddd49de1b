package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/anthropic"
	"relay-pty/cmd/internal/testrig/claude"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/parser"
)

// runs is how often a test repeats: short in `make test`, full in `make prove`.
func runs(short, full int) int {
	if os.Getenv("RELAY_PROVE") != "" {
		return full
	}
	return short
}

// shown reports what a test has shown, for testdata/evidence.md.
func shown(t *testing.T, what, format string, args ...any) {
	t.Helper()
	if !t.Failed() {
		t.Logf("EVIDENCE %s => %s", what, fmt.Sprintf(format, args...))
	}
}

// cell reports how many of n held with an agent in a situation, for the table of
// the real agents in testdata/evidence.md and the README.
func cell(t *testing.T, agent, situation string, held, n int) {
	t.Helper()
	if !t.Failed() {
		t.Logf("CELL %s %s %d of %d", agent, situation, held, n)
	}
}

// patience bounds every wait of a test; it is reached only by a failure.
func patience(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("not within %v", d))
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var build struct {
	once sync.Once
	path string
	err  error
}

// binary is the wrapper as a user gets it.
func binary(t testing.TB) string {
	t.Helper()
	build.once.Do(func() {
		dir, err := os.MkdirTemp("", "relay-bin")
		if err != nil {
			build.err = err
			return
		}
		build.path = filepath.Join(dir, "relay-pty")
		cmd := exec.Command("make", "-s", "-C", "../..", "build", "BIN="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			build.err = fmt.Errorf("make build: %w\n%s", err, out)
		}
	})
	must(t, build.err)
	return build.path
}

// wrapped is an agent under the wrapper, on a terminal of a human, and a client.
type wrapped struct {
	*testrig.Term
	t      *testing.T
	socket string
	log    string
	client *testrig.Client
}

// scratch is a directory with a short name, for sockets.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rp")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// start runs the wrapper and waits until its socket answers a subscription.
func start(t *testing.T, opts term.Options, flags ...string) *wrapped {
	t.Helper()
	return startIn(t, scratch(t), opts, flags...)
}

// startIn is start with a directory that may hold the journal of a run before.
func startIn(t *testing.T, dir string, opts term.Options, flags ...string) *wrapped {
	t.Helper()
	w := &wrapped{t: t, socket: filepath.Join(dir, "s"), log: filepath.Join(dir, "log")}
	argv := append([]string{binary(t), "--name", "alice", "--socket", w.socket, "--log-file", w.log}, flags...)
	opts.Argv = append(append(argv, "--"), opts.Argv...)
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	opts.Env = append(opts.Env, "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
	w.Term = testrig.StartTerm(t, opts)
	ctx := patience(t, 20*time.Second)
	for w.client == nil {
		c, err := testrig.Dial(ctx, w.socket)
		if err == nil {
			w.client = c
			break
		}
		must(t, context.Cause(ctx))
	}
	t.Cleanup(func() { w.client.Close() })
	must(t, w.client.Send(map[string]any{"type": "subscribe", "after": 0}))
	_, err := w.client.Wait(ctx, func(f testrig.Frame) bool { return f.Type() == "subscribed" })
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			b, _ := os.ReadFile(w.log)
			t.Logf("screen:\n%s\nlog:\n%s\nframes:\n%s", w.Screen(), b, dump(w.client.Frames()))
		}
	})
	return w
}

func dump(frames []testrig.Frame) string {
	var b strings.Builder
	for _, f := range frames[max(0, len(frames)-40):] {
		b.WriteString(f.Raw)
	}
	return b.String()
}

// inject sends a message.
func (w *wrapped) inject(id, body string) {
	w.t.Helper()
	must(w.t, w.client.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "body": body}))
}

// ends waits for the message's terminal result.
func (w *wrapped) ends(id string, limit time.Duration) testrig.Frame {
	w.t.Helper()
	f, err := w.client.Wait(patience(w.t, limit), func(f testrig.Frame) bool {
		switch f.Str("status") {
		case "delivered", "failed", "expired", "unknown":
			return f.Type() == "inject_result" && f.Str("id") == id
		}
		return f.Type() == "error" && f.Str("id") == id
	})
	if err != nil {
		w.t.Fatalf("end of %s: %v", id, err)
	}
	return f
}

// delivers waits for the message's delivery and checks its evidence.
func (w *wrapped) delivers(id string, evidence ...string) testrig.Frame {
	w.t.Helper()
	f := w.ends(id, time.Minute)
	for _, e := range evidence {
		if f.Str("status") == "delivered" && f.Str("evidence") == e {
			return f
		}
	}
	w.t.Fatalf("%s: %s want delivered by %v", id, f.Raw, evidence)
	return f
}

// state waits until the agent's latest state is the wanted one.
func (w *wrapped) state(want string) {
	w.t.Helper()
	ctx := patience(w.t, 30*time.Second)
	for {
		frames := w.client.Frames()
		n := len(frames)
		last := ""
		for _, f := range frames {
			if f.Type() == "state" {
				last = f.Str("state")
			}
		}
		if last == want {
			return
		}
		if _, err := w.client.WaitFrom(ctx, n, func(testrig.Frame) bool { return true }); err != nil {
			w.t.Fatalf("state %s, want %s: %v", last, want, err)
		}
	}
}

// rests waits until the agent is ready again after a message.
func (w *wrapped) rests(after testrig.Frame) {
	w.t.Helper()
	_, err := w.client.Wait(patience(w.t, 30*time.Second), func(f testrig.Frame) bool {
		return f.Type() == "state" && f.Str("state") == "ready" && f.Num("seq") > after.Num("seq")
	})
	if err != nil {
		w.t.Fatalf("not ready again: %v", err)
	}
}

// held checks that for a while nothing happens to a message but waiting, or
// what else is given, and that it waits for the given thing.
func (w *wrapped) held(id, reason string, while time.Duration, but ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), while)
	defer cancel()
	f, err := w.client.Wait(ctx, func(f testrig.Frame) bool {
		return f.Str("id") == id && f.Str("status") != "queued" && f.Type() != "waiting" && !slices.Contains(but, f.Str("status"))
	})
	if err == nil {
		w.t.Fatalf("%s was not held: %s", id, f.Raw)
	}
	n := len(w.client.Frames())
	must(w.t, w.client.Send(map[string]any{"type": "query", "id": id, "req": "held"}))
	f, err = w.client.WaitFrom(patience(w.t, 10*time.Second), n, func(f testrig.Frame) bool { return f.Str("req") == "held" })
	must(w.t, err)
	if f.Str("waiting_for") != reason {
		w.t.Fatalf("%s waits for %q, want %q: %s", id, f.Str("waiting_for"), reason, f.Raw)
	}
}

// commands lists the relay_command events so far, as "to|reply_to|body".
func (w *wrapped) commands() []string {
	var out []string
	for _, f := range w.client.Frames() {
		if f.Type() == "relay_command" {
			out = append(out, f.Str("to")+"|"+f.Str("reply_to")+"|"+f.Str("body"))
		}
	}
	return out
}

// waitCommands waits until there are n.
func (w *wrapped) waitCommands(n int) []string {
	w.t.Helper()
	ctx := patience(w.t, 30*time.Second)
	for {
		seen := len(w.client.Frames())
		if got := w.commands(); len(got) >= n {
			return got
		}
		if _, err := w.client.WaitFrom(ctx, seen, func(testrig.Frame) bool { return true }); err != nil {
			w.t.Fatalf("%d commands, want %d: %v", len(w.commands()), n, err)
		}
	}
}

// real is the real Claude Code under the wrapper, its API and what it changed.
type real struct {
	*wrapped
	api *anthropic.Server
	cwd string
}

func startClaude(t *testing.T, rows, cols int, flags ...string) *real {
	t.Helper()
	path, err := claude.Find()
	testrig.Require(t, "claude", err)
	api, err := anthropic.Start()
	must(t, err)
	t.Cleanup(func() { api.Close() })
	dir := scratch(t)
	env, cwd, err := claude.Prepare(dir, api.URL())
	must(t, err)
	w := start(t, term.Options{Argv: claude.Argv(path), Env: env, Dir: cwd, Rows: rows, Cols: cols}, append([]string{"--agent", "claude"}, flags...)...)
	w.state("ready")
	return &real{w, api, cwd}
}

// turn waits for the turn with the message and checks that it holds it whole.
func (r *real) turn(id, body string) anthropic.Turn {
	r.t.Helper()
	want := parser.Envelope{ID: id, From: "bob", Body: body}.Text()
	has := func(t anthropic.Turn) bool { return strings.Contains(t.UserText(), "[relay "+id+" from bob]") }
	turn, err := r.api.WaitTurn(patience(r.t, 30*time.Second), has)
	must(r.t, err)
	got := strings.TrimPrefix(anthropic.Received(turn), "[Request interrupted by user for tool use]\n\n") // what an Esc in a dialog leaves
	if got != want {
		r.t.Fatalf("%s: the model received\n%q\nwant\n%q", id, clip(got), clip(want))
	}
	return turn
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:300] + " … " + s[len(s)-300:]
	}
	return s
}
