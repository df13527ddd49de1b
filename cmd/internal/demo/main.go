// Command demo shows the wrapper at work: it wraps an agent headless, lets a
// second process send it messages, and prints what the socket says. The agent is
// the real Claude Code with a fake model on loopback where it can be had, else a
// small one of our own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/programs"
	"relay-pty/cmd/internal/testrig/anthropic"
	"relay-pty/cmd/internal/testrig/claude"
)

func main() {
	if name := os.Getenv(agents.EnvAgent); name != "" {
		os.Exit(programs.Run(name))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "send":
		err = send(ctx, os.Args[2])
	case len(os.Args) == 2:
		err = demo(ctx, os.Args[1])
	default:
		err = fmt.Errorf("usage: demo PATH-OF-RELAY-PTY")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// subject is what is wrapped.
type subject struct {
	name string
	argv []string
	env  []string
	dir  string
	end  func()
}

// reply is what the model says to our messages, so that there is something to parse.
const reply = "Noted.\n\n->relay:bob [re=%s] <<<Read it, thank you.\nSecond line, *byte for byte*.>>>"

// realClaude prepares the real Claude Code with a scripted model.
func realClaude(dir string) (subject, error) {
	path, err := claude.Find()
	if err != nil {
		return subject{}, err
	}
	api, err := anthropic.Start()
	if err != nil {
		return subject{}, err
	}
	api.Respond = func(t anthropic.Turn) anthropic.Reply {
		id, _, ok := strings.Cut(strings.TrimPrefix(t.UserText(), "[relay "), " from ")
		if !ok {
			return anthropic.Say("Hello.")
		}
		return anthropic.Say(fmt.Sprintf(reply, id))
	}
	env, cwd, err := claude.Prepare(dir, api.URL())
	if err != nil {
		api.Close() // already failing
		return subject{}, err
	}
	return subject{"claude", claude.Argv(path), env, cwd, func() { api.Close() }}, nil
}

// ownAgent prepares the built-in one, a line program.
func ownAgent(dir string) (subject, error) {
	exe, err := os.Executable()
	if err != nil {
		return subject{}, err
	}
	conf := `{"reply":"->relay:{from} [re={id}] <<<Read it, thank you.>>>"}`
	argv := []string{"env", agents.EnvAgent + "=line", agents.EnvConf + "=" + conf, exe}
	return subject{"demo-agent", argv, append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir), dir, func() {}}, nil
}

func demo(ctx context.Context, wrapper string) error {
	dir, err := os.MkdirTemp("", "relay-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if wrapper, err = filepath.Abs(wrapper); err != nil {
		return err
	}
	s, err := realClaude(dir)
	if err == nil {
		fmt.Printf("Wrapping the real Claude Code %s, headless. Its model is a fake one on 127.0.0.1.\n\n", claude.Version)
	} else {
		fmt.Printf("Wrapping the built-in demo agent, headless, for the real Claude Code is not here:\n%v\n\n", err)
		if s, err = ownAgent(dir); err != nil {
			return err
		}
	}
	defer s.end()
	socket := filepath.Join(dir, "alice.sock")
	cmd := exec.Command(wrapper, append([]string{"--name", "alice", "--socket", socket, "--headless", "--"}, s.argv...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = s.env, s.dir, os.Stderr
	fmt.Println("$ relay-pty --name alice --headless --", s.name)
	if err := cmd.Start(); err != nil {
		return err
	}
	err = second(ctx, socket)
	cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	if werr := cmd.Wait(); err == nil && cmd.ProcessState.ExitCode() != 143 {
		err = fmt.Errorf("the wrapper ended: %w", werr)
	}
	return err
}

// second runs the sender as a process of its own.
func second(ctx context.Context, socket string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, exe, "send", socket)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("second process: %w", err)
	}
	return nil
}
