package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxAgain bounds how many tests are tried again: more failures are no noise.
const maxAgain = 3

// unsafe are words of failures that are never tried again: what is lost, typed
// twice or torn once is a defect, however rarely that shows.
var unsafe = regexp.MustCompile(`(?i)DATA RACE|panic:|fatal error:|\b(lost|twice|doubled|mixed|torn)\b`)

// again runs each test that failed because a wait ran out once more, alone;
// those that pass then are flaky. Where anything else failed too, none is.
func again(ctx context.Context, r *results, limit limits, args []string, w io.Writer) error {
	failed := r.failures()
	if len(failed) > maxAgain || len(r.built) > 0 {
		return nil
	}
	for _, t := range failed {
		all := strings.Join(t.lines, "\n")
		if t.state != "fail" || t.name == "" || !strings.Contains(all, "not within") || unsafe.MatchString(all) {
			return nil
		}
	}
	for _, t := range failed {
		fmt.Fprintf(w, "again, alone: %s\n", t.title())
		top, _, _ := strings.Cut(t.name, "/")
		once, err := goTest(ctx, limit, append(options(args), "-run", "^"+top+"$", t.pkg), w)
		if err != nil {
			return err
		}
		if once.code == 0 {
			t.state = "flaky"
		}
	}
	return nil
}

// options are the arguments of go test that choose neither tests nor packages.
func options(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-run" || args[i] == "-skip" || args[i] == "-parallel" || args[i] == "-p":
			i++ // its value
		case strings.HasPrefix(args[i], "-"):
			out = append(out, args[i])
		}
	}
	return out
}
