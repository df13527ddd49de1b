package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/figures"
)

// dir holds a file for each part that was shown.
const dir = "testdata/prove"

// result is such a file.
type result struct {
	Part    string           `json:"part"`
	Commit  string           `json:"commit"` // with a + where the tree had changes
	Date    string           `json:"date"`   // of the run, as 2026-11-27
	Machine string           `json:"machine"`
	Seconds int              `json:"seconds"`
	Passed  int              `json:"passed"` // tests, subtests included
	Figures []figures.Figure `json:"figures"`
}

// prove runs a part and writes its file; a part that fails leaves the file as it was, and the log
// of its run.
func (p part) prove(ctx context.Context) error {
	commit, err := commit()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "prove-"+p.name)
	if err != nil {
		return err
	}
	began, logPath := time.Now(), filepath.Join(scratch, "log")
	fmt.Printf("prove: %s at %s, log %s\n", p.name, commit, logPath)
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()
	file := filepath.Join(scratch, "figures")
	for _, argv := range p.commands {
		env := append(append(os.Environ(), p.env...), "RELAY_PROVE=1", "RELAY_E2E=require", figures.EnvFile+"="+file)
		if err := execute(ctx, argv, env, log); err != nil {
			tail(os.Stderr, logPath)
			return fmt.Errorf("%s: %w; all that was printed is in %s", strings.Join(argv, " "), err, logPath)
		}
	}
	text, err := os.ReadFile(logPath)
	if err != nil {
		return err
	}
	r := result{
		Part: p.name, Commit: commit, Date: began.UTC().Format(time.DateOnly), Machine: machine(),
		Seconds: int(time.Since(began).Seconds()), Passed: passed(text),
	}
	if r.Figures, err = figures.Read(file); err != nil {
		return err
	}
	for _, in := range p.reads {
		found, err := in.find(text)
		if err != nil {
			return err
		}
		r.Figures = append(r.Figures, found...)
	}
	r.Figures = append(r.Figures, p.shows...)
	fmt.Printf("prove: %s: %d tests passed in %d s, %d figures\n", p.name, r.Passed, r.Seconds, len(r.Figures))
	if err := r.write(); err != nil {
		return err
	}
	return os.RemoveAll(scratch)
}

// execute runs a command of a part. The end of ctx interrupts all that it has started: go test
// leaves the tests to whoever signals it.
func execute(ctx context.Context, argv, env []string, log *os.File) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	return cmd.Run()
}

func (r result) write() error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Part+".json"), b.Bytes(), 0o644)
}

// find expands what the pattern finds; a pattern that finds nothing is an error, for then the
// commands print something else.
func (in reading) find(text []byte) (all []figures.Figure, err error) {
	re, err := regexp.Compile(in.pattern)
	if err != nil {
		return nil, err
	}
	for _, at := range re.FindAllSubmatchIndex(text, -1) {
		all = append(all, figures.Figure{What: string(re.Expand(nil, []byte(in.what), text, at)), Shown: string(re.Expand(nil, []byte(in.shown), text, at))})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing that was printed matches %s", in.pattern)
	}
	return all, nil
}

// event is a line of go test -json; see go doc test2json.
type event struct{ Action, Package, Test, Output string }

// passed counts the tests that a log of go test -json says have passed.
func passed(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		var e event
		if json.Unmarshal(line, &e) == nil && e.Action == "pass" && e.Test != "" {
			n++
		}
	}
	return n
}

// tail prints what the failed tests of a log said, or else the log's end.
func tail(w io.Writer, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	said, failed := map[string][]string{}, []string{}
	var plain []string
	for line := range bytes.Lines(text) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			plain = append(plain, string(line))
			continue
		}
		name := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			said[name] = append(said[name], e.Output)
		case "fail":
			failed = append(failed, name)
		}
	}
	for _, name := range failed {
		fmt.Fprintf(w, "FAILED %s\n%s", name, strings.Join(last(said[name], 30), ""))
	}
	fmt.Fprint(w, strings.Join(last(plain, 40), ""))
}

func last(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

// commit is the short name of the commit that is checked out, with a + where files differ from it.
func commit() (string, error) {
	name, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--", ".", ":!"+dir, ":!"+evidence, ":!"+measured).Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	if len(changes) > 0 {
		return strings.TrimSpace(string(name)) + "+", nil
	}
	return strings.TrimSpace(string(name)), nil
}

// machine is what ran the part: the Go release, the system and the number of its processors.
func machine() string {
	system, err := exec.Command("uname", "-sr").Output()
	if err != nil {
		system = []byte(runtime.GOOS)
	}
	return fmt.Sprintf("%s %s, %s, %d processors", runtime.Version(), runtime.GOARCH, strings.TrimSpace(string(system)), runtime.NumCPU())
}
