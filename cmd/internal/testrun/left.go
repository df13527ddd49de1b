package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// leftBehind begins a line by which the supervisor tells of what a package
// left behind: a process with its start, or a file.
const leftBehind = "testrun: left behind: "

// leaving is a process or file that was there when its package had ended.
type leaving struct {
	what    string
	started time.Time // zero for a file
}

func (l leaving) String() string {
	started := "-"
	if !l.started.IsZero() {
		started = l.started.UTC().Format(time.RFC3339Nano)
	}
	return leftBehind + started + " " + l.what
}

// leavings are those that the supervisor told of a package.
func leavings(pkg *test) []leaving {
	var out []leaving
	for _, line := range pkg.lines {
		rest, ok := strings.CutPrefix(line, leftBehind)
		started, what, _ := strings.Cut(rest, " ")
		if !ok {
			continue
		}
		at, _ := time.Parse(time.RFC3339Nano, started) // zero for a file
		out = append(out, leaving{what, at})
	}
	return out
}

// left says of what a package left behind which tests may have done so: those
// that ran when a process began.
func (r *results) left(pkg *test) []string {
	var out []string
	for _, l := range leavings(pkg) {
		by := ""
		if !l.started.IsZero() {
			by = ", begun while there ran: " + strings.Join(r.running(pkg.pkg, l.started), ", ")
		}
		out = append(out, fmt.Sprintf("    left behind: %s%s", l.what, by))
	}
	return out
}

// running are the tests of a package that ran at a moment, give or take what the kernel's clock of
// processes leaves open: the one that began last comes first, for it is the likeliest.
func (r *results) running(pkg string, at time.Time) []string {
	const tick = 20 * time.Millisecond
	var out []string
	for _, t := range r.tests {
		if t.pkg == pkg && t.name != "" && !strings.Contains(t.name, "/") && t.ran(at, tick) {
			out = append(out, t.name)
		}
	}
	slices.Reverse(out)
	return out
}
