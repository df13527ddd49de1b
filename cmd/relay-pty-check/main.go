// Command relay-pty-check is what relay-pty --check-profile becomes. It's a program of its own
// because it serves a fake model API, and every wrapper would be larger by that.
//
// It starts the agent in a scratch home, where there is one against a fake model on loopback, and
// holds each datum of the agent's profile against what the agent shows. It types only into agents
// that it started, answers no dialog but by Esc, and leaves nothing behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"relay-pty/protocol"
	"relay-pty/protocol/version"
)

// Exit statuses, as relay-pty has them.
const (
	exitBroken     = 1   // a promise does not hold
	exitUsage      = 125 // wrong use, or a failure of ours
	exitSignalBase = 128
)

// errEnded is the cause of a context that a signal ended.
type errEnded struct{ signal syscall.Signal }

func (e errEnded) Error() string { return "ended by " + e.signal.String() }

// hinted is an error for which we know the way out.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string { return h.hint }

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	go func() { // it lives as long as the program
		s, _ := (<-signals).(syscall.Signal)
		cancel(errEnded{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. relay-pty makes the arguments: its own path, the value of --agent or "", and
// the command line of the agent, if one was given.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = protocol.NewShown(stdout), protocol.NewShown(stderr)
	switch {
	case len(args) == 1 && args[0] == "--version":
		fmt.Fprintln(stdout, "relay-pty-check", version.Release)
		return 0
	case len(args) < 2:
		fmt.Fprintln(stderr, "relay-pty-check: run relay-pty --check-profile instead")
		return exitUsage
	}
	subjects, err := choose(args[1], args[2:], stdout)
	code := 0
	for _, s := range subjects {
		holds := false
		if holds, err = check(ctx, args[0], s, stdout); err != nil {
			break
		}
		if !holds {
			code = exitBroken
		}
	}
	if err == nil {
		return code
	}
	var ended errEnded
	if errors.As(err, &ended) {
		return exitSignalBase + int(ended.signal)
	}
	fmt.Fprintf(stderr, "relay-pty: --check-profile: %v\n", err)
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		fmt.Fprintf(stderr, "relay-pty: %s\n", h.Hint())
	}
	return exitUsage
}
