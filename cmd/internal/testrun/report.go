package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxEnd   = 30  // lines at the end that name what failed
	maxGist  = 4   // of them for what one test said
	maxWidth = 160 // columns of each
)

// wrong reports whether t failed, or hung, or was skipped where nothing may be missing.
func wrong(t *test) bool {
	return t.state == "fail" || t.state == "run" || t.state == "skip" && t.name != "" && required()
}

// required says that a test that cannot run has failed.
func required() bool { return os.Getenv("RELAY_E2E") == "require" }

// failures are the tests that failed or did not end, without those that did so
// only because a subtest did, and the packages that failed without a test.
func (r *results) failures() []*test {
	var out []*test
	blamed := map[string]bool{} // packages with a failed test
	for _, t := range r.tests {
		if t.name != "" && (wrong(t) || t.state == "flaky") {
			blamed[t.pkg] = true
			if wrong(t) && !r.below(t) {
				out = append(out, t)
			}
		}
	}
	for _, t := range r.tests {
		if t.name == "" && wrong(t) && (!blamed[t.pkg] || len(leavings(t)) > 0) {
			out = append(out, t)
		}
	}
	return out
}

// below reports whether a subtest of t failed.
func (r *results) below(t *test) bool {
	return slices.ContainsFunc(r.tests, func(s *test) bool {
		return s.pkg == t.pkg && strings.HasPrefix(s.name, t.name+"/") && (wrong(s) || s.state == "flaky")
	})
}

// report writes how it ended, with what failed last, and returns the exit
// status.
func report(w io.Writer, r *results, took time.Duration) int {
	count := map[string]int{}
	for _, t := range r.tests {
		if t.name == "" {
			continue
		}
		count[t.state]++
		switch {
		case t.state == "skip" && !required():
			fmt.Fprintln(w, clip("SKIPPED "+t.title()+": "+strings.Join(gist(t), " ")))
		case t.state == "flaky":
			fmt.Fprintln(w, clip("FLAKY "+t.title()+": failed, and passed alone: "+strings.Join(gist(t), " ")))
		}
	}
	fmt.Fprintln(w, "slowest:", strings.Join(r.slowest(5), ", "))
	failed := r.failures()
	for _, line := range r.end(failed) {
		fmt.Fprintln(w, clip(line))
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", count["pass"]+count["flaky"], len(failed), count["skip"])
	fmt.Fprintf(w, "testrun: %.0f s, %d flaky\n", took.Seconds(), count["flaky"])
	unexplained := r.code != 0 && count["flaky"] == 0
	if len(failed) > 0 || len(r.built) > 0 || unexplained || count["pass"] == 0 {
		return 1
	}
	return 0
}

// end is what failed: each test with the first lines that it said, or, where
// these are too many, with fewer.
func (r *results) end(failed []*test) []string {
	var out []string
	if len(r.built) > 0 {
		out = append(append(out, "NOT BUILT:"), r.built[:min(len(r.built), maxEnd/2)]...)
	}
	for lines := maxGist; lines >= 0; lines-- {
		end := out
		for _, t := range failed {
			end = append(end, r.headline(t))
			end = append(end, head(gist(t), lines)...)
			end = append(end, r.left(t)...)
		}
		if len(end) <= maxEnd || lines == 0 {
			return head(end, maxEnd)
		}
	}
	return out
}

// head is the first n of lines, with a word on what is left out of more.
func head(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	if n == 0 {
		return nil
	}
	return append(slices.Clone(lines[:n-1]), fmt.Sprintf("    … and %d lines more above", len(lines)-n+1))
}

func (t *test) title() string { return strings.TrimSpace(short(t.pkg) + " " + t.name) }

func (r *results) headline(t *test) string {
	switch t.state {
	case "run":
		return "HUNG or cut off: " + t.title()
	case "skip":
		return "SKIPPED, and RELAY_E2E=require: " + t.title()
	}
	return fmt.Sprintf("FAILED: %s (%.1f s)", t.title(), t.elapsed.Seconds())
}

// noise is what go test and our helpers print of every test.
var noise = regexp.MustCompile(`^\s*(=== |--- |PASS$|FAIL\b|ok\s|exit status|coverage:|$)|^\s*\S+_test\.go:\d+: (EVIDENCE|CELL) `)

// gist is the first lines of what a test itself said.
func gist(t *test) []string {
	var out []string
	for _, l := range t.lines {
		if len(out) == maxGist {
			break
		}
		if !noise.MatchString(l) && !strings.HasPrefix(l, leftBehind) {
			out = append(out, "    "+strings.TrimSpace(l))
		}
	}
	return out
}

// clip bounds a line, in characters.
func clip(s string) string {
	if r := []rune(s); len(r) > maxWidth {
		return string(r[:maxWidth-1]) + "…"
	}
	return s
}

// slowest names the n tests that took longest.
func (r *results) slowest(n int) []string {
	all := slices.DeleteFunc(slices.Clone(r.tests), func(t *test) bool {
		return t.name == "" || strings.Contains(t.name, "/")
	})
	slices.SortStableFunc(all, func(a, b *test) int { return cmp.Compare(b.elapsed, a.elapsed) })
	var out []string
	for _, t := range all[:min(n, len(all))] {
		out = append(out, fmt.Sprintf("%s %.0f s", t.name, t.elapsed.Seconds()))
	}
	return out
}
