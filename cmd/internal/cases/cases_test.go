// Package cases holds testdata/cases.md against the tests that it names.
package cases

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relay-pty/protocol/failpoint"
)

// found is a test by which testdata/cases.md says that something is found.
type found struct{ pkg, test string }

var (
	testCell  = regexp.MustCompile("`([a-z0-9/-]+)` (Test\\w+)(?:/(\\w+))?")
	pointCell = regexp.MustCompile("^`([a-z-]+)`: ")
	pointName = regexp.MustCompile(`(?m)^\t(\w+) Name = "([a-z-]+)"$`)
)

// cases reads testdata/cases.md: the tests of each row, by the row's first cell.
func cases(t *testing.T) map[string][]found {
	t.Helper()
	t.Chdir("../../..")
	all := map[string][]found{}
	for line := range strings.Lines(string(read(t, "testdata/cases.md"))) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "| what went wrong" {
			continue
		}
		what := strings.TrimPrefix(cells[0], "| ")
		if len(cells) != 3 || len(all[what]) > 0 {
			t.Errorf("cases.md has no three cells, or twice, in the row %q", what)
			continue
		}
		for _, m := range testCell.FindAllStringSubmatch(cells[1], -1) {
			all[what] = append(all[what], found{m[1], m[2]})
			if _, err := os.Stat(filepath.Join(m[1], "testdata/script", m[3]+".txtar")); m[3] != "" && err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if len(all[what]) == 0 {
			t.Errorf("%s: no test is named", what)
		}
	}
	return all
}

// TestCasesHaveTheirTests: each test that testdata/cases.md names is there.
func TestCasesHaveTheirTests(t *testing.T) {
	all := cases(t)
	for what, tests := range all {
		for _, f := range tests {
			files, _ := filepath.Glob(filepath.Join(f.pkg, "*_test.go")) // the pattern is well formed
			if !slices.ContainsFunc(files, func(file string) bool {
				return strings.Contains(string(read(t, file)), "\nfunc "+f.test+"(t *testing.T)")
			}) {
				t.Errorf("%s: %s has no %s", what, f.pkg, f.test)
			}
		}
	}
	if len(all) < 100 {
		t.Errorf("cases.md has %d cases: the test does not read them", len(all))
	}
}

// TestFailpointsAreInUse: each failpoint breaks something, and testdata/cases.md has its test.
func TestFailpointsAreInUse(t *testing.T) {
	points := map[failpoint.Name]bool{}
	for what := range cases(t) {
		if m := pointCell.FindStringSubmatch(what); m != nil {
			points[failpoint.Name(m[1])] = true
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var product strings.Builder
	for path := range strings.FieldsSeq(string(out)) {
		product.Write(read(t, path))
	}
	declared := pointName.FindAllStringSubmatch(string(read(t, "protocol/failpoint/failpoint.go")), -1)
	for _, m := range declared {
		if !strings.Contains(product.String(), "failpoint.On(failpoint."+m[1]+")") {
			t.Errorf("%s breaks nothing", m[1])
		}
		if !points[failpoint.Name(m[2])] {
			t.Errorf("cases.md has no test for %s", m[2])
		}
	}
	if len(points) != len(declared) || len(declared) == 0 {
		t.Errorf("cases.md has %d failpoints, of %d", len(points), len(declared))
	}
}

// TestFailpointsAreFound: the test that testdata/cases.md names for a failpoint passes, and fails
// where the failpoint is on. Tests on whole programs switch their failpoints on themselves.
func TestFailpointsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN with -short: builds the tests of seven packages")
	}
	byTest := map[found][]string{}
	for what, tests := range cases(t) {
		if m := pointCell.FindStringSubmatch(what); m != nil && !strings.HasSuffix(tests[0].pkg, "/e2e") {
			byTest[tests[0]] = append(byTest[tests[0]], m[1])
		}
	}
	dir := t.TempDir()
	argv := []string{"test", "-c", "-tags=failpoint", "-trimpath", "-ldflags=-s -w", "-o", dir + "/"}
	for f := range byTest {
		argv = append(argv, "./"+f.pkg)
	}
	if out, err := exec.CommandContext(t.Context(), "go", argv...).CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	for f, points := range byTest {
		t.Run(f.test, func(t *testing.T) {
			t.Parallel()
			if out, err := f.run(t, dir, ""); err != nil || !strings.Contains(out, "--- PASS: "+f.test) {
				t.Errorf("fails without a failpoint: %v\n%s", err, out)
			}
			for _, point := range points {
				t.Run(point, func(t *testing.T) {
					t.Parallel() // some wait for what does not come
					if out, err := f.run(t, dir, point); err == nil || !strings.Contains(out, "--- FAIL: "+f.test) {
						t.Errorf("is not found: %v\n%s", err, out)
					}
				})
			}
		})
	}
}

// run runs the test with a failpoint on, or with none.
func (f found) run(t *testing.T, dir, point string) (out string, err error) {
	bin := filepath.Join(dir, filepath.Base(f.pkg)+".test")
	cmd := exec.CommandContext(t.Context(), bin, "-test.v", "-test.run=^"+f.test+"$", "-test.timeout=1m")
	cmd.Dir, cmd.Env = f.pkg, append(os.Environ(), "RELAY_FAILPOINT="+point)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
