package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/scriptcmd"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(agents.EnvAgent); name != "" { // a test runs us as an agent
		if own := ownAgents[name]; own != nil {
			os.Exit(own())
		}
		os.Exit(testrig.RunAgent(name))
	}
	testrig.KnownStart()
	testrig.Choose("^TestScripts$/^(usage|send)$")
	code := m.Run()
	if programs.dir != "" {
		os.RemoveAll(programs.dir) // there is nobody to tell
	}
	os.Exit(code)
}

// ownAgents are fake agents of this package's own.
var ownAgents = map[string]func() int{}

// programs are relay and relay-pty, built once.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

// built is the directory that holds them.
func built(t testing.TB) string {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "relay-bin"); programs.err != nil {
			return
		}
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", programs.dir+"/", "..", "../../relay-pty")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			programs.err = errors.New(string(out))
		}
	})
	if programs.err != nil {
		t.Fatalf("build relay and relay-pty: %v", programs.err)
	}
	return programs.dir
}

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// looks is how long a test that waits for what nobody tells it of lets pass until it looks again:
// a look often costs a process, or a walk over all of them. Whoever looks by a command looks more
// and more seldom, up to looksMost, or scripts that wait take the time of those that work.
const (
	looks     = 40 * time.Millisecond
	looksMost = 320 * time.Millisecond
)

// environment is that of one user on a machine of his own.
func environment(dir, bin string) []string {
	return []string{
		"XDG_RUNTIME_DIR=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "HOME=" + dir, "TMPDIR=" + dir,
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
}

// running are the processes of the user at dir whose command lines hold that word.
func running(dir, word string) []int {
	return processes(dir, func(_, line []byte) bool { return bytes.Contains(line, []byte(word)) })
}

// killsRouter ends the router as a crash would, and tells how many ran.
func (u *user) killsRouter() (killed int) {
	for _, pid := range running(u.dir, aRouter) {
		syscall.Kill(pid, syscall.SIGKILL) // gone: it was killed before
		killed++
	}
	return killed
}

// processes are those of the user at dir for which is is true: of an environment and a command
// line, whose parts end with NUL.
func processes(dir string, is func(env, line []byte) bool) (pids []int) {
	return marked("XDG_RUNTIME_DIR="+dir+"\x00", is)
}

// marked are the processes with that in their environment for which is is true.
func marked(mark string, is func(env, line []byte) bool) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is sound
	for _, path := range all {
		env, _ := os.ReadFile(path + "/environ") // gone, or not ours
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || pid == os.Getpid() || !bytes.Contains(env, []byte(mark)) {
			continue
		}
		if line, _ := os.ReadFile(path + "/cmdline"); is(env, line) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// aRouter is a word of a router's command line.
const aRouter = "\x00serve\x00"

// endAll ends what that user runs, a router that nobody waits for included.
func endAll(t testing.TB, dir string) {
	again, late := time.NewTicker(looks), time.After(patience)
	defer again.Stop()
	for left := running(dir, ""); len(left) > 0; left = running(dir, "") {
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL) // gone: well
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("processes %v were killed, and are still there after %v", left, patience)
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	bin := built(t)
	readme, err := filepath.Abs("../../../README.md")
	must(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			dir := testrig.Dir(t)
			for _, v := range environment(dir, bin) {
				name, value, _ := strings.Cut(v, "=")
				env.Setenv(name, value)
			}
			env.Setenv("README", readme)
			env.Defer(func() { endAll(t, dir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": scriptcmd.Exits, "until": until, "killrouter": killRouter, "killwrappers": killWrappers},
	})
}

// until is a script command: until TEXT COMMAND ARG... runs the command until its output holds
// the text.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT COMMAND ARG...")
	}
	late := time.After(patience)
	for pause := looks; ; pause = min(pause*3/2, looksMost) {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && strings.Contains(out, args[0]) {
			return
		}
		select {
		case <-time.After(pause):
		case <-late:
			ts.Fatalf("%q in the output of %s: not within %v, last error %v\n%s", args[0], strings.Join(args[1:], " "), patience, err, out)
		}
	}
}

// killRouter is a script command that kills the router as a crash would.
func killRouter(ts *testscript.TestScript, neg bool, args []string) {
	pids := running(ts.Getenv("XDG_RUNTIME_DIR"), aRouter)
	if len(pids) != 1 || neg || len(args) > 0 {
		ts.Fatalf("the routers are %v", pids)
	}
	ts.Check(syscall.Kill(pids[0], syscall.SIGKILL))
}

// killWrappers is a script command that kills all wrappers.
func killWrappers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: killwrappers")
	}
	for _, pid := range running(ts.Getenv("XDG_RUNTIME_DIR"), "relay-pty\x00--name") {
		ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	}
}
