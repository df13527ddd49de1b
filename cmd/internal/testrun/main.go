// Command testrun runs `go test` and tells what came of it so that the end of
// a log is enough: its last lines name each failed test with the first lines
// of what that test said, each test that hung, and each process or file that a
// package left behind. What failed only because a wait ran out is tried once
// more, alone, and reported as flaky when it passes then.
//
//	testrun [-limit 4m] [-limit cmd/relay-pty=8m]... -- ARGUMENTS OF go test
//
// Each package runs under a supervisor (the same program, as go test's -exec)
// with a TMPDIR of its own that must be empty at the end.
//
// Every wait of a test has a deadline, and says "not within" and what did not come: that is how a
// wait that ran out is told from all else. What was lost, doubled, mixed or torn, a panic or a race
// is never tried again. Tests assert what noise cannot move: counts, hashes, order, states,
// allocations, coarse bounds of memory; times, rates and wake-ups are asserted in `make prove`,
// where nothing runs beside.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(supervise(ctx, os.Args[2:]))
	}
	os.Exit(run(ctx, os.Args[1:]))
}

// limits are how long packages may take: one for all, and others for packages
// whose import path ends as named.
type limits struct {
	all   time.Duration
	named map[string]time.Duration
}

// Set takes "4m", or "cmd/relay-pty=8m".
func (l *limits) Set(s string) error {
	name, value, named := strings.Cut(s, "=")
	if !named {
		name, value = "", s
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration above 0", value)
	}
	if !named {
		l.all = d
		return nil
	}
	if l.named == nil {
		l.named = map[string]time.Duration{}
	}
	l.named[name] = d
	return nil
}

// String is the list of Set's arguments, in one word.
func (l *limits) String() string {
	out := []string{l.all.String()}
	for name, d := range l.named {
		out = append(out, name+"="+d.String())
	}
	return strings.Join(out, ",")
}

// of is the limit of a package in the directory dir.
func (l *limits) of(dir string) time.Duration {
	for name, d := range l.named {
		if dir == name || strings.HasSuffix(dir, "/"+name) {
			return d
		}
	}
	return l.all
}

func run(ctx context.Context, argv []string) int {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	limit := limits{all: 4 * time.Minute}
	flags.Var(&limit, "limit", "how long a package may take, or PACKAGE=how long; repeatable")
	if err := flags.Parse(argv); err != nil {
		return 2
	}
	began := time.Now()
	r, err := goTest(ctx, limit, flags.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		return 1
	}
	if err := again(ctx, r, limit, flags.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		return 1
	}
	return report(os.Stdout, r, time.Since(began))
}
