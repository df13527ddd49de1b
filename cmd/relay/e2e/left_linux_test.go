package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
)

// TestWhoEndedHasLeft: however quickly an agent ended, the router knows that it ended by itself, or
// by a signal that its wrapper took; who was killed is inactive; and a command that cannot be run
// was no agent. A router that did not run meanwhile says the same.
func TestWhoEndedHasLeft(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, 2*patience)
	u.does(ctx, "ls") // starts the router
	bad, plain := filepath.Join(u.dir, "bad"), filepath.Join(u.dir, "plain")
	must(t, os.WriteFile(bad, []byte("#!/nosuchshell\n"), 0o700))
	must(t, os.WriteFile(plain, []byte("echo\n"), 0o600))
	want := map[string]string{}
	run := func(name, reason string, status int, argv ...string) {
		t.Helper()
		cmd := u.command(ctx, append([]string{"run", name, "--headless", "--socket", filepath.Join(u.dir, "s-"+name), "--"}, argv...)...)
		out, err := cmd.CombinedOutput()
		if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) || cmd.ProcessState.ExitCode() != status {
			t.Errorf("%s: %v, want status %d\n%s", name, err, status, out)
		}
		want[name] = reason
	}
	begins := func(name, reason string) *exec.Cmd {
		t.Helper()
		cmd := u.command(ctx, "run", name, "--headless", "--socket", filepath.Join(u.dir, "s-"+name), "--", "sleep", "50")
		must(t, cmd.Start())
		u.sees(ctx, name+" to run", func(e router.Event) bool { return e.Type == router.TypeUp && e.Agent == name })
		want[name] = reason
		return cmd
	}
	for i := range testrig.Runs(12, 200) {
		run(fmt.Sprint("quick", i), router.ReasonLeft, 0, "true")
	}
	run("fails", router.ReasonLeft, 3, "sh", "-c", "exit 3")
	run("dies", router.ReasonLeft, 137, "sh", "-c", "kill -9 $$")
	run("bad", router.ReasonLeft, 127, bad)
	run("nosuch", "", 127, "nosuchcommand")
	run("nosuchfile", "", 127, filepath.Join(u.dir, "nosuchfile"))
	run("plain", "", 126, plain)
	for name, sig := range map[string]syscall.Signal{"term": syscall.SIGTERM, "hup": syscall.SIGHUP, "int": syscall.SIGINT} {
		cmd := begins(name, router.ReasonLeft)
		must(t, cmd.Process.Signal(sig))
		cmd.Wait() // it ended as it was told
	}
	killed := begins("killed", router.ReasonInactive)
	later, missed := begins("later", router.ReasonLeft), begins("missed", router.ReasonInactive)
	must(t, killed.Process.Kill())
	killed.Wait() // it was killed
	u.sees(ctx, "the end of killed", func(e router.Event) bool { return e.Type == router.TypeDown && e.Agent == "killed" })
	u.killsRouter()
	u.becomes(ctx, "the router's end", func() bool { return len(running(u.dir, aRouter)) == 0 })
	must(t, later.Process.Signal(syscall.SIGTERM))
	must(t, missed.Process.Kill())
	later.Wait()  // it ended as it was told
	missed.Wait() // it was killed
	u.endedAs(want)
}

// endedAs waits until none of the agents runs any more, and checks what the log says of their ends:
// nothing of one that the router never saw.
func (u *user) endedAs(want map[string]string) {
	u.t.Helper()
	got := map[string]string{}
	ctx := testrig.Within(u.t, patience)
	u.becomes(ctx, "the end of all agents", func() bool {
		clear(got)
		for _, e := range u.log(ctx) {
			switch e.Type {
			case router.TypeUp:
				got[e.Agent] = "runs"
			case router.TypeDown:
				got[e.Agent] = e.Reason
			}
		}
		for _, reason := range got {
			if reason == "runs" {
				return false
			}
		}
		return true
	})
	var wrong bytes.Buffer
	for name, reason := range want {
		unseen := got[name] == "" && reason == router.ReasonLeft // it was over before the router looked
		if got[name] != reason && !unseen {
			fmt.Fprintf(&wrong, "%s: %q, want %q\n", name, got[name], reason)
		}
	}
	if wrong.Len() > 0 {
		u.t.Errorf("the ends of agents are\n%s", &wrong)
	}
}
