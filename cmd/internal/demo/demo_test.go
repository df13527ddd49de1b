package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/claude"
)

// built is the demo and the wrapper in a directory of their own.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir) // in the system's place for what may be lost
	}
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// process is one start of the demo.
type process struct {
	*exec.Cmd
	t        *testing.T
	tmp      string // its TMPDIR
	bin      string // where the wrapper is
	out, err bytes.Buffer
	lines    chan struct{} // closed when out holds until
	until    string
}

func (p *process) Write(b []byte) (int, error) {
	before := strings.Contains(p.out.String(), p.until)
	p.out.Write(b)
	if !before && strings.Contains(p.out.String(), p.until) {
		close(p.lines)
	}
	return len(b), nil
}

// start starts the demo with env added; its channel lines tells when it printed until.
func start(t *testing.T, until string, env ...string) *process {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "rd"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", built.dir, ".", "../../relay-pty")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	must(t, built.err)
	p := &process{t: t, bin: t.TempDir(), lines: make(chan struct{}), until: until}
	var err error
	p.tmp, err = os.MkdirTemp("", "rd") // a short name, for a socket is in it
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(p.tmp) })
	wrapper := filepath.Join(p.bin, "relay-pty")
	must(t, os.Symlink(filepath.Join(built.dir, "relay-pty"), wrapper))
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	p.Cmd = exec.CommandContext(ctx, filepath.Join(built.dir, "demo"), wrapper, "../../../.ci/agents")
	p.Env = append(append(os.Environ(), envDemo+"=", "TMPDIR="+p.tmp), env...)
	p.Stdout, p.Stderr = p, &p.err
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, p.Start())
	return p
}

// ends waits for the end with that status, and checks that nothing is left.
func (p *process) ends(status int) {
	p.t.Helper()
	if err := p.Wait(); p.ProcessState.ExitCode() != status {
		log, _ := os.ReadFile(filepath.Join(p.bin, "demo.log"))
		p.t.Fatalf("ended with %v, want status %d\n%s%s\n%s", err, status, &p.out, &p.err, log)
	}
	left, err := os.ReadDir(p.tmp)
	must(p.t, err)
	if len(left) > 0 {
		p.t.Errorf("left %v in TMPDIR", left)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.After(10 * time.Second)
	for pids := p.others(); len(pids) > 0; pids = p.others() {
		select {
		case <-again.C:
		case <-limit:
			p.t.Fatalf("left processes %v", pids)
		}
	}
}

// others are the processes that have the demo's TMPDIR in their environment or
// their arguments; none are found where there is no /proc.
func (p *process) others() []string {
	var pids []string
	for _, name := range []string{"environ", "cmdline"} {
		paths, err := filepath.Glob("/proc/[0-9]*/" + name)
		must(p.t, err)
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err == nil && bytes.Contains(b, []byte(p.tmp+"/")) {
				pids = append(pids, filepath.Base(filepath.Dir(path)))
			}
		}
	}
	return pids
}

// shows checks that the demo printed each of texts, in that order.
func (p *process) shows(texts ...string) {
	p.t.Helper()
	rest := p.out.String() + p.err.String()
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			p.t.Fatalf("%q is missing, or in another place, in\n%s%s", text, &p.out, &p.err)
		}
		rest = after
	}
}

func (p *process) fits() {
	p.t.Helper()
	lines := strings.Split(strings.TrimSuffix(p.out.String(), "\n"), "\n")
	if len(lines) > 30 {
		p.t.Errorf("%d lines, want at most 30", len(lines))
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			p.t.Errorf("%d columns, want at most 80: %s", n, line)
		}
	}
}

var story = []string{
	"sends m1", "m1 delivered", "answers m1", "sends m2", "sends m3", "for: draft", "for: dialog",
	"m2, m3 delivered", "answers m2", "answers m3", "Shown: 3 messages",
}

func TestBuiltInAgent(t *testing.T) {
	t.Parallel()
	p := start(t, "Shown", "RELAY_DEMO=builtin")
	p.ends(0)
	p.shows(append([]string{"RELAY_DEMO=builtin", "built-in agent"}, story...)...)
	p.fits()
}

func TestRealClaude(t *testing.T) {
	t.Parallel()
	_, err := claude.Find()
	testrig.Require(t, "claude", err)
	p := start(t, "Shown")
	p.ends(0)
	p.shows(append([]string{"the real Claude Code " + claude.Version}, story...)...)
	p.shows("as one turn", "Shown")
	p.fits()
}

func TestBrokenAgentTellsTheWayOut(t *testing.T) {
	t.Parallel()
	p := start(t, "Shown", "RELAY_CLAUDE="+lookPath(t, "false"))
	p.ends(1)
	p.shows("Claude Code ended by itself, with status 1", filepath.Join(p.bin, "demo.log"), "RELAY_DEMO=builtin make demo")
	log, err := os.ReadFile(filepath.Join(p.bin, "demo.log"))
	if err != nil || !bytes.Contains(log, []byte("== the wrapper's log")) {
		t.Errorf("the log holds %q, %v", log, err)
	}
}

func TestUnknownChoiceIsRefused(t *testing.T) {
	t.Parallel()
	p := start(t, "Shown", "RELAY_DEMO=codex")
	p.ends(1)
	p.shows(`RELAY_DEMO is "codex", want "builtin" or nothing`)
}

func TestSignalLeavesNothing(t *testing.T) {
	t.Parallel()
	for sig, at := range map[syscall.Signal]string{
		syscall.SIGTERM: "for: draft", syscall.SIGINT: "keyboard",
	} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := start(t, at, "RELAY_DEMO=builtin")
			select {
			case <-p.lines:
			case <-t.Context().Done():
				t.Fatal("the test is over")
			case <-time.After(30 * time.Second):
				t.Errorf("%q was not printed", at)
			}
			must(t, syscall.Kill(-p.Process.Pid, sig)) // all of the job, as ^C does
			p.ends(128 + int(sig))
			p.shows("ended by a signal")
			if n := strings.Count(p.err.String(), "demo:"); n != 1 {
				t.Errorf("%d lines of the demo on stderr, want one:\n%s", n, &p.err)
			}
		})
	}
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	must(t, err)
	return path
}

// A wrapper that tells of the first answer alone, as when a model answers one
// message of a turn, must not pass.
func TestEachAnswerIsAwaited(t *testing.T) {
	t.Parallel()
	command := func(id, body string) string {
		return fmt.Sprintf(`{"type":"relay_command","to":"bob","reply_to":%q,"body":%q,"source":"log"}`+"\n", id, body)
	}
	good := command("m2", answer(hostile[0]))
	blanks := strings.ReplaceAll(answer(hostile[1]), "  ", " ")
	failed := `{"type":"inject_result","id":"m3","status":"failed"}`
	for name, c := range map[string]struct{ lines, want string }{
		"one of two": {good, "the answer to m3"},
		"both":       {good + command("m3", answer(hostile[1])), "<nil>"},
		"not exact":  {good + command("m3", blanks), "not what the agent said"},
		"failed":     {good + failed + "\n", `"status":"failed"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "rd")
			must(t, err)
			defer os.RemoveAll(dir)
			ln, err := net.Listen("unix", filepath.Join(dir, "s"))
			must(t, err)
			defer ln.Close()
			go func() {
				if conn, err := ln.Accept(); err == nil {
					fmt.Fprint(conn, c.lines)
					conn.Close() // all was said
				}
			}()
			client, err := testrig.Dial(t.Context(), ln.Addr().String())
			must(t, err)
			defer client.Close()
			cast := &agentCast{source: "log"}
			s := &stage{agentCast: cast, ctx: t.Context(), out: t.Output(), client: client}
			got := fmt.Sprint(s.answers(hostile...))
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %q", got, c.want)
			}
		})
	}
}

func TestEveryMessageOfATurnIsAnswered(t *testing.T) {
	t.Parallel()
	turn := "[relay m2 from bob] /clear\n[end m2 · reply: ->relay:bob [re=m2] <<<…>>>]\n\n" +
		"[relay m3 from bob@host · redelivery] two\nlines\n[end m3 · reply: ->relay:bob [re=m3] <<<…>>>]"
	want := []string{
		"->relay:bob [re=m2] <<<I read  `/clear`  as *text*>>>",
		"->relay:bob@host [re=m3] <<<I read  `two\nlines`  as *text*>>>",
	}
	reply := strings.Join(respond(fakemodel.Turn{Text: []string{turn}}).Deltas, "")
	if got := strings.Join(want, "\n"); reply != got {
		t.Errorf("the fake model says\n%s\nwant\n%s", reply, got)
	}
	var out bytes.Buffer
	must(t, agent(strings.NewReader(turn+"\n"), &out))
	if got := agentPrompt + want[0] + "\n" + agentPrompt + want[1] + "\n" + agentPrompt; out.String() != got {
		t.Errorf("the built-in agent says\n%s\nwant\n%s", &out, got)
	}
}
