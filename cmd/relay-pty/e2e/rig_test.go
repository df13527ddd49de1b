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
	"relay-pty/cmd/internal/testrig/awkward"
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

// becomes waits until it is so. Nothing tells when, so it looks again and again.
func becomes(t *testing.T, what string, is func() bool) {
	t.Helper()
	for ctx := patience(t, what); !is(); pause(t, 5*time.Millisecond) {
		must(t, context.Cause(ctx))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sideBySide runs n subtests at the same time, and returns when all are over.
func sideBySide(t *testing.T, n int, once func(t *testing.T, i int)) {
	t.Helper()
	t.Run("runs", func(t *testing.T) {
		for i := range n {
			t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel(); once(t, i) })
		}
	})
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
	return startBy(t, dir, opts, func(opts term.Options) *testrig.Term { return testrig.StartTerm(t, opts) }, flags...)
}

// startBy is startIn with another way to start a program on a terminal.
func startBy(t *testing.T, dir string, opts term.Options, starts func(term.Options) *testrig.Term, flags ...string) *wrapped {
	t.Helper()
	w := &wrapped{t: t, socket: filepath.Join(dir, "s"), log: filepath.Join(dir, "log")}
	argv := append([]string{binary(t), "--name", "alice", "--socket", w.socket, "--log-file", w.log}, flags...)
	opts.Argv = append(append(argv, "--"), opts.Argv...)
	state := "XDG_STATE_HOME=" + dir
	if opts.Env == nil {
		opts.Env = append(os.Environ(), state)
	}
	opts.Env = append(append([]string{state}, opts.Env...), "XDG_RUNTIME_DIR="+dir) // an agent's home may have its own
	w.Term = starts(opts)
	w.subscribes()
	return w
}

// subscribes connects to the wrapper as soon as it listens, and follows its events.
func (w *wrapped) subscribes() {
	w.t.Helper()
	becomes(w.t, "the wrapper's socket", func() (there bool) {
		c, err := testrig.Dial(w.t.Context(), w.socket)
		w.client = c
		return err == nil
	})
	w.t.Cleanup(func() {
		w.client.Close()
		if w.t.Failed() {
			b, _ := os.ReadFile(w.log) // it may have none
			w.t.Logf("screen:\n%s\nlog:\n%s\nframes:\n%s", w.Screen(), b, dump(w.client.Frames()))
		}
	})
	if f := w.request(fields("subscribe", "after", 0)); f.Type() != "subscribed" {
		w.t.Fatalf("a subscription is answered with %s", f.Raw)
	}
}

// request is the answer to a request.
func (w *wrapped) request(fields map[string]any) testrig.Frame {
	w.t.Helper()
	f, err := w.client.Request(patience(w.t), fields)
	must(w.t, err)
	return f
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

// sendsAnswer sends a message that answers one with that text.
func (w *wrapped) sendsAnswer(id, asked, body string) {
	w.t.Helper()
	answer := map[string]any{"type": "inject", "id": id, "from": "bob", "body": body, "reply_to": awkward.Asks, "reply_quote": asked}
	must(w.t, w.client.Send(answer))
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

// outcome waits for a while for the message's end and returns its status, "" for none.
func (w *wrapped) outcome(id string, while time.Duration) string {
	ctx, cancel := context.WithTimeout(w.t.Context(), while)
	defer cancel()
	f, err := w.client.Wait(ctx, func(f testrig.Frame) bool {
		return f.Type() == "inject_result" && f.Str("id") == id && slices.Contains([]string{"delivered", "failed", "expired", "unknown"}, f.Str("status"))
	})
	if err != nil {
		return ""
	}
	return f.Str("status")
}

// waitingFor is what the message waits for at present.
func (w *wrapped) waitingFor(id string) string {
	w.t.Helper()
	return w.request(fields("query", "id", id)).Str("waiting_for")
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
	becomes(w.t, fmt.Sprintf("%s waiting for %q", id, want), func() bool {
		f := w.request(fields("query", "id", id))
		if status := f.Str("status"); status != "queued" && !slices.Contains(but, status) {
			w.t.Fatalf("%s was not held: %s", id, f.Raw)
		}
		return f.Str("waiting_for") == want
	})
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
