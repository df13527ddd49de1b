// Package program is the program relay-pty-check, which relay-pty --check-profile becomes.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"

	"relay-pty/cmd/relay-pty/agent"
	"relay-pty/cmd/relay-pty/check"
)

// Name is that of the program; it stands beside relay-pty.
const Name = "relay-pty-check"

// Exit statuses, as relay-pty has them.
const (
	exitBroken = 1 // a profile does not hold
	exitUsage  = 125
)

// Main is the program. Its arguments are made by relay-pty: itself, the value of
// --agent or "", and the agent's command line, if one was given.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(stderr, Name+": run relay-pty --check-profile instead")
		return exitUsage
	}
	holds, err := run(ctx, args[0], args[1], args[2:], stdout)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "relay-pty: --check-profile: %v\n", err)
		var h interface{ Hint() string }
		if errors.As(err, &h) {
			fmt.Fprintf(stderr, "relay-pty: %s\n", h.Hint())
		}
		return exitUsage
	case !holds:
		return exitBroken
	}
	return 0
}

func run(ctx context.Context, self, name string, command []string, stdout io.Writer) (bool, error) {
	cfg := check.Config{Command: command, Self: self, Out: stdout}
	if name != "" {
		var err error
		if cfg.Profile, cfg.Overlay, err = agent.Profile(name, command); err != nil {
			return false, err
		}
	}
	return check.Run(ctx, cfg)
}
