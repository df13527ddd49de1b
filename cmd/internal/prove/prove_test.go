package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/figures"
)

// patterns are those of the parts, once compiled.
var patterns = map[string]*regexp.Regexp{}

// selects reports whether a go test command runs a test of a package.
func selects(argv []string, pkg, test string) bool {
	if !slices.ContainsFunc(argv, func(arg string) bool {
		tree, all := strings.CutSuffix(arg, "/...")
		return arg == pkg || all && strings.HasPrefix(pkg, tree+"/")
	}) {
		return false
	}
	matches := func(flag string, absent bool) bool {
		i := slices.Index(argv, flag)
		if i < 0 {
			return absent
		}
		if patterns[argv[i+1]] == nil {
			patterns[argv[i+1]] = regexp.MustCompile(argv[i+1])
		}
		return patterns[argv[i+1]].MatchString(test)
	}
	return matches("-run", true) && !matches("-skip", false)
}

// TestEveryTestIsInAPart: a test on whole programs that no part selects would never run at full
// counts; and a part that selects none shows nothing.
func TestEveryTestIsInAPart(t *testing.T) {
	busy := map[string]bool{}
	for _, pkg := range []string{wrapper, router} {
		files, err := filepath.Glob(filepath.Join("../../..", pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has the tests %v, %v", pkg, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllSubmatch(text, -1) {
				name, found := string(m[1]), false
				for _, p := range parts {
					for _, argv := range p.commands {
						if selects(argv, pkg, name) {
							found, busy[p.name] = true, true
						}
					}
				}
				if !found {
					t.Errorf("no part runs %s of %s", name, pkg)
				}
			}
		}
	}
	for _, p := range parts {
		for _, argv := range p.commands {
			if slices.Contains(argv, "test") && (slices.Contains(argv, wrapper) || slices.Contains(argv, router)) && !busy[p.name] {
				t.Errorf("part %s runs no test", p.name)
			}
		}
	}
}

// TestFigures: what tests report stands in the tables, with the part and the commit that it is of.
func TestFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(figures.EnvFile, "figures")
	figures.Shown(t, "a claim", "%d of %d", 3, 3)
	figures.Held(t, "codex-1", "busy", 2, 2)
	all, err := figures.Read("figures")
	if err != nil || len(all) != 2 {
		t.Fatalf("got %v, %v", all, err)
	}
	for _, r := range []result{{Part: "codex", Commit: "abc", Seconds: 7, Passed: 4, Figures: all}, {Part: "journal", Commit: "def+"}} {
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(measured), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(measured, []byte("head\n"+tableBegins+"old\n"+tableEnds+"foot\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := render(); err != nil {
		t.Fatal(err)
	}
	const table = "| agent | idle | busy | dialog open | draft | urgent |\n|---|---|---|---|---|---|\n| codex-1 |  | 2 of 2 |  |  |  |\n"
	text, err := os.ReadFile(measured)
	if want := "head\n" + tableBegins + table + tableEnds + "foot\n"; err != nil || string(text) != want {
		t.Errorf("%s is %q, %v; want %q", measured, text, err, want)
	}
	text, err = os.ReadFile(evidence)
	for _, want := range []string{table, "## journal\n\nCommit def+, ", "## codex\n\nCommit abc, ", "; 4 tests in 7 s.\n\n| what | shown |\n|---|---|\n| a claim | 3 of 3 |\n"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the evidence has no %q, %v:\n%s", want, err, text)
		}
	}
	if strings.Index(string(text), "## journal") > strings.Index(string(text), "## codex") {
		t.Error("the parts stand in another order than in the list")
	}
	var out bytes.Buffer
	if err := list(&out); err != nil || !strings.Contains(out.String(), "codex        abc, ; 4 tests in 7 s\n") || !strings.Contains(out.String(), "storm        not shown yet\n") {
		t.Errorf("the list is %v\n%s", err, &out)
	}
}

// TestFiguresThatArePrinted: those of benchmarks are read from what they print.
func TestFiguresThatArePrinted(t *testing.T) {
	got, err := throughput([]byte("PASS\nBenchmarkWrite/text-2   \t 300\t 3999 ns/op\t 1029.31 MB/s\t       0 B/op\t       0 allocs/op\n"))
	if want := []figures.Figure{{What: "emulator, a stream of text", Shown: "1029.31 MB/s, 0 allocations"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := throughput([]byte("nothing")); err == nil {
		t.Error("a command that prints no figure passes")
	}
}

// TestAnInterruptedPartLeavesNothing: whoever a command of a part has started ends with it.
func TestAnInterruptedPartLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	pid := 0
	began := make(chan error, 1)
	go func() {
		_, err := fmt.Fscan(out, &pid)
		began <- err
		cancel()
	}()
	err = execute(ctx, []string{"sh", "-c", `sh -c 'echo $$; exec sleep 1000'; exit 1`}, os.Environ(), in)
	in.Close() // the reader ends, had nobody written
	if told := <-began; told != nil || err == nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("the command told %v and ended with %v; is process %d left?", told, err, pid)
	}
}

// TestPassed counts what go test says has passed, but not the packages.
func TestPassed(t *testing.T) {
	var b bytes.Buffer
	for _, e := range []event{{Action: "run", Test: "A"}, {Action: "pass", Test: "A"}, {Action: "pass", Test: "A/b"}, {Action: "fail", Test: "C"}, {Action: "pass"}} {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("not JSON\n")
	if got := passed(b.Bytes()); got != 2 {
		t.Errorf("%d tests passed, want 2", got)
	}
}
