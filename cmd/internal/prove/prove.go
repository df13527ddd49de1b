package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	if p.reads != nil {
		found, err := p.reads(text)
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

var stream = regexp.MustCompile(`(?m)^BenchmarkWrite/([a-z]+)(?:-[0-9]+)?\s.*\s([0-9.]+) MB/s.*\s([0-9]+) allocs/op$`)

// throughput is what the emulator's benchmarks print.
func throughput(text []byte) (all []figures.Figure, err error) {
	for _, m := range stream.FindAllSubmatch(text, -1) {
		all = append(all, figures.Figure{What: fmt.Sprintf("emulator, a stream of %s", m[1]), Shown: fmt.Sprintf("%s MB/s, %s allocations", m[2], m[3])})
	}
	if len(all) == 0 {
		return nil, errors.New("no benchmark of the emulator was printed")
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
