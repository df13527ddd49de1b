package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of what did not build
	Test       string
	Elapsed    float64
	Output     string
}

// maxKept bounds the lines that are kept and shown of one test.
const maxKept = 400

// test is one test, or, without a name, what its package itself said.
type test struct {
	pkg, name  string
	state      string // "run", "waits", "pass", "fail", "skip", or "flaky"
	began, end time.Time
	rests      []rest
	elapsed    time.Duration
	lines      []string
}

// rest is a time in which a parallel test waited for its turn; to is zero while it waits still.
type rest struct{ from, to time.Time }

// ran says whether a test ran at a moment, give or take that much.
func (t *test) ran(at time.Time, give time.Duration) bool {
	early, late := at.Add(-give), at.Add(give)
	if t.began.After(late) || !t.end.IsZero() && t.end.Before(early) {
		return false
	}
	return !slices.ContainsFunc(t.rests, func(r rest) bool {
		return r.from.Before(early) && (r.to.IsZero() || r.to.After(late))
	})
}

func (t *test) keep(out string) {
	if len(t.lines) < maxKept {
		t.lines = append(t.lines, strings.TrimRight(out, "\n"))
	}
}

// results is what a run of go test came to, in the order in which tests began.
type results struct {
	tests []*test
	index map[string]*test
	built []string // what the compiler said
	code  int      // exit status of go test
}

func (r *results) at(pkg, name string) *test {
	key := pkg + " " + name
	t := r.index[key]
	if t == nil {
		t = &test{pkg: pkg, name: name}
		r.index[key] = t
		r.tests = append(r.tests, t)
	}
	return t
}

// add takes an event; it returns true when the event ends a package.
func (r *results) add(e event) bool {
	if strings.HasPrefix(e.Action, "build-") {
		r.built = append(r.built, strings.TrimRight(e.Output, "\n"))
		return false
	}
	t := r.at(e.Package, e.Test)
	switch e.Action {
	case "start", "run":
		t.state, t.began = "run", e.Time
	case "pause":
		t.state = "waits" // for its turn beside others
		t.rests = append(t.rests, rest{from: e.Time})
	case "cont":
		t.state = "run"
		if n := len(t.rests); n > 0 {
			t.rests[n-1].to = e.Time
		}
	case "output":
		t.keep(e.Output)
	case "pass", "fail", "skip":
		t.state, t.end, t.elapsed = e.Action, e.Time, time.Duration(e.Elapsed*float64(time.Second))
		return e.Test == ""
	}
	return false
}

// goTest runs go test with args and follows it; w gets a line a package, and
// all that failed tests said.
func goTest(ctx context.Context, limit limits, args []string, w io.Writer) (*results, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The supervisor ends what takes too long, and says which test it was.
	own := []string{"test", "-json", "-count=1", "-timeout=0", "-exec", exe + " supervise " + limit.String()}
	cmd := exec.CommandContext(ctx, "go", append(own, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &results{index: map[string]*test{}}
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil && e.Action != "" {
			if r.add(e) {
				r.tell(w, e.Package)
			}
		} else if len(line) > 0 {
			w.Write(line) // what go itself says
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		return nil, err
	}
	r.code = cmd.ProcessState.ExitCode()
	return r, nil
}

// tell writes the line of a package that has ended and all that its failed
// tests said.
func (r *results) tell(w io.Writer, pkg string) {
	p := r.at(pkg, "")
	ran := 0
	for _, t := range r.tests {
		if t.pkg != pkg || t.name == "" {
			continue
		}
		ran++
		if t.state == "fail" || t.state == "run" {
			fmt.Fprintln(w, strings.Join(t.lines, "\n"))
		}
	}
	if p.state == "fail" {
		fmt.Fprintln(w, strings.Join(p.lines, "\n"))
	} else if ran == 0 {
		return // it has no tests, or none that were asked for
	}
	fmt.Fprintf(w, "%-4s %-55s %4d tests %7.1fs\n", p.state, short(pkg), ran, p.elapsed.Seconds())
}

// short is an import path without the module's name.
func short(pkg string) string {
	if _, rest, ok := strings.Cut(pkg, "/"); ok {
		return rest
	}
	return pkg
}
