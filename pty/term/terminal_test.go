package term

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// tty is a terminal of the test's own, and its other side.
func tty(t *testing.T) (terminal, other *os.File) {
	t.Helper()
	other, terminal, err := creack.Open()
	must(t, err)
	t.Cleanup(func() { other.Close(); terminal.Close() })
	return terminal, other
}

func open(t *testing.T, in, out *os.File) *Terminal {
	t.Helper()
	opened, err := Open(nil, in, out)
	must(t, err)
	return opened
}

func modesOf(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	m, err := readModes(f)
	must(t, err)
	return *m
}

// TestRawAndBack: raw modes are those of cfmakeraw(3), and what was found comes back bit by bit,
// whatever it was; stty(1), told what the guardian is told, does the same.
func TestRawAndBack(t *testing.T) {
	for _, settings := range []string{"sane", "-icanon -echo min 7 time 3", "istrip inlcr -ixon -opost ignbrk -iexten", "raw"} {
		t.Run(settings, func(t *testing.T) {
			terminal, _ := tty(t)
			stty(t, terminal, strings.Fields(settings)...)
			found := modesOf(t, terminal)
			m := open(t, terminal, terminal)
			defer m.Restore()
			var lent unix.Termios
			if m.Lend(&lent); lent != found || !m.keyboard || !m.IsDisplay() {
				t.Errorf("lent are %+v, found were %+v", lent, found)
			}
			for range 2 {
				must(t, m.Raw())
				raw := modesOf(t, terminal)
				if raw.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 || raw.Oflag&unix.OPOST != 0 || raw.Cc[unix.VMIN] != 1 {
					t.Errorf("raw is %+v", raw)
				}
			}
			for range 2 {
				if err := m.Restore(); err != nil || modesOf(t, terminal) != found {
					t.Errorf("restored to %+v (%v), found were %+v", modesOf(t, terminal), err, found)
				}
			}
			must(t, m.Raw())
			stty(t, terminal, switchedBack(&found)...)
			if got := modesOf(t, terminal); got != found {
				t.Errorf("by stty %v it is %+v, found were %+v", switchedBack(&found), got, found)
			}
		})
	}
}

// stty sets a terminal's modes as a user would.
func stty(t *testing.T, terminal *os.File, args ...string) {
	t.Helper()
	cmd := exec.Command("stty", args...)
	cmd.Stdin = terminal
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("stty %q: %v: %s", args, err, out)
	}
}

// TestOutputAlone: where keys do not come from a terminal, ^C is still for us, and nothing is
// echoed to a bare agent.
func TestOutputAlone(t *testing.T) {
	terminal, _ := tty(t)
	keys, _ := pipe(t)
	found := modesOf(t, terminal)
	m := open(t, keys, terminal)
	lent := found
	if m.Lend(&lent); m.keyboard || lent.Lflag != found.Lflag&^unix.ECHO {
		t.Errorf("lent are %+v, found were %+v", lent, found)
	}
	must(t, m.Raw())
	want := found
	want.Oflag &^= unix.OPOST
	if got := modesOf(t, terminal); got != want {
		t.Errorf("raw is %+v, want %+v", got, want)
	}
	if err := m.Restore(); err != nil || modesOf(t, terminal) != found {
		t.Errorf("restored to %+v (%v)", modesOf(t, terminal), err)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestNoTerminal: files and pipes in its place have no modes, and nothing fails.
func TestNoTerminal(t *testing.T) {
	keys, _ := pipe(t)
	_, output := pipe(t)
	m := open(t, keys, output)
	if err := errors.Join(m.Raw(), m.Restore()); err != nil || m.keyboard || m.IsDisplay() {
		t.Errorf("%v, terminal %v, display %v", err, m.keyboard, m.IsDisplay())
	}
	if g, err := m.Guard(); g != nil || err != nil {
		t.Errorf("its guardian is %v, %v", g, err)
	}
}

func TestSizes(t *testing.T) {
	terminal, other := tty(t)
	m := open(t, terminal, terminal)
	for _, want := range []Winsize{{Rows: 40, Cols: 100, XPixel: 800, YPixel: 600}, {}, {Rows: 1<<16 - 1, Cols: 1}} {
		must(t, SetSize(other, want))
		if got := m.Size(); got != want {
			t.Errorf("the size is %+v, want %+v", got, want)
		}
	}
	if err := SetSize(other, Winsize{Rows: -1, Cols: 1 << 20}); err != nil || m.Size() != (Winsize{Cols: 1<<16 - 1}) {
		t.Errorf("a size that is none becomes %+v, %v", m.Size(), err)
	}
}

// TestKeys come as they are typed, until their end: that of a pipe is nil, a terminal hangs up.
func TestKeys(t *testing.T) {
	terminal, other := tty(t)
	input, output := pipe(t)
	for _, c := range []struct {
		name     string
		in, from *os.File
		end      error
	}{
		{"a terminal", terminal, other, ErrHangup},
		{"a pipe", input, output, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := open(t, c.in, c.in)
			must(t, m.Raw())
			defer m.Restore()
			keys, end := make(chan string, 10), make(chan error, 1)
			go func() {
				end <- m.CopyKeys(t.Context(), func(p []byte) error { keys <- string(p); return nil })
			}()
			for _, want := range []string{"a", "\x03\x04\r", strings.Repeat("é", 1000)} {
				if _, err := c.from.WriteString(want); err != nil {
					t.Fatal(err)
				}
				got := ""
				for len(got) < len(want) {
					got += within(t, keys, "keys")
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			c.from.Close()
			if err := within(t, end, "the end"); !errors.Is(err, c.end) {
				t.Errorf("it ends with %v, want %v", err, c.end)
			}
		})
	}
}

// within receives what must come.
func within[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not come within 10 s", what)
	}
	return v
}

// TestKeysEnd also by whoever takes them, and by a context between two of them.
func TestKeysEnd(t *testing.T) {
	input, output := pipe(t)
	m := open(t, input, output)
	full := errors.New("no room")
	output.WriteString("x")
	if err := m.CopyKeys(t.Context(), func([]byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("it ends with %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(full)
	output.WriteString("x")
	err := m.CopyKeys(ctx, func([]byte) error { t.Error("a key was taken after the end"); return nil })
	if !errors.Is(err, full) {
		t.Errorf("it ends with %v, want %v", err, full)
	}
}

// TestOutputThatDoesNotBlock: who shares the output made it so. All of it arrives, in order.
func TestOutputThatDoesNotBlock(t *testing.T) {
	input, _ := pipe(t)
	read, write := pipe(t)
	must(t, Control(write, func(fd int) error { return unix.SetNonblock(fd, true) }))
	out := os.NewFile(uintptr(dup(t, write)), "shared") // one that the runtime does not wait for
	defer out.Close()
	m := open(t, input, out)
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	done := make(chan error, 1)
	go func() {
		_, err := m.Write(want)
		done <- err
	}()
	var got []byte
	for buf := make([]byte, 4096); len(got) < len(want); {
		n, err := read.Read(buf)
		must(t, err)
		got = append(got, buf[:n]...)
	}
	if err := within(t, done, "the write"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
}

func dup(t *testing.T, f *os.File) (fd int) {
	t.Helper()
	err := Control(f, func(n int) (err error) { fd, err = unix.Dup(n); return err })
	must(t, err)
	return fd
}

// TestPanicGivesTheTerminalBack, and goes on.
func TestPanicGivesTheTerminalBack(t *testing.T) {
	terminal, _ := tty(t)
	found := modesOf(t, terminal)
	m := open(t, terminal, terminal)
	defer func() {
		if v := recover(); v != "a fault" {
			t.Errorf("recovered %v", v)
		}
		if modesOf(t, terminal) != found {
			t.Error("the terminal is left raw")
		}
	}()
	defer m.OnPanic()
	if err := m.Raw(); err != nil {
		t.Error(err)
	}
	panic("a fault")
}

// TestTerminalThatHungUp is none that can be opened.
func TestTerminalThatHungUp(t *testing.T) {
	terminal, other := tty(t)
	other.Close()
	if m, err := Open(nil, terminal, terminal); !errors.Is(err, unix.EIO) {
		t.Errorf("opened %v, %v", m, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
