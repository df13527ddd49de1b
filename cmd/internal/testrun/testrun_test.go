package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/protocol/counts"
)

// TestMain is the program itself in a re-exec.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "supervise" || os.Args[1] == "sample") {
		main()
		return
	}
	os.Exit(m.Run())
}

// bodies are the bodies of a test TestIt, each in a package of its own.
var bodies = map[string]string{
	"passes": ``,
	"fails":  `t.Log("a word before"); t.Fatal("the reason")`,
	"below":  `t.Run("case 7", func(t *testing.T) { t.Error("case 7 is wrong") })`,
	"hangs":  `t.Log(strings.Repeat("many lines\n", 500)); select {}`,
	"leaves": `exec.Command("sleep", "1000").Start()`,
	"files":  `os.WriteFile(os.TempDir()+"/debris", nil, 0o600)`,
	"late":   `if _, err := os.Stat("seen"); err != nil { os.WriteFile("seen", nil, 0o600); t.Fatal("the answer: not within 1s") }`,
	"slow":   `t.Fatal("the answer: not within 1s")`,
	"unsafe": `if _, err := os.Stat("seen"); err != nil { os.WriteFile("seen", nil, 0o600); t.Fatal("m1 was typed twice: not within 1s") }`,
	"dies":   `os.Exit(3)`,
	"panics": `exec.Command("sleep", "1000").Start(); panic("a bug")`,
	"skips":  `t.Skip("no such program")`,
	"broken": `undefined()`,
	"stays":  `f, _ := os.OpenFile("pipe", os.O_WRONLY, 0); c := exec.Command("sleep", "1000"); c.Stdout = f; c.Run()`,
	"many":   `for n := range 200 { t.Run(strconv.Itoa(n), func(t *testing.T) { t.Error("not within 1s") }) }`,
}

// sample is the program, about to run the named packages in a module of their own.
func sample(t *testing.T, packages []string, flags ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN with -short: gotestsum may not be there yet")
	}
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(dir, "go.mod"), "module sample\n\ngo 1.26\n")
	for _, p := range packages {
		text := "package sample\n\nimport (\n\"os\"\n\"os/exec\"\n\"strconv\"\n\"strings\"\n\"testing\"\n)\n\n" +
			"var _, _, _, _ = os.Args, exec.Command, strconv.Itoa, strings.Repeat\n\nfunc TestIt(t *testing.T) { " + bodies[p] + " }\n"
		write(filepath.Join(dir, p, "sample_test.go"), text)
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, append([]string{"sample", "./..."}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+tmpdir(cmd), "RELAY_E2E=", "RELAY_TEST_JSON="+dir)
	must(t, os.Mkdir(tmpdir(cmd), 0o700))
	return cmd
}

// ends runs a sample, and checks its exit status and what the end of its log has.
func ends(t *testing.T, cmd *exec.Cmd, code int, want ...string) (log string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit status %d (%v), want %d", got, err, code)
	}
	lines := strings.Split(string(out), "\n")
	end := strings.Join(lines[max(0, len(lines)-40):], "\n")
	for _, w := range want {
		if !strings.Contains(end, w) {
			t.Errorf("%q is not at the end", w)
		}
	}
	if t.Failed() {
		t.Log(end)
	}
	return string(out)
}

// TestReports: the end of a log tells what went wrong, and what ran again. `make test` tries what
// may pass; TestNoiseRunsAgainAlone has the ways to fail.
func TestReports(t *testing.T) {
	for i, c := range []struct {
		packages string
		code     int
		want     []string
		not      string
		e2e      string
	}{
		{"passes late skips", 0, []string{"\n2 passed, 0 failed, 1 skipped\n", "slowest:\nsample/", "FLAKY, passed alone: sample/late TestIt | ",
			"not within 1s", "SKIPPED: sample/skips TestIt | ", "no such program"}, "FAILED", ""},
		{"passes slow", 1, []string{"again, alone: sample/slow TestIt", "FAILED: sample/slow TestIt | "}, "FLAKY", ""},
		{"passes skips", 1, []string{"SKIPPED, and RELAY_E2E=require: sample/skips TestIt", "\n1 passed, 1 failed"}, "again", "require"},
		{"skips", 1, []string{"\n0 passed, 0 failed, 1 skipped\n"}, "again", ""},
		{"many", 1, []string{"slowest:", "FAILED: sample/many TestIt/0 | ", "\n0 passed, 200 failed, 0 skipped\n"}, "again, alone", ""},
	} {
		if i >= counts.Runs(1, 5) {
			break
		}
		t.Run(c.packages, func(t *testing.T) {
			t.Parallel()
			cmd := sample(t, strings.Fields(c.packages), "-timeout=5s")
			cmd.Env = append(cmd.Env, "RELAY_E2E="+c.e2e)
			if log := ends(t, cmd, c.code, c.want...); strings.Contains(log, c.not) {
				t.Errorf("%q is in the log", c.not)
			}
		})
	}
}

// TestNoiseRunsAgainAlone: of the ways to fail only a wait that ran out may be noise, and beside
// any other it is none. All ways are run at once; then each is looked at beside the one.
func TestNoiseRunsAgainAlone(t *testing.T) {
	t.Parallel()
	told := map[string][]string{
		"fails":  {"FAILED: sample/fails TestIt | ", "a word before | ", "the reason"},
		"below":  {"FAILED: sample/below TestIt/case_7 | ", "case 7 is wrong"},
		"hangs":  {"HUNG or cut off: sample/hangs TestIt | "},
		"leaves": {"FAILED: sample/leaves | ", "left behind: process ", " sleep 1000"},
		"files":  {"FAILED: sample/files | ", "left behind: debris in TMPDIR"},
		"unsafe": {"FAILED: sample/unsafe TestIt", "typed twice"},
		"dies":   {"HUNG or cut off: sample/dies TestIt | testrun: exit status 3"},
		"panics": {"left behind: process ", " sleep 1000 | panic: a bug"},
		"broken": {"FAILED: sample/broken | ", "undefined: undefined"},
	}
	kinds := slices.Sorted(maps.Keys(told))
	cmd := sample(t, append(kinds, "passes", "late"), "-timeout=5s")
	log := ends(t, cmd, 1, slices.Concat(slices.Collect(maps.Values(told))...)...)
	for _, not := range []string{"again, alone", "FAILED: sample/below TestIt |"} {
		if strings.Contains(log, not) {
			t.Errorf("%q is in the log", not)
		}
	}
	all, err := read(filepath.Join(cmd.Dir, "sample.json"))
	must(t, err)
	only := func(packages ...string) results {
		return slices.DeleteFunc(slices.Clone(all), func(r *test) bool { return !slices.Contains(packages, strings.TrimPrefix(r.pkg, "sample/")) })
	}
	if failed := only("passes").failures(); len(failed) > 0 {
		t.Errorf("%v has failed", failed)
	}
	if again := only("passes", "late").late(); len(again) != 1 || again[0].pkg != "sample/late" {
		t.Errorf("the wait that ran out: %v would run again", again)
	}
	for _, kind := range kinds {
		if again := only("late", kind).late(); len(again) > 0 {
			t.Errorf("beside %s, %v would run again", kind, again)
		}
		if r := only("passes", kind); len(r.failures()) != 1 || len(r.late()) > 0 {
			t.Errorf("%s: %v failed, %v would run again", kind, r.failures(), r.late())
		}
	}
}

// TestSignalEndsAll: a signal ends the tests and what they started, even when only the runner's
// parent gets the signal, as with go run.
func TestSignalEndsAll(t *testing.T) {
	for name, parent := range map[string][]string{"the runner": nil, "its parent": {"sh", "-c", `"$0" "$@"; exit`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := sample(t, []string{"stays"}, "-timeout=3m")
			if parent != nil {
				if runtime.GOOS != "linux" {
					t.Skip("NOT RUN: only Linux tells a process that its parent has ended")
				}
				sh := exec.CommandContext(t.Context(), parent[0], append(parent[1:], cmd.Args...)...)
				sh.Dir, sh.Env = cmd.Dir, cmd.Env
				cmd = sh
			}
			var log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &log, &log // Wait waits until nobody holds its pipe
			pipe := filepath.Join(cmd.Dir, "stays", "pipe")
			must(t, syscall.Mkfifo(pipe, 0o600))
			must(t, cmd.Start())
			opened := make(chan *os.File, 1)
			go func() {
				f, _ := os.Open(pipe) // nil is seen below
				opened <- f
			}()
			select {
			case held := <-opened:
				defer held.Close() // only read
				must(t, held.SetReadDeadline(time.Now().Add(time.Minute)))
				must(t, cmd.Process.Signal(syscall.SIGTERM))
				_, err := io.ReadAll(held)
				must(t, err) // a deadline: the test or its sleep still runs
			case <-time.After(2 * time.Minute):
				t.Fatal("the sample's test runs: not within 2m0s")
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the run has passed")
			}
			left, err := os.ReadDir(tmpdir(cmd))
			must(t, err)
			if parent == nil && !strings.Contains(log.String(), "HUNG or cut off: sample/stays ") || len(left) > 0 {
				t.Errorf("left %v, printed %s", left, &log)
			}
		})
	}
}

// tmpdir is the TMPDIR of a sample.
func tmpdir(cmd *exec.Cmd) string { return filepath.Join(cmd.Dir, "tmp") }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
