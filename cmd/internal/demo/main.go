// Command demo shows the wrapper at work, in ten seconds and on one screen: an
// agent in relay-pty on a terminal of its own, a human at the keys of that
// terminal, and a second process that sends messages. The agent is the real
// Claude Code with a fake model on loopback where it can be had, else a small
// agent of the demo's own. The demo checks all that it tells, and fails when it
// cannot show it.
//
// Nothing stays behind but, after a failure, one log beside the wrapper.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// usage is for those who look into the Makefile.
const usage = `usage: demo PATH-OF-RELAY-PTY [SCRIPT-THAT-FETCHES-AGENTS]
RELAY_DEMO=builtin takes the built-in agent, without a look at the network.`

// limit is how long the demo may take once the agent is there.
const limit = time.Minute

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	if len(os.Args) != 2 || os.Args[1] != "agent" { // a hangup ends the agent, as any program
		watchSignals(cancel)
	}
	os.Exit(run(ctx, os.Args[1:]))
}

// run owns every exit status: 0 when all was shown, 1 when not, 2 for a wrong
// command line, and 128 more than the signal that ended the demo.
func run(ctx context.Context, args []string) int {
	var err error
	switch {
	case len(args) == 1 && args[0] == "agent":
		err = agent(os.Stdin, os.Stdout)
	case len(args) >= 4 && args[0] == "bob":
		err = bob(ctx, args[1], args[2:])
	case len(args) == 1 || len(args) == 2:
		err = demo(ctx, os.Stdout, args[0], append(args, "")[1])
	default:
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
	if err == nil {
		return 0
	}
	var stopped stop
	if errors.As(err, &stopped) {
		fmt.Fprintf(os.Stderr, "\ndemo: ended by a signal (%v); nothing is left behind\n", stopped.Signal)
		return 128 + int(stopped.Signal)
	}
	fmt.Fprintln(os.Stderr, "demo:", err)
	return 1
}

// stop is a signal that ends the demo.
type stop struct{ syscall.Signal }

func (s stop) Error() string { return s.String() }

// watchSignals cancels with a stop. Who started the demo with SIGHUP ignored
// wants it to go on without a terminal.
func watchSignals(cancel context.CancelCauseFunc) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, signals...)
	go func() {
		for sig := range c {
			if sig, ok := sig.(syscall.Signal); ok {
				cancel(stop{sig})
			}
		}
	}()
}

// demo finds an agent, sets the stage in a scratch directory, plays the story and
// takes everything away again.
func demo(ctx context.Context, out io.Writer, wrapper, script string) (err error) {
	wrapper, err = filepath.Abs(wrapper)
	if err != nil {
		return err
	}
	path, why, err := choose(ctx, out, script)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "relay-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	c, err := cast(dir, path, why)
	if err != nil {
		return err
	}
	defer c.end()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took longer than %v", limit))
	defer cancel()
	log := filepath.Join(filepath.Dir(wrapper), "demo.log")
	os.Remove(log) // of an earlier failure, if any
	c.introduce(out)
	s, err := open(ctx, c, wrapper, dir)
	if err != nil {
		return orStopped(ctx, err)
	}
	s.out = out
	err = s.because(s.play())
	if err != nil && !errors.As(err, new(stop)) {
		err = fmt.Errorf("%w\n%s%s", err, s.keep(log, err), c.hint())
	}
	s.close()
	return err
}

// orStopped is the signal that ends the demo, where there is one, else err. A ^C ends all of the
// job, and what it ended may be heard of a moment before the signal.
func orStopped(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
	if cause := context.Cause(ctx); errors.As(cause, new(stop)) {
		return cause
	}
	return err
}

// removeAll removes the scratch directory. A helper of an agent may write its last
// file while that goes on, so it is tried again for a while.
func removeAll(dir string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	err := os.RemoveAll(dir)
	for range 30 {
		if err == nil {
			return nil
		}
		<-again.C
		err = os.RemoveAll(dir)
	}
	return err
}
