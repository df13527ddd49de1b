package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain is the supervisor in a re-exec, as main is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(supervise(context.Background(), os.Args[2:]))
	}
	os.Exit(m.Run())
}

// bodies are the bodies of a test TestIt, each in a package of its own.
var bodies = map[string]string{
	"passes": ``,
	"fails":  `t.Log("a word before"); t.Fatal("the reason")`,
	"below":  `t.Run("case 7", func(t *testing.T) { t.Error("case 7 is wrong") })`,
	"hangs":  `select {}`,
	"leaves": `exec.Command("sleep", "1000").Start()`,
	"files":  `os.WriteFile(os.TempDir()+"/debris", nil, 0o600)`,
	"late":   `if _, err := os.Stat("seen"); err != nil { os.WriteFile("seen", nil, 0o600); t.Fatal("the answer: not within 1s") }`,
	"unsafe": `if _, err := os.Stat("seen"); err != nil { os.WriteFile("seen", nil, 0o600); t.Fatal("m1 was typed twice: not within 1s") }`,
	"dies":   `os.Exit(3)`,
	"skips":  `t.Skip("no such program")`,
	"broken": `undefined()`,
}

// outcome runs the named packages and returns the exit status and the last
// lines of the log.
func outcome(t *testing.T, packages ...string) (int, string) {
	t.Helper()
	tmp, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(dir, "go.mod"), "module sample\n\ngo 1.26\n")
	for _, p := range packages {
		text := "package sample\n\nimport (\n\"os\"\n\"os/exec\"\n\"testing\"\n)\n\nvar _, _ = os.Args, exec.Command\n\nfunc TestIt(t *testing.T) { " + bodies[p] + " }\n"
		write(filepath.Join(dir, p, "sample_test.go"), text)
	}
	t.Chdir(dir)
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	limit := limits{all: 3 * time.Second}
	var log bytes.Buffer
	r, err := goTest(ctx, limit, []string{"./..."}, &log)
	must(t, err)
	must(t, again(ctx, r, limit, []string{"./..."}, &log))
	code := report(&log, r, 0)
	lines := strings.Split(log.String(), "\n")
	return code, strings.Join(lines[max(0, len(lines)-40):], "\n")
}

func TestReports(t *testing.T) {
	for _, c := range []struct {
		packages string
		code     int
		want     []string
		not      []string
		e2e      string
	}{
		{"passes", 0, []string{"1 passed, 0 failed, 0 skipped"}, []string{"FAILED", "FLAKY"}, ""},
		{"passes fails below", 1, []string{"FAILED: fails TestIt (", "a word before", "the reason", "FAILED: below TestIt/case_7 (", "case 7 is wrong", "1 passed, 2 failed"}, []string{"FAILED: below TestIt (", "again, alone"}, ""},
		{"passes hangs", 1, []string{"HUNG or cut off: hangs TestIt", "panic: test timed out after 3s"}, nil, ""},
		{"passes leaves", 1, []string{"FAILED: leaves (", "left behind: process ", "sleep 1000, begun while there ran: TestIt"}, nil, ""},
		{"passes files", 1, []string{"FAILED: files (", "left behind: file debris in TMPDIR"}, nil, ""},
		{"passes late", 0, []string{"FLAKY late TestIt", "the answer: not within 1s", "2 passed, 0 failed, 0 skipped"}, []string{"FAILED"}, ""},
		{"late fails", 1, []string{"FAILED: late TestIt", "FAILED: fails TestIt"}, []string{"again, alone"}, ""},
		{"passes unsafe", 1, []string{"FAILED: unsafe TestIt", "typed twice"}, []string{"again, alone"}, ""},
		{"passes dies", 1, []string{"dies TestIt"}, nil, ""},
		{"passes skips", 0, []string{"SKIPPED skips TestIt: ", "no such program", "1 passed, 0 failed, 1 skipped"}, nil, ""},
		{"passes skips", 1, []string{"SKIPPED, and RELAY_E2E=require: skips TestIt", "no such program", "1 passed, 1 failed, 1 skipped"}, nil, "require"},
		{"skips", 1, []string{"0 passed, 0 failed, 1 skipped"}, nil, ""},
		{"passes broken", 1, []string{"NOT BUILT", "undefined: undefined"}, nil, ""},
	} {
		t.Run(c.packages, func(t *testing.T) {
			t.Setenv("RELAY_E2E", c.e2e)
			code, end := outcome(t, strings.Fields(c.packages)...)
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(end, want) {
					t.Errorf("%q is not at the end", want)
				}
			}
			for _, not := range c.not {
				if strings.Contains(end, not) {
					t.Errorf("%q is at the end", not)
				}
			}
			if t.Failed() {
				t.Log(end)
			}
		})
	}
}

// TestEndIsShort: however much fails, the end has room for its count.
func TestEndIsShort(t *testing.T) {
	r := &results{index: map[string]*test{}}
	for _, name := range strings.Split(strings.Repeat("x", 60), "") {
		t := r.at("module/p", "Test"+name+string(rune('A'+len(r.tests))))
		t.state, t.lines = "fail", []string{"one", "two", "three", "four", "five"}
	}
	end := r.end(r.failures())
	if len(end) > maxEnd || !strings.Contains(end[len(end)-1], "31 lines more above") {
		t.Errorf("%d lines: %q", len(end), end)
	}
}

func TestLimits(t *testing.T) {
	var l limits
	for _, s := range []string{"4m", "cmd/relay-pty=9m"} {
		must(t, l.Set(s))
	}
	for dir, want := range map[string]time.Duration{"/src/cmd/relay-pty": 9 * time.Minute, "/src/pty": 4 * time.Minute, "/src/cmd/relay-pty/clients": 4 * time.Minute} {
		if got := l.of(dir); got != want {
			t.Errorf("limit of %s is %v, want %v", dir, got, want)
		}
	}
	for _, bad := range []string{"", "0s", "-1m", "pty=", "soon"} {
		if err := l.Set(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestWhoLeftIt: a parallel test that waited for its turn when a process began has not begun it.
func TestWhoLeftIt(t *testing.T) {
	start := time.Now()
	r := &results{index: map[string]*test{}}
	tell := func(second int, action, name string) {
		r.add(event{Time: start.Add(time.Duration(second) * time.Second), Action: action, Package: "p", Test: name})
	}
	for _, name := range []string{"TestOne", "TestTwo"} {
		tell(0, "run", name)
		tell(1, "pause", name)
	}
	tell(2, "run", "TestLeaves")
	tell(4, "pass", "TestLeaves")
	tell(5, "cont", "TestOne")
	tell(6, "pass", "TestOne")
	for second, want := range map[int]string{0: "TestTwo TestOne", 3: "TestLeaves", 5: "TestOne", 7: ""} {
		if got := strings.Join(r.running("p", start.Add(time.Duration(second)*time.Second)), " "); got != want {
			t.Errorf("after %d s there ran %q, want %q", second, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
