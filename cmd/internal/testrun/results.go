package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	leftBehind = "left behind: "
	maxAgain   = 3   // failures that run again: more failures are no noise
	maxFailed  = 25  // lines of failures
	maxWidth   = 240 // characters of a line
)

var (
	unsafe = regexp.MustCompile(`(?i)data race|race detected|panic:|fatal error:|\b(lost|twice|doubled|mixed|torn)\b`)
	// frame matches what go test prints of every test, and what tests print for `make prove`.
	frame = regexp.MustCompile(`^\s*(=== |--- |PASS$|FAIL\b|ok\s|exit status|testrun: exit status [12]$|$|\S+_test\.go:\d+: FIGURE )`)
	words = map[string]string{"fail": "FAILED", "run": "HUNG or cut off", "missing": "SKIPPED, and RELAY_E2E=require",
		"skip": "SKIPPED", "flaky": "FLAKY, passed alone"}
)

// test is a test, or, without a name, a package.
type test struct {
	pkg, name, state string
	said             []string
}

// String is a line with the first lines of the test's own output.
func (t *test) String() string {
	said := slices.DeleteFunc(slices.Clone(t.said), frame.MatchString)
	all := fmt.Sprintf("%s: %s %s | %s", words[t.state], t.pkg, t.name, strings.Join(said[:min(4, len(said))], " | "))
	line := []rune(strings.Join(strings.Fields(all), " "))
	return string(line[:min(len(line), maxWidth)])
}

func (t *test) wrong() bool { return t.state == "fail" || t.state == "run" || t.state == "missing" }

// results are tests in the order in which they began.
type results []*test

// read reads the events of `go doc test2json`; a signal may have cut the last event off.
func read(file string) (results, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var r results
	index := map[string]*test{}
	for in := json.NewDecoder(f); ; {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if in.Decode(&e) != nil {
			return r, nil
		}
		built, _, _ := strings.Cut(e.ImportPath, " ") // of what the compiler prints
		pkg := cmp.Or(e.Package, built)
		t := index[pkg+" "+e.Test]
		if t == nil {
			t = &test{pkg: pkg, name: e.Test}
			index[pkg+" "+e.Test] = t
			r = append(r, t)
		}
		switch action := strings.TrimPrefix(e.Action, "build-"); {
		case action == "output" && strings.Contains(e.Output, leftBehind):
			t.said = slices.Insert(t.said, 0, e.Output) // before what a panic prints
		case action == "output":
			t.said = append(t.said, strings.TrimRight(e.Output, "\n"))
		case action == "skip" && e.Test != "" && os.Getenv("RELAY_E2E") == "require":
			t.state = "missing"
		case action == "start" || action == "cont":
			t.state = "run"
		default:
			t.state = action
		}
	}
}

// failures are the failed tests and packages, but for those that failed because of a test below.
func (r results) failures() []*test {
	return slices.DeleteFunc(slices.Clone(r), func(t *test) bool {
		below := slices.ContainsFunc(r, func(s *test) bool {
			inner := strings.HasPrefix(s.name, t.name+"/") || t.name == "" && s.name != ""
			return s.pkg == t.pkg && inner && (s.wrong() || s.state == "flaky")
		})
		left := t.name == "" && strings.Contains(strings.Join(t.said, "\n"), leftBehind)
		return !t.wrong() || below && !left
	})
}

// late are the failures that may be noise: each is a wait that ran out, and nothing is unsafe.
func (r results) late() []*test {
	failed := r.failures()
	for _, t := range r {
		said := strings.Join(t.said, "\n")
		late := t.state == "fail" && t.name != "" && strings.Contains(said, "not within")
		if t.wrong() && unsafe.MatchString(said) || slices.Contains(failed, t) && !late || len(failed) > maxAgain {
			return nil
		}
	}
	return failed
}

func (r results) report(failure error) error {
	count := map[string]int{}
	for _, t := range r {
		if t.name != "" {
			count[t.state]++
		}
		if t.state == "flaky" || t.state == "skip" && t.name != "" {
			fmt.Println(t)
		}
	}
	failed := r.failures()
	for _, t := range failed[:min(len(failed), maxFailed)] {
		fmt.Println(t)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", count["pass"]+count["flaky"], len(failed), count["skip"])
	switch {
	case len(failed) > 0:
		return errors.New("not all tests passed")
	case count["pass"]+count["flaky"] == 0:
		return errors.New("no test passed")
	}
	return failure
}
