package e2e

import (
	"context"
	"errors"
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
	"relay-pty/cmd/internal/testrig/figures"
	"relay-pty/cmd/internal/testrig/term"
)

// Short names of what all test packages share.
var (
	proving = testrig.Proving
	runs    = testrig.Runs
	seed    = testrig.Seed
	shown   = figures.Shown
	cell    = figures.Held
)

// patience bounds every wait of a test by ten times what a slow machine needs: only a failure
// reaches the bound. Its cause tells what was waited for, where the waiting function does not.
func patience(t testing.TB, what ...string) context.Context {
	t.Helper()
	return bounded(t, 2*time.Minute, what...)
}

// bounded is patience of another length.
func bounded(t testing.TB, d time.Duration, what ...string) context.Context {
	t.Helper()
	cause := strings.Join(append([]string{fmt.Sprintf("not within %v", d)}, what...), ": ")
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, errors.New(cause))
	t.Cleanup(cancel)
	return ctx
}

// command is a program that must end within five minutes, for it may be a build, and is killed
// when it does not. Whatever else holds its output then is not waited for.
func command(t testing.TB, argv ...string) *exec.Cmd {
	t.Helper()
	ctx := bounded(t, 5*time.Minute, "the end of "+strings.Join(argv, " "))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error {
		if t.Context().Err() == nil {
			t.Error(context.Cause(ctx))
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plain is the wrapper as a user gets it, breakable the same with the failpoints.
var plain, breakable build

// build is a wrapper that the first test that wants it builds.
type build struct {
	once   sync.Once
	dir    string
	noMake error // make is not installed
	err    error
}

// path builds the wrapper, if no test has yet. tags is one tag, or none.
func (b *build) path(t testing.TB, tags string) string {
	t.Helper()
	b.once.Do(func() {
		if _, b.noMake = exec.LookPath("make"); b.noMake != nil {
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "relay-bin"); b.err != nil {
			return
		}
		out, err := command(t, "make", "-s", "-C", "../../..", "wrapper", "BIN="+b.dir, "TAGS="+tags).CombinedOutput()
		if err != nil {
			b.err = fmt.Errorf("make wrapper: %w\n%s", err, out)
		}
	})
	testrig.Require(t, "make", b.noMake)
	must(t, b.err)
	return filepath.Join(b.dir, "relay-pty")
}

// binary is the wrapper as a user gets it.
func binary(t testing.TB) string {
	t.Helper()
	return plain.path(t, "")
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
	return testrig.Dir(t)
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
	state := "XDG_STATE_HOME=" + dir
	if opts.Env == nil {
		opts.Env = append(os.Environ(), state)
	}
	opts.Env = append(append([]string{state}, opts.Env...), "XDG_RUNTIME_DIR="+dir) // an agent's home may have its own
	w.Term = testrig.StartTerm(t, opts)
	ctx := patience(t, "the wrapper's socket and its answer")
	for w.client == nil {
		c, err := testrig.Dial(ctx, w.socket)
		if err == nil {
			w.client = c
			break
		}
		must(t, context.Cause(ctx))
		pause(t, time.Millisecond)
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
func (w *wrapped) ends(id string) testrig.Frame {
	w.t.Helper()
	f, err := w.client.Wait(patience(w.t), func(f testrig.Frame) bool {
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
	f := w.ends(id)
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
	w.stateBy(patience(w.t), want)
}

// stateBy is state with a bound of its own.
func (w *wrapped) stateBy(ctx context.Context, want string) {
	w.t.Helper()
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

// rests waits until the agent is ready again after a message, whose turn may have been over
// before the log told of it.
func (w *wrapped) rests(after testrig.Frame) {
	w.t.Helper()
	began, busy := after.Num("seq"), after.Num("seq")
	_, err := w.client.Wait(patience(w.t), func(f testrig.Frame) bool {
		seq, state := f.Num("seq"), f.Str("state")
		switch {
		case f.Str("status") == "injecting" && f.Str("id") == after.Str("id") && seq > 0:
			began = seq
		case f.Type() == "state" && state == "busy" && seq > began:
			busy = min(busy, seq)
		}
		return f.Type() == "state" && state == "ready" && seq > busy
	})
	if err != nil {
		w.t.Fatalf("not ready again: %v", err)
	}
}

// held waits until a message waits for the given thing, and checks that then for a while
// nothing happens to it but waiting, or what else is given, and that it waits for the same.
func (w *wrapped) held(id, reason string, while time.Duration, but ...string) {
	w.t.Helper()
	w.reason(id, reason, but)
	ctx, cancel := context.WithTimeout(w.t.Context(), while)
	defer cancel()
	f, err := w.client.Wait(ctx, func(f testrig.Frame) bool {
		return f.Str("id") == id && f.Str("status") != "queued" && f.Type() != "waiting" && !slices.Contains(but, f.Str("status"))
	})
	if err == nil {
		w.t.Fatalf("%s was not held: %s", id, f.Raw)
	}
	w.reason(id, reason, but)
}

// reason waits until a message, which must not be at its end nor typed, waits for the given
// thing. On a slow machine it may be accepted before the wrapper has looked at the agent.
func (w *wrapped) reason(id, want string, but []string) {
	w.t.Helper()
	ctx := patience(w.t)
	for {
		f, err := w.client.Request(ctx, map[string]any{"type": "query", "id": id})
		must(w.t, err)
		if status := f.Str("status"); status != "queued" && !slices.Contains(but, status) {
			w.t.Fatalf("%s was not held: %s", id, f.Raw)
		}
		if f.Str("waiting_for") == want {
			return
		}
		if ctx.Err() != nil {
			w.t.Fatalf("%s waits for %q, want %q: %v", id, f.Str("waiting_for"), want, context.Cause(ctx))
		}
		pause(w.t, 10*time.Millisecond)
	}
}

// notBefore checks that a message was begun no sooner than at a moment. Events tell whole
// milliseconds.
func (w *wrapped) notBefore(id string, at time.Time) {
	w.t.Helper()
	f, err := w.client.Wait(patience(w.t, "the beginning of "+id), func(f testrig.Frame) bool {
		return f.Str("id") == id && f.Str("status") == "injecting" && f.Num("timestamp") > 0 // no answer to a query
	})
	must(w.t, err)
	if began := f.Num("timestamp"); began < at.UnixMilli() {
		w.t.Fatalf("%s was begun %d ms too early: %s", id, at.UnixMilli()-began, f.Raw)
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
	ctx := patience(w.t)
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

func clip(s string) string {
	if len(s) > 600 {
		return s[:300] + " … " + s[len(s)-300:]
	}
	return s
}
