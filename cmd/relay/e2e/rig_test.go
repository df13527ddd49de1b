package e2e

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/figures"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// shows reports what a test has shown: what was tried, " => ", and what came of it.
func shows(t testing.TB, format string, args ...any) {
	t.Helper()
	what, shown, _ := strings.Cut(fmt.Sprintf(format, args...), " => ")
	figures.Shown(t, what, "%s", shown)
}

// user is someone on a machine of his own, with the programs.
type user struct {
	t   *testing.T
	dir string
	env []string
	bin string
	api *api.Client
}

func newUser(t *testing.T) *user {
	t.Helper()
	return userWith(t, built(t))
}

// userWith is one with the programs in bin.
func userWith(t *testing.T, bin string) *user {
	t.Helper()
	u := &user{t: t, dir: testrig.Dir(t), bin: bin}
	u.api = api.NewClient(filepath.Join(u.dir, "relay", "router.sock"), "")
	u.env = append(os.Environ(), environment(u.dir, bin)...)
	t.Cleanup(func() { endAll(t, u.dir) })
	return u
}

// command is a command of relay.
func (u *user) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(u.bin, "relay"), args...)
	cmd.Env, cmd.Dir = u.env, u.dir
	return cmd
}

// does runs a command that must succeed.
func (u *user) does(ctx context.Context, args ...string) string {
	u.t.Helper()
	out, err := u.command(ctx, args...).Output()
	if err != nil {
		u.t.Errorf("relay %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr(err))
	}
	return string(out)
}

func stderr(err error) []byte {
	if e, ok := err.(*exec.ExitError); ok {
		return e.Stderr
	}
	return nil
}

// wraps runs a shell's loop, or another program, as an agent. What stands before a -- among the
// arguments are flags.
func (u *user) wraps(ctx context.Context, name string, argv ...string) {
	u.t.Helper()
	if !slices.Contains(argv, "--") {
		argv = append([]string{"--"}, argv...)
	}
	u.runs(ctx, name, "", nil, append([]string{"--idle-timeout", "50"}, argv...)...)
}

// runs runs an agent until the test ends, or it is told to end, and waits until it is there.
// Whatever home env gives to it, its router is the user's.
func (u *user) runs(ctx context.Context, name, cwd string, env []string, argv ...string) (end func()) {
	u.t.Helper()
	cmd := u.command(ctx, append([]string{"run", name, "--headless", "--socket", filepath.Join(u.dir, name)}, argv...)...)
	cmd.Env = u.with(env)
	cmd.Dir = cmp.Or(cwd, u.dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(u.t, cmd.Start())
	u.t.Cleanup(func() {
		if u.t.Failed() && env != nil { // a real agent
			screen, _ := u.command(context.WithoutCancel(ctx), "screen", name).CombinedOutput() // it may have ended
			u.t.Logf("%s at the end:\n%s", name, screen)
		}
		cmd.Process.Kill()
		cmd.Wait() // however it ended
		u.t.Logf("%s said: %s", name, errs.Bytes())
	})
	u.sees(ctx, name+" to run", func(e router.Event) bool { return e.Type == router.TypeUp && e.Agent == name })
	return func() {
		cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		cmd.Wait()                          // by the signal
	}
}

// with is the environment of an agent with a home of its own, whose router is the user's.
func (u *user) with(env []string) []string {
	return slices.Concat(u.env, env, environment(u.dir, u.bin)[:2])
}

// attended runs a real agent at a terminal, with flags before its command line, until it is ready.
func (u *user) attended(ctx context.Context, name string, real realagent.Agent, env []string, flags ...string) *term.Term {
	u.t.Helper()
	argv := slices.Concat([]string{filepath.Join(u.bin, "relay"), "run", name, "--socket", filepath.Join(u.dir, name)}, flags, []string{"--"}, real.Argv)
	tm := testrig.StartTerm(u.t, term.Options{Argv: argv, Env: append(u.with(real.Env), env...), Dir: real.Dir, Answers: true})
	u.t.Cleanup(func() {
		if u.t.Failed() {
			u.t.Logf("%s at the end:\n%s", name, tm.Screen())
		}
	})
	u.sees(ctx, name+" to be ready", func(e router.Event) bool { return e.Agent == name && e.State == "ready" })
	return tm
}

// client asks the router from this process: a command each time would cost more than what it asks
// for.
func (u *user) client() *api.Client { return u.api }

// asks asks the router, and the next one the same again where none answers: a command starts it.
func (u *user) asks(ctx context.Context, ask func(*api.Client) error) error {
	for {
		err := ask(u.client())
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, api.ErrLost):
			return err
		}
		if out, err := u.command(ctx, "ls").CombinedOutput(); err != nil {
			return fmt.Errorf("relay ls: %w\n%s", err, out)
		}
	}
}

// events are those after one of that number; when there are none, those that come within wait.
func (u *user) events(ctx context.Context, after int64, wait time.Duration) (page api.Events, err error) {
	err = u.asks(ctx, func(c *api.Client) (err error) {
		page, err = c.Events(ctx, api.Query{After: after, Wait: wait})
		return err
	})
	return page, err
}

// sees waits for an event, one that was or one that comes.
func (u *user) sees(ctx context.Context, what string, want func(router.Event) bool) {
	u.t.Helper()
	for after := int64(0); ; {
		page, err := u.events(ctx, after, api.LongWait)
		if err != nil {
			u.t.Fatalf("wait for %s: %v", what, err)
		}
		if slices.ContainsFunc(page.Events, want) {
			return
		}
		after = page.Cursor
	}
}

// log is all events.
func (u *user) log(ctx context.Context) (all []router.Event) {
	u.t.Helper()
	for after := int64(0); ; {
		page, err := u.events(ctx, after, 0)
		must(u.t, err)
		if len(page.Events) == 0 {
			return all
		}
		all, after = append(all, page.Events...), page.Cursor
	}
}

// becomes waits until it is so.
func (u *user) becomes(ctx context.Context, what string, is func() bool) {
	u.t.Helper()
	tick := time.NewTicker(looks / 2)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			u.t.Fatalf("%s: %v", what, context.Cause(ctx))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
