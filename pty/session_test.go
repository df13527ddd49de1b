package pty

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/counts"
	"relay-pty/pty/screen"
)

func TestExitCodeIsTheAgents(t *testing.T) {
	t.Parallel() // it mostly waits
	for code := range 256 {
		got, _ := begin(t, sh("exit "+strconv.Itoa(code))).finish()
		if got != code {
			t.Errorf("exit %d: status %d", code, got)
		}
	}
}

func TestDeathBySignalIs128PlusN(t *testing.T) {
	for sig := syscall.Signal(1); sig < 32; sig++ {
		switch sig {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH,
			syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
			continue // these do not kill
		}
		got, _ := begin(t, sh(fmt.Sprintf("ulimit -c 0; kill -%d $$", sig))).finish()
		if want := 128 + int(sig); got != want {
			t.Errorf("signal %d: status %d, want %d", sig, got, want)
		}
	}
}

func TestFastExitKeepsItsOutput(t *testing.T) {
	for _, n := range []int{1, 4 << 10, 12 << 10, 1 << 20} {
		want := string(printed(n))
		for range counts.Runs(4, 250) {
			status, got := begin(t, role(t, "print", strconv.Itoa(n))).finish()
			if status != 7 || got != want {
				t.Fatalf("%d bytes: status %d, got %d bytes ending %q", n, status, len(got), tail(got))
			}
		}
	}
}

func TestBulkOutputIsUnchanged(t *testing.T) {
	n := int64(counts.Runs(2, 100) << 20)
	got, want := sha256.New(), sha256.New()
	cfg := role(t, "stream", strconv.FormatInt(n, 10))
	cfg.Output = got
	var tapped uint64
	cfg.Tap = func(p []byte) { tapped += uint64(len(p)) }
	r := begin(t, cfg)
	r.finish()
	if _, err := copyN(want, n); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("output of %d bytes has changed on its way", n)
	}
	if tapped != uint64(n) {
		t.Errorf("the tap heard %d bytes, want %d", tapped, n)
	}
}

func TestResizeArrivesOnce(t *testing.T) {
	cfg := role(t, "winch")
	cfg.Size = Winsize{Rows: 10, Cols: 20}
	r := begin(t, cfg)
	r.says("ready")
	for _, w := range []Winsize{{Rows: 10, Cols: 20}, {Rows: 30, Cols: 40, XPixel: 5, YPixel: 6}, {Rows: 30, Cols: 40, XPixel: 5, YPixel: 6}} {
		if err := r.Resize(w); err != nil {
			t.Fatalf("Resize(%v): %v", w, err)
		}
	}
	r.says("size 30 40 5 6")
	r.Resize(Winsize{Rows: 50, Cols: 60})
	r.says("size 50 60 0 0")
	if n := strings.Count(r.output(), "size "); n != 2 {
		t.Errorf("%d signals for 2 changes: %q", n, r.output())
	}
	r.View(func(s *screen.Screen) {
		if rows, cols := s.Size(); rows != 50 || cols != 60 {
			t.Errorf("the screen is %d×%d", rows, cols)
		}
	})
	// A resize by the library's way would leave the master blocking, and this read for ever.
	r.cancel(errTestOver)
	if err := r.end(); !errors.Is(err, errTestOver) {
		t.Errorf("Run: %v", err)
	}
	if err := r.Resize(Winsize{Rows: 1, Cols: 1}); !errors.Is(err, ErrEnded) {
		t.Errorf("Resize after the end: %v", err)
	}
}

func TestSizeNotToldIsPassedOn(t *testing.T) {
	r := begin(t, sh("stty size"))
	if _, out := r.finish(); out != "0 0\r\n" {
		t.Errorf("stty says %q", out)
	}
	r.View(func(s *screen.Screen) {
		if rows, cols := s.Size(); rows != 24 || cols != 80 {
			t.Errorf("the screen is %d×%d", rows, cols)
		}
	})
}

func TestAgentHasOnlyItsTerminal(t *testing.T) {
	if leak, err := unix.FcntlInt(0, unix.F_DUPFD, 50); err == nil { // as from a careless parent
		defer unix.Close(leak)
	}
	r := begin(t, Config{Args: []string{"cat"}, Env: os.Environ()})
	r.Keys([]byte("x\n"))
	r.says("x\r\nx\r\n") // it runs
	dir := fmt.Sprintf("/proc/%d/fd", r.PID())
	entries, err := os.ReadDir(dir)
	if err != nil {
		cannot(t, "no /proc")
	}
	for _, e := range entries {
		target, _ := os.Readlink(filepath.Join(dir, e.Name()))
		if fd, _ := strconv.Atoi(e.Name()); fd > 2 || !strings.HasPrefix(target, "/dev/pts/") {
			t.Errorf("file descriptor %s is %s", e.Name(), target)
		}
	}
	if len(entries) != 3 {
		t.Errorf("%d file descriptors", len(entries))
	}
	info, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/0", r.PID()))
	_, flags, _ := strings.Cut(string(info), "flags:")
	bits, err := strconv.ParseInt(strings.Fields(flags)[0], 8, 64)
	if err != nil || bits&unix.O_NONBLOCK != 0 {
		t.Errorf("the agent's tty has flags %o (%v)", bits, err)
	}
	if sid, _ := unix.Getsid(r.PID()); sid != r.PID() {
		t.Errorf("session %d, want %d", sid, r.PID())
	}
}

func TestEnvironmentIsExact(t *testing.T) {
	path, err := exec.LookPath("env")
	must(t, err)
	for _, c := range []struct {
		env  []string
		want string
	}{{[]string{"A=1", "B=two words"}, "A=1\r\nB=two words\r\n"}, {nil, ""}} {
		if _, out := begin(t, Config{Args: []string{path}, Env: c.env}).finish(); out != c.want {
			t.Errorf("environment %q became %q", c.env, out)
		}
	}
}

func TestStartSaysWhyACommandCannotRun(t *testing.T) {
	dir := t.TempDir()
	plain, script, bad := filepath.Join(dir, "plain"), filepath.Join(dir, "script"), filepath.Join(dir, "bad")
	os.WriteFile(plain, []byte("x"), 0o600)
	os.WriteFile(script, []byte("echo $0 $1; exit 5\n"), 0o700)
	os.WriteFile(bad, []byte("#!/no/such/interpreter\n"), 0o700)
	for _, c := range []struct {
		command string
		missing bool
	}{{"no-such-command-here", true}, {filepath.Join(dir, "none"), true}, {"", true}, {bad, true}, {plain, false}, {dir, false}} {
		_, err := Start(Config{Args: []string{c.command}})
		var e *exec.Error
		if !errors.As(err, &e) {
			t.Errorf("Start(%q) = %v, want an *exec.Error", c.command, err)
		}
		if missing := errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist); missing != c.missing {
			t.Errorf("Start(%q) = %v, missing %v, want %v", c.command, err, missing, c.missing)
		}
	}
	status, out := begin(t, Config{Args: []string{script, "arg"}, Env: os.Environ()}).finish()
	if status != 5 || out != script+" arg\r\n" {
		t.Errorf("a script without #!: status %d, output %q", status, out)
	}
}

func TestSomeoneLeftBehindDoesNotHoldUsUp(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, left := range map[string]string{
		"silent":    "sleep 100",
		"flooding":  "yes",
		"trickling": "while sleep 0.01; do echo .; done",
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, sh("trap '' HUP; { "+left+"; } & echo pid $!; exit 3"))
			if err := r.end(); err != nil {
				t.Fatalf("Run: %v", err)
			}
			var pid int
			if _, err := fmt.Sscanf(r.output()[strings.Index(r.output(), "pid"):], "pid %d", &pid); err != nil {
				t.Fatalf("output %q: %v", tail(r.output()), err)
			}
			if name == "silent" && unix.Kill(pid, 0) != nil {
				t.Error("it did not outlive the agent: nothing was tried")
			}
			unix.Kill(pid, unix.SIGKILL)
			if got := r.Wait(); got != 3 {
				t.Errorf("exit code %d", got)
			}
		})
	}
}

func TestStopsAreTold(t *testing.T) {
	r := begin(t, sh("kill -STOP $$; echo again; read x"))
	if stopped := soon(t, "a stop", r.Stops()); !stopped || !r.Stopped() {
		t.Errorf("after a stop: told %v, Stopped %v", stopped, r.Stopped())
	}
	must(t, r.Signal(syscall.SIGCONT))
	if stopped := soon(t, "going on", r.Stops()); stopped || r.Stopped() {
		t.Errorf("after going on: told %v, Stopped %v", stopped, r.Stopped())
	}
	r.says("again")
}

func TestTTYTellsModesReadersAndUnread(t *testing.T) {
	r := begin(t, sh("echo cooked; read x; stty raw -echo; echo raw; kill -STOP $$; head -c5 >/dev/null; echo took; read x"))
	r.says("cooked")
	tty, err := r.TTY()
	if want := (TTY{Canonical: true, Echo: true, Signals: true, Suspends: true, Foreground: r.PID()}); err != nil || tty != want {
		t.Errorf("cooked: %+v, %v, want %+v", tty, err, want)
	}
	r.Keys([]byte("\n"))
	r.says("raw")
	soon(t, "a stop", r.Stops())
	r.Keys([]byte("hello"))
	want := TTY{Foreground: r.PID(), Unread: 5}
	becomes(t, "five bytes unread in raw mode", func() bool { tty, err = r.TTY(); return err == nil && tty == want })
	r.Signal(syscall.SIGCONT)
	r.says("took")
	want.Unread = 0
	if tty, err = r.TTY(); err != nil || tty != want {
		t.Errorf("after reading: %+v, %v, want %+v", tty, err, want)
	}
	r.Signal(syscall.SIGKILL)
	r.end()
	if _, err := r.TTY(); !errors.Is(err, ErrEnded) {
		t.Errorf("TTY after the end: %v", err)
	}
}

func TestForegroundFollowsTheShellsJob(t *testing.T) {
	r := begin(t, sh("set -m; sh -c 'echo job $$; read x'; echo back; read x"))
	r.says("job ")
	var job int
	fmt.Sscanf(r.output(), "job %d", &job)
	if tty, err := r.TTY(); err != nil || tty.Foreground != job {
		t.Errorf("%+v, %v, want foreground %d", tty, err, job)
	}
	r.Keys([]byte("\n"))
	r.says("back")
	if tty, err := r.TTY(); err != nil || tty.Foreground != r.PID() {
		t.Errorf("%+v, %v, want foreground %d", tty, err, r.PID())
	}
}

func TestClosedTerminalIsNotTheEnd(t *testing.T) {
	r := begin(t, sh("echo one; exec </dev/null >/dev/null 2>&1; sleep 0.05; echo two >/dev/tty; exit 4"))
	if status, out := r.finish(); status != 4 || out != "one\r\ntwo\r\n" {
		t.Errorf("status %d, output %q", status, out)
	}
}

func TestHungUpTerminalIsNotTheEnd(t *testing.T) {
	switch status, out := begin(t, role(t, "vhangup")).finish(); {
	case status == 1:
		cannot(t, "vhangup needs privilege")
	case status != 0 || !strings.HasSuffix(out, "after\r\n"):
		t.Errorf("status %+v, output %q", status, out)
	}
}

func TestHeadlessTerminalEditsUTF8(t *testing.T) {
	if _, out := begin(t, sh("stty -a")).finish(); !strings.Contains(out, " iutf8") {
		t.Errorf("stty says %q", out)
	}
}

func TestHangup(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         syscall.Signal
	}{
		{"plain", "echo up; read x", unix.SIGHUP},
		{"stopped", "echo up; kill -STOP $$; read x", unix.SIGHUP},
		{"deaf", "trap '' HUP; echo up; while :; do read x; done", unix.SIGKILL},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, sh(c.script))
			r.says("up")
			if c.name == "stopped" {
				soon(t, "a stop", r.Stops())
			}
			grace := patience
			if c.want == unix.SIGKILL {
				grace = 1
			}
			r.Hangup(grace)
			if got, want := r.Wait(), 128+int(c.want); got != want {
				t.Errorf("status %d, want %d", got, want)
			}
			r.Hangup(patience) // nobody is there
			r.end()
		})
	}
}

func TestHangupReachesTheForegroundJob(t *testing.T) {
	r := begin(t, sh("trap '' HUP; set -m; sh -c 'echo job $$; while :; do read x || sleep 1; done'; read x"))
	r.says("job ")
	var job int
	fmt.Sscanf(r.output(), "job %d", &job)
	if job == r.PID() || unix.Kill(job, 0) != nil {
		t.Fatalf("job %d is no job of its own", job)
	}
	r.Hangup(1)
	r.end()
	becomes(t, "the job is gone", func() bool { return unix.Kill(job, 0) != nil || zombie(job) })
}

// zombie reports whether a process has ended and nobody asked how.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestContextEndHangsUp(t *testing.T) {
	r := begin(t, sh("trap 'echo bye; exit 9' HUP; echo up; while :; do read x; done"))
	r.says("up")
	cause := errors.New("told to stop")
	r.cancel(cause)
	if err := r.end(); !errors.Is(err, cause) {
		t.Errorf("Run: %v", err)
	}
	if r.Wait() != 9 || !strings.Contains(r.output(), "bye") {
		t.Errorf("status %d, output %q", r.Wait(), r.output())
	}
}

// brokenPipe takes n writes.
type brokenPipe struct{ n, after int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.n == 0 {
		b.after++
		return 0, syscall.EPIPE
	}
	b.n--
	return len(p), nil
}

func TestBrokenOutputHangsUp(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         int
	}{
		{"obeys", "echo one; read x; yes", 129},
		{"goes on", "trap '' HUP; echo one; read x; head -c 300000 /dev/zero; exit 5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := &brokenPipe{n: 1}
			cfg := sh(c.script)
			cfg.Output, cfg.Grace = out, patience
			r := begin(t, cfg)
			r.until("one", func() bool { return !r.LastOutput().IsZero() })
			r.Keys([]byte("\n"))
			if err := r.end(); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Run: %v", err)
			}
			if out.after != 1 {
				t.Errorf("%d writes to a broken pipe", out.after)
			}
			if got := r.Wait(); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
}

// gate is an output that blocks until it is opened.
type gate struct {
	inside, open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	select {
	case g.inside <- struct{}{}:
	default:
	}
	<-g.open
	return g.Buffer.Write(p)
}

func TestBlockedOutputBlocksNothingElse(t *testing.T) {
	g := &gate{inside: make(chan struct{}, 1), open: make(chan struct{})}
	cfg := role(t, "print", "100000")
	cfg.Output = g
	r := begin(t, cfg)
	soon(t, "output", g.inside)
	within(t, "View, TTY, Keys, Begin, Resize or Stopped", func() {
		r.View(func(s *screen.Screen) { s.Cursor() })
		r.TTY()
		r.Keys([]byte("x"))
		if tx, err := r.Begin(context.Background()); err == nil {
			tx.Write(context.Background(), []byte("y"))
			tx.Held()
			tx.End()
		} else {
			t.Error(err)
		}
		r.Resize(Winsize{Rows: 5, Cols: 5})
		r.Stopped()
	})
	close(g.open)
	r.finish()
	want := string(printed(100000))
	if got := strings.NewReplacer("x", "", "y", "").Replace(g.String()); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

func TestStuckOutputDoesNotStopTheEnd(t *testing.T) {
	t.Parallel() // it mostly waits
	g := &gate{inside: make(chan struct{}, 1), open: make(chan struct{})}
	cfg := role(t, "print", "100000")
	cfg.Output = g
	r := begin(t, cfg)
	soon(t, "output", g.inside)
	r.cancel(errTestOver)
	if err := r.end(); !errors.Is(err, errTestOver) {
		t.Errorf("Run: %v", err)
	}
	close(g.open)
}

func TestPanicComesOutOfRun(t *testing.T) {
	cfg := sh("echo hi; read x")
	cfg.Output = discard{}
	cfg.Tap = func([]byte) { panic("tap broke") }
	s, err := Start(cfg)
	must(t, err)
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "tap broke") {
			t.Errorf("Run panics with %v", v)
		}
		soon(t, "the agent's end", s.Done())
		if s.Wait() != 128+int(unix.SIGHUP) {
			t.Errorf("status %d", s.Wait())
		}
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("a panic: not within %v", patience))
	defer cancel()
	s.Run(ctx)
}

// needs skips a test on a machine without a program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		cannot(t, "no "+program)
	}
}

// cannot skips a test that this machine has not what it takes for; with RELAY_E2E=require the
// test fails.
func cannot(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("RELAY_E2E") == "require" {
		t.Fatal(why)
	}
	t.Skipf("NOT RUN: %s", why)
}
