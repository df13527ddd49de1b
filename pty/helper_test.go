package pty

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"relay-pty/protocol/counts"
	"relay-pty/pty/term"
)

// roleVar makes a copy of the test binary one of the programs below.
const roleVar = "PTY_TEST_ROLE"

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// roles are programs that run on a PTY.
var roles = map[string]func(args []string) int{
	"print":  printRole,
	"stream": streamRole,
	"text":   textRole,
	"record": recordRole,
	"winch":  winchRole,
	"deaf":   deafRole,
	"echo":   echoRole,

	"vhangup": vhangupRole,
	"wrap":    wrapRole,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(roles[role](os.Args[1:]))
	}
	knownStart()
	counts.Rapid(25)
	goleak.VerifyTestMain(m)
}

// knownStart gives agents the system's own actions for the signals that whoever began the tests
// (nohup, a shell's background) had ignored: a shell cannot trap a signal that was ignored when
// it began. A handler ends with the process's program, and this one does nothing.
func knownStart() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads
		}
	}
}

// role is the configuration that runs a role.
func role(t testing.TB, name string, args ...string) Config {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	env := append(os.Environ(), roleVar+"="+name, "GORACE=atexit_sleep_ms=0") // the race detector would end each a second later
	return Config{Args: append([]string{exe}, args...), Env: env}
}

// sh is the configuration that runs a shell script.
func sh(script string) Config {
	return Config{Args: []string{"/bin/sh", "-c", script}, Env: os.Environ()}
}

// run is a session whose Run is under way, and all it wrote.
type run struct {
	*Session
	t      testing.TB
	look   <-chan struct{}
	result chan error
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *run) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *run) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

var errTestOver = errors.New("the test is over")

// begin starts cfg and its Run; output goes to the run unless cfg says otherwise.
func begin(t testing.TB, cfg Config) *run {
	t.Helper()
	r := &run{t: t, result: make(chan error, 1)}
	if cfg.Output == nil {
		cfg.Output = r
	}
	s, err := Start(cfg)
	if err != nil {
		t.Fatalf("Start(%q): %v", cfg.Args, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r.Session, r.look, r.cancel = s, s.Watch(), cancel
	go func() { r.result <- s.Run(ctx) }()
	t.Cleanup(func() {
		if r.result != nil {
			s.Signal(syscall.SIGKILL)
			cancel(errTestOver)
			r.end()
		}
		cancel(errTestOver)
	})
	return r
}

// end waits for Run and returns what it returned.
func (r *run) end() error {
	r.t.Helper()
	select {
	case err := <-r.result:
		r.result = nil
		return err
	case <-time.After(patience):
		r.t.Fatalf("the end of Run: not within %v; output so far: %q", patience, tail(r.output()))
		return nil
	}
}

// finish waits for the agent's end and its whole output.
func (r *run) finish() (int, string) {
	r.t.Helper()
	if err := r.end(); err != nil {
		r.t.Fatalf("Run: %v", err)
	}
	return r.Wait(), r.output()
}

// Wait waits for the agent's end, as the session's own does, but not for ever.
func (r *run) Wait() int {
	r.t.Helper()
	soon(r.t, "the agent's end", r.Done())
	return r.Session.Wait()
}

// until waits for a condition that output, keys, stops or the end can bring about.
func (r *run) until(what string, ok func() bool) {
	r.t.Helper()
	late := time.After(patience)
	for !ok() {
		select {
		case <-r.look:
		case <-late:
			r.t.Fatalf("%s: not within %v; output %q", what, patience, tail(r.output()))
		}
	}
}

// says waits until the agent has written text.
func (r *run) says(text string) {
	r.t.Helper()
	r.until("output "+strconv.Quote(text), func() bool { return strings.Contains(r.output(), text) })
}

// becomes waits for a condition that nothing announces, such as the kernel's view of a process: it
// looks at short intervals.
func becomes(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// within fails the test when f does not return.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("the end of %s: not within %v", what, patience)
	}
}

// soon is what comes from c, which must not take long.
func soon[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
	return v
}

func tail(s string) string { return s[max(0, len(s)-300):] }

// makeRaw puts our standard input into raw mode.
func makeRaw() {
	modes, err := term.GetModes(0)
	if err == nil {
		raw := rawModes(*modes)
		err = term.SetModes(0, &raw)
	}
	if err != nil {
		panic(err)
	}
}

// printRole writes n bytes, at once where it can, and exits.
func printRole(args []string) int {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(printed(n))
	return 7
}

// printed is n bytes that end in a mark.
func printed(n int) []byte {
	p := bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]
	p[n-1] = '$'
	return p
}

// streamRole writes args[0] random bytes in raw mode.
func streamRole(args []string) int {
	makeRaw()
	n, _ := strconv.ParseInt(args[0], 10, 64)
	if _, err := io.CopyN(os.Stdout, random(), n); err != nil {
		panic(err)
	}
	return 0
}

// textRole writes args[0] mebibytes of lines in raw mode.
func textRole(args []string) int {
	makeRaw()
	n, _ := strconv.Atoi(args[0])
	mebibyte := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog, again and again.\r\n"), 1<<20/60)[:1<<20]
	for range n {
		os.Stdout.Write(mebibyte)
	}
	return 0
}

func random() io.Reader { return rand.NewChaCha8([32]byte{1}) }

// recordRole reads keys in raw mode until the end mark, and tells their sum and, in hexadecimal,
// what they were when few.
func recordRole([]string) int {
	makeRaw()
	fmt.Print("ready\r\n")
	var got []byte
	buf := make([]byte, 3000)
	for !bytes.HasSuffix(got, []byte(endMark)) {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 1
		}
		got = append(got, buf[:n]...)
	}
	os.WriteFile(os.Getenv("RECORD_TO"), got, 0o600)
	fmt.Printf("%x\r\n", sha256.Sum256(got))
	return 0
}

const endMark = "\x00end\x00"

// winchRole tells each new size of its terminal.
func winchRole([]string) int {
	c := make(chan os.Signal, 100)
	signal.Notify(c, syscall.SIGWINCH)
	fmt.Println("ready")
	for range c {
		w, err := term.GetSize(os.Stdout)
		fmt.Println("size", w.Rows, w.Cols, w.XPixel, w.YPixel, err)
	}
	return 0
}

// deafRole never reads, in raw mode.
func deafRole([]string) int {
	makeRaw()
	fmt.Print("ready\r\n")
	wait := make(chan os.Signal, 1)
	signal.Notify(wait, syscall.SIGHUP)
	<-wait
	return 3
}

// echoRole copies keys to output in raw mode.
func echoRole([]string) int {
	makeRaw()
	fmt.Print("ready\r\n")
	io.Copy(os.Stdout, os.Stdin)
	return 0
}

// vhangupRole hangs its own terminal up, opens it anew and writes there. It exits with 1 when it
// may not.
func vhangupRole([]string) int {
	signal.Ignore(syscall.SIGHUP)
	name, err := os.Readlink("/proc/self/fd/1")
	if err != nil || vhangup() != nil {
		return 1
	}
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return 2
	}
	f.WriteString("after\n")
	return 0
}
