package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// mounting skips a test where nobody may mount.
func mounting(t *testing.T) {
	t.Helper()
	var no error
	if os.Geteuid() != 0 {
		no = fs.ErrPermission
	} else {
		no = exec.Command("unshare", "-m", "true").Run()
	}
	testrig.Require(t, "mounts of its own, which need root", no)
}

// apart is a command with mounts of its own, in which another directory is over dir.
func (u *user) apart(ctx context.Context, dir string, argv ...string) *exec.Cmd {
	const over = `mount -t tmpfs none "$0" && exec "$@"`
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"-m", "--propagation", "private", "sh", "-c", over, dir}, argv...)...)
	cmd.Env, cmd.Dir = u.env, u.dir
	return cmd
}

// TestRouterInASandbox: a router that has other mounts than the agents, and so cannot see their
// sockets, calls nobody dead. The doctor says what is wrong and what to do, and that helps.
func TestRouterInASandbox(t *testing.T) {
	t.Parallel()
	mounting(t)
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	sockets := filepath.Join(u.dir, "sockets")
	must(t, os.Mkdir(sockets, 0o700))
	bob, errs := u.bareWrapper(ctx, "bob", nil, u.env, "--socket", filepath.Join(sockets, "bob"), "--idle-timeout", "50")
	record := filepath.Join(u.dir, "relay", "agents", "bob.json")
	u.becomes(ctx, "bob to be listed: "+errs.String(), func() bool { _, err := os.Stat(record); return err == nil })
	relay := filepath.Join(u.bin, "relay")
	if out, err := u.apart(ctx, sockets, relay, "remind", "10m", "x").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if list := u.does(ctx, "ls"); !strings.Contains(list, "bob ") || strings.Contains(list, "gone") {
		t.Errorf("a router that does not see bob says %s", list)
	}
	out, err := u.command(ctx, "doctor").Output()
	if want := "cannot reach the socket of bob"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("the doctor says %s, want %q", out, want)
	}
	u.does(ctx, "send", "bob", "hello", "--from", "ci") // which waits
	// An agent of relay run is in no such trouble.
	u.runsPlainly(ctx, "carol")
	u.does(ctx, "send", "carol", "hello", "--from", "ci", "--until", "delivered", "--timeout", "30s")
	for _, pid := range running(u.dir, aRouter) { // as the doctor says
		must(t, syscall.Kill(pid, syscall.SIGTERM))
	}
	u.becomes(ctx, "hello to reach bob", func() bool {
		return strings.Contains(u.does(ctx, "log", "bob"), "delivered")
	})
	must(t, bob.Process.Kill())
	u.becomes(ctx, "bob to be gone", func() bool { return strings.Contains(u.does(ctx, "ls", "--all"), "gone") })
}

// runsPlainly is relay run without a flag more, in the background.
func (u *user) runsPlainly(ctx context.Context, name string) *exec.Cmd {
	u.t.Helper()
	cmd := u.command(ctx, "run", name, "--headless", "--idle-timeout", "50", "--", "cat")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(u.t, cmd.Start())
	u.t.Cleanup(func() {
		cmd.Process.Kill() // ended: well
		cmd.Wait()         // however it ended
		u.t.Logf("%s said: %s", name, errs.Bytes())
	})
	u.becomes(ctx, name+" to be ready", func() bool {
		out, _ := u.command(ctx, "ls").Output() // again
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, name+" ") && strings.Contains(line, " ready ") {
				return true
			}
		}
		return false
	})
	return cmd
}

// TestAgentInASandbox: an agent whose socket nobody outside sees is not dead, and the doctor does
// not have its files removed.
func TestAgentInASandbox(t *testing.T) {
	t.Parallel()
	mounting(t)
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	sockets := filepath.Join(u.dir, "sockets")
	must(t, os.Mkdir(sockets, 0o700))
	bob := u.apart(ctx, sockets, filepath.Join(u.bin, "relay-pty"), "--name", "bob", "--headless", "--socket", filepath.Join(sockets, "bob"), "--", "cat")
	must(t, bob.Start())
	defer func() {
		bob.Process.Kill() // ended: well
		bob.Wait()         // however it ended
	}()
	record := filepath.Join(u.dir, "relay", "agents", "bob.json")
	u.becomes(ctx, "bob to be listed", func() bool { _, err := os.Stat(record); return err == nil })
	if list := u.does(ctx, "ls"); !strings.Contains(list, "bob ") || strings.Contains(list, "gone") {
		t.Errorf("of an agent that nobody can reach the router says %s", list)
	}
	out, err := u.command(ctx, "doctor").Output()
	if want := "cannot be reached from here (another mount namespace?)"; err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "rm ") {
		t.Errorf("the doctor says %s, want %q", out, want)
	}
	must(t, bob.Process.Kill())
	bob.Wait() // it was killed
	u.becomes(ctx, "bob to be gone", func() bool { return strings.Contains(u.does(ctx, "ls", "--all"), "gone") })
}

// aLogout takes the runtime directory $1 away as systemd does when its user's last session ends,
// and mounts it again. In between root may make files in the directory below the mount, which
// nobody else could.
const aLogout = `
trap 'kill $alice $bob' EXIT
mount -t tmpfs -o mode=700 none "$1" || exit 1
relay run alice --headless --idle-timeout 50 -- cat & alice=$!
until relay ls | grep -q '^alice .*ready'; do :; done
relay remind 10m 'the router stays' --from ci
rm -rf "$1"/*
umount -l "$1" || exit 2
rmdir "$1"
mkdir -p -m 700 "$1" && mount -t tmpfs -o mode=700 none "$1" || exit 3
until relay ls | grep -q '^alice .*ready'; do :; done
relay send alice hello --from ci --until delivered --timeout 30s || exit 4
relay doctor || exit 5
until [ -S "$1/relay/alice.sock" ] && [ -S "$1/relay/router.sock" ] && [ -f "$1/relay/agents/alice.json" ]; do :; done
relay run bob --headless --idle-timeout 50 -- cat & bob=$!
until relay ls | grep -q '^bob .*ready'; do :; done
echo "it is back"
`

// TestRuntimeDirectoryThatGoes with the last logout and comes back: the wrapper and the router are
// there again, and nothing says that anybody ended.
func TestRuntimeDirectoryThatGoes(t *testing.T) {
	t.Parallel()
	mounting(t)
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	run := filepath.Join(u.dir, "run")
	must(t, os.Mkdir(run, 0o700))
	u.env = append(u.env, "XDG_RUNTIME_DIR="+run)
	t.Cleanup(func() { endAll(t, run) })
	cmd := exec.CommandContext(ctx, "unshare", "-m", "--propagation", "private", "sh", "-c", aLogout, "sh", run)
	cmd.Env, cmd.Dir = u.env, u.dir
	cmd.WaitDelay = patience / 6 // an agent that lives on has our pipe
	out, err := cmd.CombinedOutput()
	if want := "it is back\n"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, want %q\n%s", err, want, out)
		log, _ := os.ReadFile(filepath.Join(u.dir, "state", "relay", "router.log")) // else there is none
		t.Logf("the router's log: %s", log)
	}
	t.Logf("%s", out)
}
