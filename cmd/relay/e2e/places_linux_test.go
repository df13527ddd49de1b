package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// firstLines are those of anybody's first script.
const firstLines = `
relay run new --headless --idle-timeout 50 -- cat & agent=$!
until relay ls | grep -q '^new .*ready'; do :; done
relay send new hello --from cron --until delivered --timeout 30s
relay send human done --from cron
relay recv --last 1
relay ls
kill $agent
wait $agent
echo "ended with $?"
`

// bare is an environment as env -i, cron and service managers leave it.
func (u *user) bare() []string {
	return []string{"HOME=" + u.dir, "PATH=" + u.bin + ":/usr/bin:/bin", "XDG_STATE_HOME=" + filepath.Join(u.dir, "state")}
}

// script runs the first lines, without a terminal, and returns what they print.
func (u *user) script(ctx context.Context, env []string, as *syscall.Credential) string {
	u.t.Helper()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", firstLines)
	cmd.Env, cmd.Dir = env, u.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		u.t.Errorf("the script: %v", err)
	}
	u.t.Logf("the script said:\n%s%s", out, errs.Bytes())
	for _, want := range []string{" delivered\n", " accepted\n", "cron", "done", "\nnew ", "\nended with 143\n"} {
		if !strings.Contains(string(out), want) {
			u.t.Errorf("the script does not say %q", want)
		}
	}
	return string(out)
}

// endsHome ends all of the user whose home is u's, whatever else is in its environment.
func (u *user) endsHome() {
	u.t.Cleanup(func() {
		for _, pid := range marked("HOME="+u.dir+"\x00", func(_, _ []byte) bool { return true }) {
			syscall.Kill(pid, syscall.SIGKILL) // gone: well
		}
	})
}

// TestScriptWithoutARuntimeDirectory: a script of cron reaches the router of the user's session,
// and its agents are that router's.
func TestScriptWithoutARuntimeDirectory(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.endsHome()
	ctx := testrig.Within(t, patience)
	u.wraps(ctx, "bob", "cat")
	out := u.script(ctx, u.bare(), nil)
	if !strings.Contains(out, "\nbob ") {
		t.Error("the script does not see the session's agent")
	}
	if list := u.does(ctx, "ls", "--all"); !strings.Contains(list, "bob ") || !strings.Contains(list, "new ") {
		t.Errorf("the session does not see the script's agent: %s", list)
	}
	if routers := marked("HOME="+u.dir+"\x00", func(_, line []byte) bool { return bytes.Contains(line, []byte(aRouter)) }); len(routers) != 1 {
		t.Errorf("the routers are %v", routers)
	}
}

// TestWrapperOfAnotherPlace: one that ran before the router did, and was started without a runtime
// directory, is that router's.
func TestWrapperOfAnotherPlace(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.endsHome()
	ctx := testrig.Within(t, patience)
	cmd := exec.CommandContext(ctx, filepath.Join(u.bin, "relay-pty"), "--name", "early", "--headless", "--idle-timeout", "50",
		"--socket", filepath.Join(u.dir, "early"), "--", "cat")
	cmd.Env = u.bare()
	must(t, cmd.Start())
	defer func() {
		cmd.Process.Signal(syscall.SIGTERM) // or else it has ended
		cmd.Wait()                          // however it ended
	}()
	u.becomes(ctx, "early to listen", func() bool { _, err := os.Stat(filepath.Join(u.dir, "early")); return err == nil })
	u.becomes(ctx, "early to be listed", func() bool { return strings.Contains(u.does(ctx, "ls"), "early ") })
	u.does(ctx, "send", "early", "hello", "--from", "ci", "--until", "delivered", "--timeout", "30s")
	if out := u.does(ctx, "doctor"); strings.Contains(out, "early") {
		t.Errorf("the doctor says %s", out)
	}
}

// bareWrapper starts relay-pty alone, with the usual socket, and ends it with the test.
func (u *user) bareWrapper(ctx context.Context, name string, as *syscall.Credential, env []string, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	u.t.Helper()
	argv := append(append([]string{"--name", name, "--headless"}, flags...), "--", "cat")
	cmd := exec.CommandContext(ctx, filepath.Join(u.bin, "relay-pty"), argv...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	must(u.t, cmd.Start())
	u.t.Cleanup(func() {
		cmd.Process.Kill() // ended: well
		cmd.Wait()         // however it ended
		os.Remove("/tmp/relay-pty-" + name + ".sock")
		os.Remove("/tmp/relay-pty-" + name + ".sock.lock")
	})
	return cmd, errs
}

// TestSecondHome: with another home and another runtime directory one user has a name twice; in
// the same ones it is held, and the holder is told.
func TestSecondHome(t *testing.T) {
	t.Parallel()
	one, two := newUser(t), newUser(t)
	ctx := testrig.Within(t, patience)
	name := "twice" + strconv.Itoa(os.Getpid()) // /tmp is everybody's
	one.bareWrapper(ctx, name, nil, one.env)
	one.becomes(ctx, "the first to listen", func() bool { _, err := os.Stat("/tmp/relay-pty-" + name + ".sock"); return err == nil })
	two.bareWrapper(ctx, name, nil, two.env)
	for _, u := range []*user{one, two} {
		u.becomes(ctx, "each to have one", func() bool { return strings.Contains(u.does(ctx, "ls"), name+" ") })
	}
	again, told := one.bareWrapper(ctx, name, nil, one.env)
	want := "relay-pty: name " + name + ": held by relay-pty pid "
	if err := again.Wait(); again.ProcessState.ExitCode() != 125 || !strings.HasPrefix(told.String(), want) {
		t.Errorf("the same name again: %v\n%s", err, told)
	}
}

// passable lets other users through a directory and those above it, for they may not be in /tmp.
func passable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(t, err)
		if mode := info.Mode(); mode.Perm()&0o011 != 0o011 {
			must(t, os.Chmod(dir, mode|0o011))
		}
	}
}

// TestNamesAreAUsers: another user's agent, or whatever anybody puts into /tmp, is in no way of an
// agent of the same name; a path that was asked for is refused, and the way out told.
func TestNamesAreAUsers(t *testing.T) {
	t.Parallel()
	var no error
	if os.Geteuid() != 0 {
		no = fs.ErrPermission
	}
	testrig.Require(t, "another user, which needs root", no)
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	const uid = 54321
	as := &syscall.Credential{Uid: uid, Gid: uid}
	other := &user{t: t, dir: testrig.Dir(t), bin: u.bin, api: u.api}
	other.env = other.bare()
	place := "/tmp/relay-" + strconv.Itoa(uid)
	t.Cleanup(func() { os.RemoveAll(place) }) // when nobody is left who makes it anew
	other.endsHome()
	must(t, os.Chown(other.dir, uid, uid))
	must(t, os.Chmod(u.bin, 0o755))
	for _, dir := range []string{u.bin, other.dir} {
		passable(t, filepath.Dir(dir))
	}
	other.script(ctx, other.env, as) // as that user, all works

	names := []string{"held", "file", "link", "lock", "folder"}
	for i, name := range names {
		names[i] = name + strconv.Itoa(os.Getpid()) // /tmp is everybody's
	}
	at := func(i int) string { return "/tmp/relay-pty-" + names[i] + ".sock" }
	wrap := func(name string, as *syscall.Credential, env []string, flags ...string) (*exec.Cmd, *bytes.Buffer) {
		return u.bareWrapper(ctx, name, as, env, flags...)
	}
	wrap(names[0], nil, u.env) // root's agent is first
	u.becomes(ctx, "root's agent to listen", func() bool { _, err := os.Stat(at(0)); return err == nil })
	must(t, os.WriteFile(at(1), nil, 0o644))
	must(t, os.Symlink("/etc/passwd", at(2)))
	must(t, os.WriteFile(at(3)+".lock", nil, 0o666))
	must(t, os.Mkdir(at(4), 0o755))
	for i, name := range names {
		socket := filepath.Join(place, name+".sock")
		wrap(name, as, other.env)
		u.becomes(ctx, name+" to listen", func() bool { _, err := os.Stat(socket); return err == nil })
		refused, told := wrap(name+"x", as, other.env, "--socket", at(i))
		if err := refused.Wait(); refused.ProcessState.ExitCode() != 125 || !strings.Contains(told.String(), "choose another") {
			t.Errorf("%s spelled out: %v\n%s", name, err, told)
		}
	}
	// The name is taken where it is this user's own agent's.
	again, told := wrap(names[0], as, other.env)
	if err := again.Wait(); again.ProcessState.ExitCode() != 125 || !strings.Contains(told.String(), ": held by relay-pty pid ") {
		t.Errorf("the same name again: %v\n%s", err, told)
	}
}
