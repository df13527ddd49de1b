package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig/claude"
	"relay-pty/cmd/relay-pty/check/scratch"
)

// envDemo says which agent to take.
const (
	envDemo = "RELAY_DEMO"
	builtin = "builtin"
)

// agentCast is the agent on stage and how it looks.
type agentCast struct {
	name    string // in sentences
	command string // what is wrapped, for the reader
	why     error  // why it is not the real one; nil when it is
	argv    []string
	env     []string
	cwd     string
	api     *fakemodel.Server // the fake model; nil: the agent has none

	prompt   string                   // what stands before a draft
	question string                   // what the agent asks before it touches anything
	key      string                   // the human's answer …
	keyName  string                   // … in words
	answered func(screen string) bool // the question is over
	source   string                   // where relay_command events come from
}

// choose returns the path of the real Claude Code, which script fetches when it is
// missing; without one the reason why not. An error ends the demo.
func choose(ctx context.Context, out io.Writer, script string) (path string, why, err error) {
	switch v := os.Getenv(envDemo); v {
	case "":
	case builtin:
		return "", fmt.Errorf("%s=%s asks to do without", envDemo, builtin), nil
	default:
		return "", nil, fmt.Errorf("%s is %q, want %q or nothing", envDemo, v, builtin)
	}
	path, missing := claude.Find()
	if missing == nil || script == "" || os.Getenv("RELAY_CLAUDE") != "" {
		return path, missing, nil
	}
	if err := fetch(ctx, out, script); err != nil {
		if ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		return "", err, nil
	}
	path, why = claude.Find()
	return path, why, nil
}

// fetch runs the script in a process group of its own, so that nothing of it
// outlives the demo.
func fetch(ctx context.Context, out io.Writer, script string) error {
	cmd := exec.CommandContext(ctx, "bash", script, "claude-code-"+claude.Version)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		return errors.New("it could not be fetched (see above)")
	}
	return err
}

// cast prepares the agent below dir: Claude Code at path, unless something is in
// its way.
func cast(dir, path string, why error) (*agentCast, error) {
	if why == nil {
		c, err := realCast(dir, path)
		if err == nil {
			return c, nil
		}
		why = err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env, cwd, err := scratch.Plain(dir)
	if err != nil {
		return nil, err
	}
	return &agentCast{
		name: "the built-in agent", command: "demo-agent", why: why,
		argv: []string{exe, "agent"}, env: env, cwd: cwd,
		prompt: agentPrompt, question: agentQuestion, key: "y\r", keyName: "y, Enter",
		answered: func(screen string) bool { return strings.Contains(screen, agentDone) },
		source:   "stream",
	}, nil
}

func realCast(dir, path string) (*agentCast, error) {
	api, err := fakemodel.Start(fakemodel.Messages)
	if err != nil {
		return nil, err
	}
	api.KeepRaw, api.Respond = true, respond
	env, cwd, err := claude.Prepare(dir, api.URL())
	tmp := filepath.Join(dir, "tmp")
	err = errors.Join(err, os.MkdirAll(tmp, 0o700))
	if err != nil {
		api.Close() // already failing
		return nil, err
	}
	const question = "Do you want to proceed?"
	return &agentCast{
		name: "Claude Code", command: "claude",
		argv: claude.Argv(path), env: append(env, "TMPDIR="+tmp), cwd: cwd, api: api,
		prompt: "❯\u00a0", question: question, key: "\r", keyName: "Enter (Yes)",
		answered: func(screen string) bool { return !strings.Contains(screen, question) },
		source:   "log",
	}, nil
}

// end stops the fake model.
func (c *agentCast) end() {
	if c.api != nil {
		c.api.Close() // the listener is gone either way
	}
}

// introduce tells who is on stage.
func (c *agentCast) introduce(out io.Writer) {
	if c.why == nil {
		fmt.Fprintf(out, "alice is the real Claude Code %s in relay-pty; its model is a local fake.\n",
			claude.Version)
	} else {
		fmt.Fprintf(out, "No real Claude Code: %v.\n", c.why)
		fmt.Fprint(out, "alice is a small built-in agent in relay-pty.\n")
	}
	fmt.Fprint(out, "You sit at alice's keyboard (typed for you). bob is another process.\n\n")
}

// hint is the way out after a failure.
func (c *agentCast) hint() string {
	if c.why == nil {
		return "\ndemo: to see it without the real Claude Code: " + envDemo + "=" + builtin + " make demo"
	}
	return "\ndemo: this needs nothing but Go and a terminal device; please report it with that file"
}

// respond is the fake model. It answers every message of a turn; a prompt of the
// human makes it ask for a command, which needs a permission.
func respond(t fakemodel.Turn) fakemodel.Reply {
	said := messagesIn(fakemodel.Received(t))
	switch {
	case len(said) > 0:
		var lines []string
		for _, m := range said {
			lines = append(lines, marker(m))
		}
		return fakemodel.Say(strings.Join(lines, "\n"))
	case len(t.Results) > 0:
		return fakemodel.Say(agentDone)
	}
	return fakemodel.Bash("touch tidy")
}
