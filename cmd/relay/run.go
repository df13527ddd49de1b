package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/cmd/relay/internal/wiring"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/signals"
)

func runCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "run [NAME] [relay-pty flags] -- COMMAND [ARG...]", Short: "Run an agent under a name",
		Long: `run starts the router if none runs, and becomes relay-pty, which wraps the command: you type as usual,
and messages to NAME reach the agent when it is ready. Without a NAME run makes one from the command
(claude, claude-2) and prints it.

Claude Code, Codex and OpenCode also get relay's MCP server for this run, and Claude Code gets hooks,
through which important messages reach it beside your draft, a dialog or its own work. Your own
settings, servers and hooks stay as they are, and count.

An agent is found by what really runs: behind env, nice, timeout, npx, mise exec -- or sh -c, under
another name, or in a script of yours. relay cannot add to the arguments inside a script; the start
then says what is missing, and the way out.

Commands that do one thing and end, such as claude -p, claude mcp list, codex exec, gemini -p and
opencode run, run as without relay: they get no server and no hooks, and pipes stay pipes.

The agent's socket is $XDG_RUNTIME_DIR/relay/NAME.sock, else /tmp/relay-UID/NAME.sock; the agent finds
the path in RELAY_SOCKET.`,
		Example: `  relay run alice -- claude
  relay run bob --draft-timeout 30s -- codex`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return c.Help()
			}
			return becomeWrapper(c.Context(), s, args)
		},
	}
}

// becomeWrapper ends only when it fails.
func becomeWrapper(ctx context.Context, s streams, args []string) error {
	at := slices.Index(args, "--")
	if at < 0 || at == len(args)-1 {
		return usage{errors.New("run: say a name, -- and a command: relay run alice -- claude")}
	}
	name, flags, err := wiring.Named(args[:at])
	if err != nil {
		return usage{fmt.Errorf("run: %w", err)}
	}
	wrapper, err := findWrapper()
	if err != nil {
		return err
	}
	if err := haveRouter(ctx, s); err != nil {
		return err
	}
	set, err := settings.Load()
	if err != nil {
		return err
	}
	agents, err := registry.Where()
	if err != nil {
		return err
	}
	if name == "" {
		if name, err = freeName(args[at+1:]); err != nil {
			return err
		}
		fmt.Fprintf(s.err, "relay: this agent is %s\n", name)
	}
	args = slices.Concat(flags, args[at:])
	// A directory of ours alone: a name there is in nobody's way, and nobody is in its own.
	argv := []string{"relay-pty", "--name", name, "--socket", registry.SocketIn(filepath.Dir(agents), name)}
	for flag, value := range map[string]string{"--draft-timeout": set.DraftTimeout, "--batch-max": set.BatchMax} {
		if value != "" {
			argv = append(argv, flag, value)
		}
	}
	if lacks := wiring.Lacks(name, args); lacks != "" {
		fmt.Fprint(s.err, lacks)
	}
	args, env := wiring.Command(ctx, args)
	argv = append(argv, args...) // a flag that comes twice counts as it comes last
	if e, ok := ctx.(*signals.Ender); ok {
		err = e.LetGo()
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", wrapper, syscall.Exec(wrapper, argv, env))
}

// freeName makes a name for the agent that a command starts, which no agent that runs has.
func freeName(argv []string) (string, error) {
	h, err := home.Find("")
	if err != nil {
		return "", err
	}
	return wiring.Name(argv, func(name string) (bool, error) {
		_, running, err := h.Places().Find(name)
		return running, err
	})
}

// haveRouter sees to it that a router runs. One that does not is started by a program between us
// and it: relay-pty, which we become, would not wait for a child that it knows nothing of.
func haveRouter(ctx context.Context, s streams) error {
	h, err := home.Find("")
	if err != nil {
		return err
	}
	_, err = h.Running(ctx, "")
	if stopped := (*api.StoppedError)(nil); err == nil || errors.As(err, &stopped) {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "ls")
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	switch failed := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &failed):
		s.err.Write(said.Bytes()) // why
		return exit(exitFailed)
	}
	return err
}

// findWrapper finds relay-pty beside this program, or else in PATH.
func findWrapper() (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "relay-pty")
		if found, err := exec.LookPath(beside); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath("relay-pty")
	if err != nil {
		return "", fmt.Errorf("find relay-pty, which wraps the agent: %w: install it beside relay", err)
	}
	return filepath.Abs(found)
}
