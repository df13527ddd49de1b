package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// early is a way to start an agent, and to hear how that ended.
type early struct {
	name    string
	job     bool     // it is the job of a shell on a terminal
	program []string // that is started, before the agent's name
}

// begin starts it. end waits for its end, and returns the status as a shell has it.
func (e early) begin(u *user, argv []string) (pid int, end func() (status int)) {
	u.t.Helper()
	if e.job {
		return u.asJob(argv)
	}
	return u.plainly(argv)
}

// TestEarlySignals: whoever starts an agent and thinks better of it at once is heard. A signal ends
// `relay run`, what it becomes, and the agent, from the first instruction on, and leaves nothing.
func TestEarlySignals(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.does(testrig.Within(t, patience), "ls") // all share one router
	claude := filepath.Join(u.dir, "claude")
	must(t, os.WriteFile(claude, []byte("#!/bin/sh\ncase $1 in --version) echo 2.1.329; exit ;; esac\nexec sleep 50\n"), 0o700))
	for _, way := range []early{
		{"relay run", false, []string{"relay", "run"}},
		{"relay-pty", false, []string{"relay-pty", "--name"}},
		{"relay run as a job", true, []string{"relay", "run"}},
		{"relay-pty as a job", true, []string{"relay-pty", "--name"}},
	} {
		for _, agent := range [][]string{{"sleep", "50"}, {claude}} {
			t.Run(way.name+" "+filepath.Base(agent[0]), func(t *testing.T) {
				t.Parallel()
				u := *u
				u.t = t
				u.endsEarly(way, agent)
			})
		}
	}
}

// endsEarly starts the agent again and again, and ends each start a little later than the one
// before, from its first instruction to some time after the agent runs.
func (u *user) endsEarly(way early, agent []string) {
	name := strings.ReplaceAll(u.t.Name()[strings.LastIndex(u.t.Name(), "/")+1:], "_", "-")
	socket := filepath.Join(u.dir, name)
	argv := slices.Concat(way.program, []string{name, "--socket", socket, "--ephemeral"})
	if !way.job {
		argv = append(argv, "--headless")
	}
	argv = append(append(argv, "--"), agent...)
	listing := filepath.Join(u.dir, "relay", "agents", name+".json")
	whole := max(25*time.Millisecond, 5*u.untilListed(way, argv, listing)/4)
	n := testrig.Runs(3, 500)
	if way.job {
		n = testrig.Runs(3, 100)
	}
	ended := 0
	for i := range n {
		for j, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			at := whole * time.Duration(3*i+j) / time.Duration(3*n)
			pid, end := way.begin(u, argv)
			<-time.After(at) // the instant is what is tried
			must(u.t, syscall.Kill(pid, sig))
			if status := end(); status != 128+int(sig) {
				u.t.Errorf("%v after %v: status %d", sig, at, status)
			} else {
				ended++
			}
			u.nothingIsLeft(name, fmt.Sprintf("%v after %v", sig, at), socket, socket+".lock", listing, strings.TrimSuffix(listing, ".json")+".lock")
		}
	}
	shows(u.t, "%s: TERM, HUP and INT to `%s`, each %d times, within %v of the start => %d of %d ended as told, nothing left",
		way.name, filepath.Base(agent[0]), n, whole.Round(time.Millisecond), ended, 3*n)
}

// untilListed is how long a start takes on this machine until the agent is listed.
func (u *user) untilListed(way early, argv []string, listing string) time.Duration {
	u.t.Helper()
	began := time.Now()
	pid, end := way.begin(u, argv)
	u.becomes(testrig.Within(u.t, patience), "the listing "+listing, func() bool { _, err := os.Stat(listing); return err == nil })
	took := time.Since(began)
	must(u.t, syscall.Kill(pid, syscall.SIGTERM))
	end()
	return took
}

// plainly starts a program without a terminal.
func (u *user) plainly(argv []string) (pid int, end func() int) {
	u.t.Helper()
	ctx := testrig.Within(u.t, patience)
	cmd := exec.CommandContext(ctx, filepath.Join(u.bin, argv[0]), argv[1:]...)
	cmd.Env, cmd.Dir = u.env, u.dir
	must(u.t, cmd.Start())
	return cmd.Process.Pid, func() int {
		u.t.Helper()
		cmd.Wait() // its status is looked at
		if ctx.Err() != nil {
			u.t.Fatalf("the end of %v: %v", argv, context.Cause(ctx))
		}
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
			return 128 + int(ws.Signal())
		}
		return cmd.ProcessState.ExitCode()
	}
}

// jobsPipes numbers the pipes of asJob.
var jobsPipes struct {
	sync.Mutex
	n int
}

// asJob starts a program on a terminal, in front, as the job of a shell that could stop it.
func (u *user) asJob(argv []string) (pid int, end func() int) {
	u.t.Helper()
	jobsPipes.Lock()
	jobsPipes.n++
	pipe := filepath.Join(u.dir, fmt.Sprint("says", jobsPipes.n))
	jobsPipes.Unlock()
	must(u.t, unix.Mkfifo(pipe, 0o600))
	said, err := os.OpenFile(pipe, os.O_RDWR, 0) // without waiting for the other end
	must(u.t, err)
	must(u.t, said.SetReadDeadline(time.Now().Add(patience/3)))
	const shell = `set -m; trap : INT; p=$1; shift; sh -c 'echo $$ >"$0"; exec "$@"' "$p" "$@"; echo $? >"$p"`
	tm, err := term.Start(term.Options{
		Argv: slices.Concat([]string{"sh", "-c", shell, "sh", pipe, filepath.Join(u.bin, argv[0])}, argv[1:]), Env: u.env, Dir: u.dir,
	})
	must(u.t, err)
	lines := bufio.NewReader(said)
	_, err = fmt.Fscanln(lines, &pid)
	must(u.t, err)
	return pid, func() (status int) {
		u.t.Helper()
		defer tm.Close()
		defer os.Remove(pipe) // the directory goes, too
		defer said.Close()    // only read
		if _, err := fmt.Fscanln(lines, &status); err != nil {
			u.t.Fatalf("the status of %v: %v\n%s", argv, err, tm.Output())
		}
		return status
	}
}

// nothingIsLeft waits until nothing runs any more that has the name in its command line or is the
// agent's, and checks that none of the files is there.
func (u *user) nothingIsLeft(name, when string, files ...string) {
	u.t.Helper()
	ctx := testrig.Within(u.t, patience)
	of := []byte("RELAY_AGENT=" + name + "\x00")
	u.becomes(ctx, when+": the end of all that was started", func() bool {
		return len(processes(u.dir, func(env, line []byte) bool {
			return strings.Contains(string(line), "\x00"+name+"\x00") || strings.Contains(string(env), string(of))
		})) == 0
	})
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			u.t.Errorf("%s: %s is left", when, file)
		}
	}
}

// TestEarlyHangupThatIsIgnored: what nohup starts goes on, whenever the hangup comes, and ends when
// it is told to.
func TestEarlyHangupThatIsIgnored(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	socket, listing := filepath.Join(u.dir, "bob"), filepath.Join(u.dir, "relay", "agents", "bob.json")
	relay := u.command(ctx, "run", "bob", "--headless", "--socket", socket, "--", "sleep", "50")
	cmd := exec.CommandContext(ctx, "sh", slices.Concat([]string{"-c", `trap "" HUP; echo; exec "$0" "$@"`}, relay.Args)...)
	cmd.Env, cmd.Dir = relay.Env, relay.Dir
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n') // from now on it ignores it
	must(t, err)
	u.becomes(ctx, "the listing", func() bool {
		must(t, cmd.Process.Signal(syscall.SIGHUP))
		_, err := os.Stat(listing)
		return err == nil
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait() // its status is looked at
	if status := cmd.ProcessState.ExitCode(); status != 143 {
		t.Errorf("it ended with %d, want 143", status)
	}
	u.nothingIsLeft("bob", "after the end", socket, listing)
}
