package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

func TestSecondWrapperRefusesAndADeadOneIsReplaced(t *testing.T) {
	t.Parallel()
	first := start(t, term.Options{Argv: []string{"cat"}})
	again := func(socket string) (string, int) {
		cmd := command(t, binary(t), "--name", "alice", "--socket", socket, "--headless", "--", "true")
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+filepath.Dir(first.socket), "XDG_STATE_HOME="+filepath.Dir(first.socket))
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, socket := range []string{first.socket, first.socket + "2"} { // the socket is held, and so is the name
		out, code := again(socket)
		if code != 125 || !strings.Contains(out, fmt.Sprint("pid ", first.Pid())) || !strings.Contains(out, "alice") {
			t.Errorf("exit %d and %q, want 125 and pid %d of alice", code, out, first.Pid())
		}
	}
	must(t, first.Signal(syscall.SIGKILL))
	if _, err := first.Wait(patience(t, "the end of the killed wrapper")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(first.socket); err != nil {
		t.Fatalf("the killed wrapper left no socket: %v", err)
	}
	if out, code := again(first.socket); code != 0 {
		t.Errorf("exit %d and %q, want the stale socket reclaimed", code, out)
	}
}

func TestSocketAndListingAreOurs(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}})
	info, err := os.Stat(w.socket)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("socket mode %v, want 0600", info.Mode())
	}
	listing := filepath.Join(filepath.Dir(w.socket), "relay", "agents", "alice.json")
	b, err := os.ReadFile(listing)
	must(t, err)
	for _, want := range []string{`"socket":"` + w.socket + `"`, fmt.Sprintf(`"pid":%d`, w.Pid()), `"token_sha256":"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in the listing %s", want, b)
		}
	}
	must(t, w.Type("\x04"))
	if _, err := w.Wait(patience(t, "the end of the wrapper")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.socket, listing} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left behind", path)
		}
	}
}

func TestSignalsEndTheAgentAndRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGINT: 130} {
		t.Run(sig.String(), func(t *testing.T) {
			w := start(t, term.Options{Argv: []string{"sh", "-c", `stty raw -echo; printf '\033[?1003;1006;2004h\033[?25l'; echo up; exec sleep 1000`}})
			must(t, w.WaitText(patience(t), "up"))
			raw, err := w.Modes()
			must(t, err)
			must(t, w.Signal(sig))
			code, err := w.Wait(patience(t, "the end of the wrapper by "+sig.String()))
			must(t, err)
			if code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			after, err := w.Modes()
			must(t, err)
			bare := testTerm(t)
			if after != bare || after == raw {
				t.Errorf("terminal modes %+v, want %+v as before", after, bare)
			}
			must(t, w.WaitScreen(patience(t, "a screen without traces"), func(s *screen.Screen) bool { return s.Traces() == screen.Traces{} }))
		})
	}
}

// testTerm is the modes of a terminal on which nothing unusual ran.
func testTerm(t *testing.T) term.Modes {
	t.Helper()
	tm, err := term.Start(term.Options{Argv: []string{"true"}})
	must(t, err)
	defer tm.Close()
	if _, err := tm.Wait(patience(t, "the end of true")); err != nil {
		t.Fatal(err)
	}
	modes, err := tm.Modes()
	must(t, err)
	return modes
}

// atMost waits until the wrapper's memory at rest is at most limit, in KiB, and returns it.
func (w *wrapped) atMost(limit int, when string) int {
	w.t.Helper()
	for deadline := bounded(w.t, 10*time.Second); ; {
		pss := testrig.Memory(w.t, w.Pid())
		if pss <= limit {
			return pss
		}
		if deadline.Err() != nil {
			w.t.Errorf("PSS %s is %d KiB, want at most %d; %v", when, pss, limit, context.Cause(deadline))
			return pss
		}
		pause(w.t, 100*time.Millisecond)
	}
}

// coarse is what the wrapper's memory, in KiB, stays below on any machine: threads that the runtime
// adds under load never go away.
const coarse = 10 << 10

func TestIdleCostsNothing(t *testing.T) {
	w := start(t, term.Options{Argv: []string{"cat"}})
	w.state("ready")
	unused := w.atMost(runs(coarse, 5<<10), "before the first message")
	w.inject("m1", "hello")
	w.rests(w.delivers("m1", "echo"))
	// The runtime's own threads take a moment to fall asleep, so the best of a few windows counts;
	// a tick of ours would be in each.
	woken := 1 << 30
	for try := 0; try < runs(1, 4) && woken > 0; try++ {
		before := testrig.Switches(t, w.Pid())
		<-time.After(3 * time.Second) // what is measured is that nothing happens
		woken = min(woken, testrig.Switches(t, w.Pid())-before)
	}
	if proving() && woken > 0 {
		t.Errorf("%d context switches in 3 idle seconds, want none", woken)
	}
	used := w.atMost(runs(coarse, 6<<10), "after a message")
	shown(t, "idle for 3 s after a message", "%d context switches, PSS %d KiB, before the message %d KiB", woken, used, unused)
}

// bareLines are what n messages cost without the wrapper: the first times are of a line made
// durable in a file, the second of one that is typed into a bare `cat` and read on the screen.
func bareLines(t *testing.T, n int) (disk, screen []time.Duration) {
	t.Helper()
	f, err := os.Create(filepath.Join(scratch(t), "durable"))
	must(t, err)
	defer f.Close()
	tm, err := term.Start(term.Options{Argv: []string{"cat"}})
	must(t, err)
	defer tm.Close()
	for i := range n {
		began := time.Now()
		_, err := fmt.Fprintf(f, "%0200d\n", i)
		must(t, err)
		must(t, f.Sync())
		disk = append(disk, time.Since(began))
		began = time.Now()
		line := fmt.Sprintf("line%dend", i)
		must(t, tm.Type(line+"\r"))
		must(t, tm.WaitText(patience(t), line))
		screen = append(screen, time.Since(began))
	}
	slices.Sort(disk)
	slices.Sort(screen)
	return disk, screen
}

// TestProveQuickThousand: a thousand messages to a program that reads lines, which nothing but
// its reads shows to be ready, after some whose acceptance is timed. A machine that is slow itself
// is allowed for by what the disk and a bare terminal take on it in the same run.
func TestProveQuickThousand(t *testing.T) {
	const n = 1000
	disk, bare := bareLines(t, 200)
	shown(t, "a line made durable, and one typed into a bare `cat`, 200 each", "%s; %s", spread(disk), spread(bare))
	w := start(t, term.Options{Argv: []string{"cat"}}, "--queue-max", "2000")
	w.state("ready")
	var accepted []time.Duration
	for i := range 200 {
		id := fmt.Sprintf("a%d", i)
		began := time.Now()
		w.inject(id, "hello")
		w.queued(id)
		accepted = append(accepted, time.Since(began))
		w.delivers(id, "echo")
	}
	slices.Sort(accepted)
	if half, most := quantile(accepted, 0.5), max(time.Millisecond, 12*quantile(disk, 0.5)); proving() && half > most {
		t.Errorf("on disk after %v, want %v", half, most)
	}
	shown(t, "from inject to queued, on disk, 200 messages one after the other", "%s", spread(accepted))
	began := time.Now()
	for i := range n {
		w.inject(fmt.Sprintf("m%d", i), "hello")
	}
	for i := range n {
		w.delivers(fmt.Sprintf("m%d", i), "echo")
	}
	each := time.Since(began) / n
	if most := max(time.Second/300, 80*quantile(bare, 0.5)); proving() && each > most {
		t.Errorf("%v a message, want %v", each, most)
	}
	pss := w.atMost(coarse, "after a thousand messages")
	shown(t, "1,000 messages at once into a line program", "%.0f a second, batches included; PSS afterwards %d KiB", 1/each.Seconds(), pss)
}

// TestProveQuickStart: a command that ends at once ends almost as soon under the wrapper. What a
// machine takes to start a process varies by the day, so the wrapper may add 8 ms, or twice what
// the same program takes there to print its version.
func TestProveQuickStart(t *testing.T) {
	dir := scratch(t)
	wrapped := []string{binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--headless", "--"}
	once := func(argv ...string) time.Duration {
		cmd := command(t, argv...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
		return time.Since(began)
	}
	var bare, version, through []time.Duration
	for range runs(5, 60) {
		bare = append(bare, once("true"))
		version = append(version, once(wrapped[0], "--version"))
		through = append(through, once(append(wrapped, "true")...))
	}
	shown(t, "start to end of `true`, of `relay-pty --version`, and of `true` wrapped, in turns", "%s; %s; %s", spread(bare), spread(version), spread(through))
	added, most := quantile(through, 0.5)-quantile(bare, 0.5), max(8*time.Millisecond, 2*quantile(version, 0.5))
	if proving() && added > most {
		t.Errorf("the wrapper adds %v, want at most %v", added, most)
	}
}

func TestSizesAndResizesArrive(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"sh", "-c", `trap 'stty size' WINCH; stty size; while :; do read x; done`}, Rows: 30, Cols: 91})
	must(t, w.WaitText(patience(t), "30 91"))
	must(t, w.Resize(33, 77))
	must(t, w.WaitText(patience(t), "33 77"))
	if f := w.status(); !strings.Contains(f.Raw, `"size":{"cols":77,"rows":33}`) {
		t.Errorf("status says %s", f.Raw)
	}
}

func TestHeadlessHasTheGivenSizeAndNoOutput(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	file := filepath.Join(dir, "size")
	cmd := command(t, binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--headless", "--size", "99x21", "--", "sh", "-c", "stty size | tee "+file+"; exit 5")
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 5 || len(out) > 0 {
		t.Errorf("exit %d, output %q", cmd.ProcessState.ExitCode(), out)
	}
	if b, _ := os.ReadFile(file); string(bytes.TrimSpace(b)) != "21 99" {
		t.Errorf("size %q, want 21 99", b)
	}
}

func TestJSONOutputAndItsRefusal(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	run := func(argv ...string) (stdout, stderr string, code int) {
		cmd := command(t, append([]string{binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--json-output", "--headless", "--"}, argv...)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir)
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		cmd.Run() // the status is looked at
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	}
	_, stderr, code := run("printf", `->relay:bob hello\n->relay:bob <<<two\nlines>>>\nother words\n`)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if code != 0 || len(lines) != 2 || !strings.Contains(lines[0], `"body":"hello"`) || !strings.Contains(lines[1], `"body":"two\nlines"`) {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	w, err := term.Start(term.Options{Argv: []string{binary(t), "--name", "alice", "--json-output", "--", "true"}})
	must(t, err)
	defer w.Close()
	if code, err := w.Wait(patience(t, "the refusal")); err != nil || code != 125 || !strings.Contains(string(w.Output()), "2>events.jsonl") {
		t.Errorf("exit %d, %v, %q", code, err, w.Output())
	}
}
