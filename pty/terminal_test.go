package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"relay-pty/pty/term"
)

// wrapRole is a wrapper in small: args[0] says what is special, the rest is the command.
func wrapRole(args []string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	term, err := term.Open(nil, os.Stdin, os.Stdout)
	if err != nil {
		panic(err)
	}
	term.Raw()
	defer term.OnPanic()
	os.Unsetenv(roleVar)
	cfg := Config{Args: args[1:], Env: os.Environ(), Size: term.Size(), Like: term, Output: term}
	if args[0] == "panic" {
		cfg.Tap = func([]byte) { panic("on purpose") }
	}
	s, err := Start(cfg)
	if err != nil {
		panic(err)
	}
	go func() {
		defer term.OnPanic()
		if term.CopyKeys(ctx, s.Keys) == nil {
			s.EndInput(ctx)
		}
	}()
	go term.WatchSize(ctx, func(w Winsize) { s.Resize(w) })
	go term.WatchStops(ctx, func(wait func(context.Context) (bool, error)) error { _, err := wait(ctx); return err })
	err = s.Run(ctx)
	term.Restore()
	if err != nil {
		return 99
	}
	return s.Wait()
}

// outer is a terminal of a peculiar kind with a wrapper in it.
type outer struct {
	*run
	tty   *os.File
	found unix.Termios
}

// wrapped starts a wrapper on a terminal with modes of its own, and goes on when the terminal is
// raw.
func wrapped(t *testing.T, special string, command ...string) *outer {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cfg := sh(`stty erase '^H' ixany -echoctl; echo found $(stty -g); read go; exec "$0" "$@"`)
	cfg.Args = append(cfg.Args, append([]string{exe, special}, command...)...)
	cfg.Env = append(cfg.Env, roleVar+"=wrap")
	cfg.Size = Winsize{Rows: 33, Cols: 77}
	o := &outer{run: begin(t, cfg)}
	o.says("found ")
	if o.tty, err = os.OpenFile(o.Session.tty.f.Name(), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	master, err := duplicate(o.ptmx.f) // or the tty would be dead at the end
	must(t, err)
	t.Cleanup(func() { o.tty.Close(); unix.Close(master) })
	o.found = o.modes()
	o.Keys([]byte("\n"))
	return o
}

func (o *outer) modes() unix.Termios {
	o.t.Helper()
	var modes *unix.Termios
	err := term.Control(o.tty, func(fd int) (err error) {
		modes, err = term.GetModes(fd)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return *modes
}

// rawModes are those of cfmakeraw(3).
func rawModes(m unix.Termios) unix.Termios {
	m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Oflag &^= unix.OPOST
	m.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	m.Cflag = m.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	return m
}

func TestAgentStartsWithTheTerminalsModesAndSize(t *testing.T) {
	o := wrapped(t, "", "sh", "-c", "echo same $(stty -g); stty size; read x")
	o.says("33 77")
	var before, inside string
	for line := range strings.Lines(o.output()) {
		fmt.Sscanf(line, "found %s", &before)
		fmt.Sscanf(line, "same %s", &inside)
	}
	if before == "" || inside != before {
		t.Errorf("modes %q became %q", before, inside)
	}
	if got := o.modes(); got != rawModes(o.found) {
		t.Errorf("outside while the agent runs: %+v", got)
	}
}

func TestTerminalIsRestoredExactly(t *testing.T) {
	for _, c := range []struct {
		name, special string
		act           func(o *outer)
		code          int
	}{
		{"exit", "", func(o *outer) { o.Keys([]byte("\n")) }, 6},
		{"panic", "panic", func(*outer) {}, 2},
		{"SIGTERM", "", func(o *outer) { unix.Kill(o.PID(), unix.SIGTERM) }, 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := wrapped(t, c.special, "sh", "-c", "echo up; read x; exit 6")
			o.says("up")
			c.act(o)
			o.end()
			if got := o.Wait(); got != c.code {
				t.Errorf("exit code %d, want %d; output %q", got, c.code, o.output())
			}
			if got := o.modes(); got != o.found {
				t.Errorf("modes\n%+v, want\n%+v", got, o.found)
			}
		})
	}
}

func TestShellStopsAndContinuesUs(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	dash, err := exec.LookPath("dash") // which, unlike others, leaves the modes as its jobs leave them
	if err != nil {
		cannot(t, "no dash")
	}
	o := begin(t, Config{Args: []string{dash, "-i"}, Env: append(os.Environ(), "PS1=prompt> ", "ENV=")})
	asks := func() string {
		before := strings.Count(o.output(), "modes=")
		o.Keys([]byte("echo modes\\=$(stty -g)\n"))
		o.until("modes", func() bool { return strings.Count(o.output(), "modes=") > before })
		o.says("modes=")
		last := o.output()[strings.LastIndex(o.output(), "modes="):]
		return strings.Fields(last)[0]
	}
	o.says("prompt>")
	found := asks()
	o.Keys([]byte(roleVar + "=wrap " + exe + " plain cat\n"))
	raw := func() bool {
		tty, err := o.TTY()
		return err == nil && !tty.Canonical && tty.Foreground != o.PID()
	}
	becomes(t, "raw", raw)
	tty, _ := o.TTY()
	o.Keys([]byte("abc\r"))
	o.says("abc\r\nabc\r\n")
	for range 2 {
		unix.Kill(tty.Foreground, unix.SIGTSTP)
		becomes(t, "the shell is back", func() bool { tty, err := o.TTY(); return err == nil && tty.Foreground == o.PID() })
		if now := asks(); now != found {
			t.Errorf("modes while stopped %q, want %q", now, found)
		}
		o.Keys([]byte("fg\n"))
		becomes(t, "raw again", raw)
	}
	o.Keys([]byte("def\r"))
	o.says("def\r\ndef\r\n")
	o.Keys([]byte{4})
	becomes(t, "the shell is back", func() bool { tty, err := o.TTY(); return err == nil && tty.Foreground == o.PID() })
	if now := asks(); now != found {
		t.Errorf("modes at the end %q, want %q", now, found)
	}
}

func TestSuspendWithoutAShellDoesNothing(t *testing.T) {
	o := wrapped(t, "", "cat") // the wrapper leads the session: nobody could continue it
	becomes(t, "raw", func() bool { return o.modes() == rawModes(o.found) })
	o.Keys([]byte("one\r"))
	o.says("one\r\none\r\n")
	unix.Kill(o.PID(), unix.SIGTSTP)
	o.Keys([]byte("two\r"))
	o.says("two\r\ntwo\r\n")
}

// through runs a command in a wrapper whose input is not a terminal, and returns what it wrote and
// its exit code.
func through(t *testing.T, input *os.File, command ...string) (string, int) {
	t.Helper()
	cfg := role(t, "wrap", append([]string{""}, command...)...)
	cmd := exec.Command(cfg.Args[0], cfg.Args[1:]...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout = cfg.Env, input, &out
	finish(t, cmd)
	return out.String(), cmd.ProcessState.ExitCode()
}

// finish runs cmd to its end; the status may be any.
func finish(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.WaitDelay = patience // what it leaves behind may hold its output
	must(t, cmd.Start())
	late := time.AfterFunc(patience, func() {
		t.Errorf("the end of %q: not within %v", cmd.Args, patience)
		cmd.Process.Kill()
	})
	defer late.Stop()
	cmd.Wait()
}

// pipe returns the reading end of a pipe that holds text and has ended.
func pipe(t *testing.T, text string) *os.File {
	t.Helper()
	in, feed, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { in.Close() })
	feed.WriteString(text)
	feed.Close()
	return in
}

func TestEndOfPipedInputReachesALineReader(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		"one\n":        "one\r\n", // not echoed: no human typed it
		"one\nhalf":    "one\r\nhalf",
		"two\nlines\n": "two\r\nlines\r\n",
	} {
		got, code := through(t, pipe(t, text), "cat")
		if got != want || code != 0 {
			t.Errorf("cat of %q: %q, exit code %d, want %q", text, got, code, want)
		}
	}
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	for name, in := range map[string]*os.File{"/dev/null": null, "closed": nil} {
		if out, code := through(t, in, "sh", "-c", "cat; exit 8"); code != 8 || out != "" {
			t.Errorf("%s: output %q, exit code %d", name, out, code)
		}
	}
}

func TestEndOfPipedInputIsNothingToARawReader(t *testing.T) {
	r := begin(t, sh("stty raw -echo; echo up; head -c1"))
	r.says("up")
	if err := r.EndInput(context.Background()); err != nil {
		t.Fatalf("EndInput: %v", err)
	}
	r.Keys([]byte("k"))
	if _, out := r.finish(); !strings.HasSuffix(out, "k") {
		t.Errorf("output %q", out)
	}
}

func TestEndInputWaitsForQuietAndEnds(t *testing.T) {
	r := begin(t, sh("echo up; exec yes"))
	r.says("up")
	waits := func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 2*drainQuiet)
		defer cancel()
		return errors.Is(r.EndInput(ctx), context.DeadlineExceeded)
	}
	for tries := 1; !waits(); tries++ { // a machine that stalls keeps yes quiet, too
		if tries == 20 {
			t.Fatalf("EndInput did not wait while the agent wrote, %d times", tries)
		}
	}
	r.Signal(syscall.SIGKILL)
	r.end()
	if err := r.EndInput(context.Background()); !errors.Is(err, ErrEnded) {
		t.Errorf("EndInput after the end: %v", err)
	}
}

func TestKeysFromANonBlockingPipe(t *testing.T) {
	var fds [2]int
	must(t, unix.Pipe(fds[:]))
	in, feed := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "feed")
	defer in.Close()
	term, err := term.Open(nil, in, feed)
	must(t, err)
	unix.SetNonblock(fds[0], true) // as someone who shares it might
	unix.SetNonblock(fds[1], true)
	var got []byte
	done := make(chan error, 1)
	go func() {
		done <- term.CopyKeys(context.Background(), func(p []byte) error { got = append(got, p...); return nil })
	}()
	want := printed(1 << 20) // more than a pipe holds
	if n, err := term.Write(want); n != len(want) || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	feed.Close()
	within(t, "CopyKeys", func() {
		if err := <-done; err != nil {
			t.Errorf("CopyKeys: %v", err)
		}
	})
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

func TestKeysEndWithTheTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	must(t, err)
	defer tty.Close()
	human, err := term.Open(nil, tty, tty)
	must(t, err)
	master.Close()
	within(t, "CopyKeys of a terminal that is gone", func() {
		err := human.CopyKeys(context.Background(), func([]byte) error { return nil })
		if !errors.Is(err, term.ErrHangup) {
			t.Errorf("CopyKeys of a terminal that is gone: %v", err)
		}
	})
}

func TestSizesAreCoalescedAndTheLastIsTold(t *testing.T) {
	master, tty, err := pty.Open()
	must(t, err)
	defer master.Close()
	defer tty.Close()
	human, err := term.Open(nil, tty, tty)
	must(t, err)
	if got := human.Size(); got != (Winsize{}) {
		t.Errorf("a terminal that tells 0×0: %v", got)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	told := make(chan Winsize, 10000)
	done := make(chan error, 1)
	go func() { done <- human.WatchSize(ctx, func(w Winsize) { told <- w }) }()
	soon(t, "the first look", told) // it listens
	start := time.Now()
	const last = 2000
	for i := 1; i <= last; i++ {
		term.SetSize(master, Winsize{Rows: i, Cols: 1})
		unix.Kill(os.Getpid(), unix.SIGWINCH)
	}
	n := 0
	within(t, "the last size", func() {
		for w := range told {
			if n++; w.Rows == last {
				return
			}
		}
	})
	if most := int(time.Since(start)*60/time.Second) + 2; n > most {
		t.Errorf("%d sizes told, at most %d in the time", n, most)
	}
	cancel(errTestOver)
	if err := soon(t, "the end of WatchSize", done); !errors.Is(err, errTestOver) {
		t.Errorf("WatchSize: %v", err)
	}
}

func TestNoTerminalAtAll(t *testing.T) {
	in := pipe(t, "")
	cfg := role(t, "wrap", "", "stty", "size")
	cmd := exec.Command(cfg.Args[0], cfg.Args[1:]...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.SysProcAttr = cfg.Env, in, &out, &syscall.SysProcAttr{Setsid: true}
	finish(t, cmd)
	if code := cmd.ProcessState.ExitCode(); out.String() != "24 80\r\n" || code != 0 {
		t.Errorf("stty says %q, exit code %d", out.String(), code)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
