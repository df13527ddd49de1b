// Package term is the human's side in a test: a terminal of its own with a
// program in it, keys to type, and a screen to wait on.
//
// As in life, a shell leads the terminal's session and the program is its
// foreground job. The shell stays until the terminal's settings were read
// after the program's end, so that they are those the program left, whatever a
// kernel does to a terminal whose session ended; then it goes, and with it the
// output ends.
package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/await"
	"relay-pty/pty/screen"
	"relay-pty/pty/term"
)

// Options says what runs and where.
type Options struct {
	Argv       []string
	Env        []string // nil: the test's own
	Dir        string
	Rows, Cols int // 0: 24, 80

	// Stdin and Stdout replace the terminal.
	Stdin, Stdout *os.File

	// Answers makes the terminal answer questions (device attributes, the
	// cursor's position, colours, …), always in the same way.
	Answers bool
	// Sink takes the output, which is then neither kept nor shown. A Sink that
	// blocks holds the program back. It must not keep p.
	Sink func(p []byte)
}

// Term is a running program on a terminal. Its methods may be called from any
// goroutine. One goroutine reads the terminal; it ends when the program's
// session does, at the latest with Close.
type Term struct {
	master *os.File
	cmd    *exec.Cmd
	tells  *os.File // from the shell: pid and status
	lets   *os.File // to the shell: print the mark; at its end, go
	pid    int
	sink   func([]byte) // may be nil

	answers bool   // to questions; the output loop's own, as the next field
	asked   []byte // what may be the beginning of a question

	state  await.State // guards all below
	out    []byte
	scr    *screen.Screen
	after  Modes // settings when the program had ended
	status int
	done   bool          // status and after are valid
	ending bool          // the mark is to come
	tail   []byte        // what came while it is
	whole  chan struct{} // closed when it has
	err    error         // the output's end
	closed chan struct{} // all output is in
}

// keeper runs "$@" and tells its pid, then its status, on fd 3; told to on fd 5, it prints the
// mark; then it waits to be let go. What the shell itself has to say, as "Killed", goes nowhere.
// A ^C that ends the program must not end the shell.
const keeper = `exec 6>&2 2>/dev/null; trap : INT QUIT
sh -c 'echo $$ >&3; exec "$@" 2>&6 3>&- 4>&- 5<&- 6>&-' sh "$@"
echo $? >&3; read _ <&5; printf '\033_kept\033\134' >&4; read _ <&5`

// mark follows the program's last output: the end of a terminal's session
// throws away what nobody has read yet, so it must not come before this is in.
const mark = "\x1b_kept\x1b\\"

// patience is how long a shell may take to begin and a closed terminal to end its output; only
// a failure takes that long.
const patience = time.Minute

// Start runs opts.Argv on a new terminal.
func Start(opts Options) (*Term, error) {
	if opts.Rows == 0 {
		opts.Rows, opts.Cols = 24, 80
	}
	master, slave, err := openPTY()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	t := &Term{master: master, scr: screen.New(opts.Rows, opts.Cols), closed: make(chan struct{}), whole: make(chan struct{}), sink: opts.Sink, answers: opts.Answers}
	err = t.size(opts.Rows, opts.Cols)
	if err == nil {
		err = t.spawn(opts, slave)
	}
	if err != nil {
		master.Close() // of no use
		return nil, err
	}
	go t.pump()
	return t, nil
}

func (t *Term) size(rows, cols int) error {
	return term.SetSize(t.master, term.Winsize{Rows: rows, Cols: cols})
}

func (t *Term) spawn(opts Options, slave *os.File) (err error) {
	var says, hears *os.File // the shell's ends; it alone holds them soon, so its end is heard at once
	if t.tells, says, err = os.Pipe(); err != nil {
		return err
	}
	defer says.Close()
	if hears, t.lets, err = os.Pipe(); err != nil {
		return errors.Join(err, t.tells.Close())
	}
	defer hears.Close()
	t.cmd = exec.Command("/bin/sh", append([]string{"-c", keeper, "sh"}, opts.Argv...)...)
	t.cmd.Dir, t.cmd.Env = opts.Dir, opts.Env
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = slave, slave, slave
	ctty := 0
	if opts.Stdin != nil {
		t.cmd.Stdin, ctty = opts.Stdin, 4
	}
	if opts.Stdout != nil {
		t.cmd.Stdout = opts.Stdout
	}
	t.cmd.ExtraFiles = []*os.File{says, slave, hears} // 3, 4 and 5
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: ctty}
	if err := t.cmd.Start(); err != nil {
		return errors.Join(err, t.tells.Close(), t.lets.Close())
	}
	says.Close()                                      // as above
	t.tells.SetReadDeadline(time.Now().Add(patience)) // cannot fail: it is pollable
	pid, err := t.number()
	t.tells.SetReadDeadline(time.Time{}) // the status comes when the program ends
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("wait for its pid: not within %v", patience)
		syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) // the shell leads its own group; its end is awaited below
	}
	if err != nil {
		t.lets.Close() // the shell goes
		return errors.Join(fmt.Errorf("start %s: %w", opts.Argv[0], err), t.cmd.Wait(), t.tells.Close())
	}
	t.pid = pid
	go t.await()
	return nil
}

// number reads one line, a number, from the shell.
func (t *Term) number() (n int, err error) {
	_, err = fmt.Fscanln(t.tells, &n)
	return n, err
}

// await takes the program's status and the terminal's settings at that
// moment, then lets the shell go, which ends the output.
func (t *Term) await() {
	status, err := t.number()
	if err == nil {
		after, merr := t.modes()
		t.state.Change(func() { t.status, t.after, t.done, t.ending = status, after, merr == nil, true })
		if _, err := t.lets.WriteString("\n"); err == nil {
			select {
			case <-t.whole:
			case <-t.closed:
			}
		}
	}
	t.lets.Close()  // the shell's read ends
	t.cmd.Wait()    // its own status says nothing
	t.tells.Close() // all is told
}

func (t *Term) pump() {
	defer close(t.closed)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		p := t.unmarked(buf[:n], err != nil)
		if t.sink != nil {
			if len(p) > 0 {
				t.sink(p)
			}
			p = nil
		}
		t.state.Change(func() {
			t.out = append(t.out, p...)
			if reply := t.show(p); reply != "" {
				t.Type(reply) // before anyone hears of the output; fails when the program is gone, which needs no answer
			}
			if err != nil {
				t.err = io.EOF // EIO: nobody holds the terminal; or closed
			}
		})
		if err != nil {
			return
		}
	}
}

// unmarked takes the mark out of what was read. While it is to come, all that comes is kept back.
func (t *Term) unmarked(p []byte, last bool) []byte {
	t.state.Lock()
	defer t.state.Unlock()
	if !t.ending {
		return p
	}
	t.tail = append(t.tail, p...)
	before, after, found := bytes.Cut(t.tail, []byte(mark))
	if !found && !last {
		return nil
	}
	if t.ending = false; found {
		close(t.whole)
	}
	return append(before, after...)
}

// Pid is the program's process id.
func (t *Term) Pid() int { return t.pid }

// Type writes s as one write, as a key or a terminal's paste arrives.
func (t *Term) Type(s string) error {
	if err := t.master.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if n, err := t.master.WriteString(s); err != nil {
		return fmt.Errorf("type %d bytes, %d taken: %w", len(s), n, err)
	}
	return nil
}

// Paste types s in bracketed paste.
func (t *Term) Paste(s string) error { return t.Type("\x1b[200~" + s + "\x1b[201~") }

// Focus tells a program that has asked for it whether the terminal has the human's focus, as when
// they go to another window. A terminal begins with it.
func (t *Term) Focus(in bool) error {
	t.state.Lock()
	asked := t.scr.Modes().FocusEvents
	t.state.Unlock()
	switch {
	case !asked:
		return nil
	case in:
		return t.Type("\x1b[I")
	}
	return t.Type("\x1b[O")
}

// PressUntil types key, and again after each pause, until the screen satisfies
// want. Programs may ignore keys just after a change of the screen: Claude
// Code 2.1.329 ignores an answer to a dialog for its first 0.1 to 0.2 seconds.
func (t *Term) PressUntil(ctx context.Context, key string, pause time.Duration, want func(*screen.Screen) bool) error {
	for {
		if err := t.Type(key); err != nil {
			return err
		}
		try, cancel := context.WithTimeoutCause(ctx, pause, errAgain)
		err := t.WaitScreen(try, want)
		cancel()
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

var errAgain = errors.New("press again")

// Resize changes the terminal's size; the kernel signals the program.
func (t *Term) Resize(rows, cols int) error {
	t.state.Lock()
	t.scr.Resize(rows, cols)
	t.state.Unlock()
	return t.size(rows, cols)
}

// Modes is a terminal's settings; equal settings compare equal.
type Modes = unix.Termios

// Modes returns the terminal's settings: as they are, or, once the program ended, as it left them.
func (t *Term) Modes() (Modes, error) {
	t.state.Lock()
	defer t.state.Unlock()
	if t.done {
		return t.after, nil
	}
	return t.modes()
}

func (t *Term) modes() (m Modes, err error) {
	err = term.Control(t.master, func(fd int) error {
		now, err := term.GetModes(fd)
		if err == nil {
			m = *now
		}
		return err
	})
	return m, err
}

// Raw reports whether the terminal hands over every key, not lines.
func (t *Term) Raw() (bool, error) {
	m, err := t.Modes()
	return m.Lflag&unix.ICANON == 0, err
}

// Signal sends sig to the program alone.
func (t *Term) Signal(sig syscall.Signal) error { return syscall.Kill(t.pid, sig) }

// Output returns all that the program wrote so far.
func (t *Term) Output() []byte {
	t.state.Lock()
	defer t.state.Unlock()
	return bytes.Clone(t.out)
}

// WaitOutput waits until the output satisfies want, which must not keep it.
func (t *Term) WaitOutput(ctx context.Context, want func([]byte) bool) error {
	return t.wait(ctx, "output", func() bool { return want(t.out) })
}

// WaitScreen waits until the screen satisfies want, which must not keep it.
func (t *Term) WaitScreen(ctx context.Context, want func(*screen.Screen) bool) error {
	return t.wait(ctx, "the screen", func() bool { return want(t.scr) })
}

// WaitText waits until some row of the screen holds text.
func (t *Term) WaitText(ctx context.Context, text string) error {
	return t.wait(ctx, strconv.Quote(text), func() bool { return strings.Contains(Dump(t.scr), text) })
}

// Screen is a dump of the screen now.
func (t *Term) Screen() string {
	t.state.Lock()
	defer t.state.Unlock()
	return Dump(t.scr)
}

// wait returns io.EOF when the output ended without what is wanted.
func (t *Term) wait(ctx context.Context, what string, want func() bool) error {
	err := t.state.Until(ctx, func() (bool, error) {
		t.state.Lock()
		defer t.state.Unlock()
		if want() {
			return true, nil
		}
		return false, t.err
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

// Wait returns the program's exit status, 128+n when signal n killed it, once
// all its output is in.
func (t *Term) Wait(ctx context.Context) (int, error) {
	select {
	case <-t.closed:
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the end of the program: %w", context.Cause(ctx))
	}
	t.state.Lock()
	defer t.state.Unlock()
	if !t.done {
		return 0, errors.New("the terminal was closed before the program ended")
	}
	return t.status, nil
}

// Close hangs up the terminal, as closing its window does, and kills the
// program if it is still there.
func (t *Term) Close() error {
	t.state.Lock()
	ended := t.done
	t.state.Unlock()
	if !ended {
		syscall.Kill(t.pid, syscall.SIGKILL) // gone already: well
	}
	return t.Hangup()
}

// Hangup closes the terminal's window and leaves the program to notice: its reads end at once and
// it gets a SIGHUP soon after. Its status stays unknown. Hangup waits for the end of the output,
// which only a Sink that blocks can hold back.
func (t *Term) Hangup() error {
	err := t.master.Close()
	select {
	case <-t.closed:
		return err
	case <-time.After(patience):
		return errors.Join(err, fmt.Errorf("wait for the end of the output: not within %v", patience))
	}
}

// Dump is the text of s, a row a line, blanks at the ends of rows trimmed.
func Dump(s *screen.Screen) string {
	rows, _ := s.Size()
	lines := make([]string, rows)
	for r := range rows {
		lines[r] = strings.TrimRight(s.Row(r), " ")
	}
	return strings.Join(lines, "\n")
}
