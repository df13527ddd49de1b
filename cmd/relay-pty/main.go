// Command relay-pty wraps one agent CLI in a PTY: the human types as if it were
// not there, other programs hand messages to a Unix socket, and each message is
// typed when the agent is ready and proved to have arrived.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"relay-pty/cmd/relay-pty/memory"
	"relay-pty/protocol"
	"relay-pty/pty/term"
)

// Exit statuses of our own; every other one is the command's.
const (
	exitUsage      = 125 // wrong use, or a failure of ours
	exitNoExec     = 126 // the command is not executable
	exitNotFound   = 127 // the command was not found
	exitSignalBase = 128 // plus the number of the signal that ended us or the command
)

// errEnded is the cause of a context that a signal ended.
type errEnded struct{ signal syscall.Signal }

func (e errEnded) Error() string { return "ended by " + e.signal.String() }

func main() {
	memory.Frugal()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// signals tells of those that end a program. It is asked for before anything is started, since
// a program starts with the signals ignored that we ignore then.
//
// Who began us with SIGHUP or SIGINT ignored, as nohup and a script's background do, wants us to
// outlive them, and we go on ignoring them, as ssh does. The agent does not inherit that, as it
// does not in tmux: its terminal is another one, whose hangup has to reach it, and a shell
// could never trap a signal that was ignored when the shell began.
// Of SIGQUIT the Go runtime does not tell how it was found.
func signals() <-chan os.Signal {
	deaf := make(chan os.Signal, 1) // nobody reads: taken, so that the agent gets the system's own action
	// A closed pipe is an error of the write.
	signal.Notify(deaf, syscall.SIGPIPE)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGQUIT)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(deaf, s)
		} else {
			signal.Notify(c, s)
		}
	}
	return c
}

// endOnSignal ends the wrapper on the first of them; the terminal is restored and the agent
// hung up on the way out. It lives as long as we do.
func endOnSignal(c <-chan os.Signal, cancel context.CancelCauseFunc) {
	s, _ := (<-c).(syscall.Signal)
	cancel(errEnded{s})
}

// run owns every exit status.
func run(args []string, stdin, stdout, stderr *os.File) int {
	errs := protocol.NewShown(stderr) // what we say ourselves; a plain command has stderr itself
	cfg, err := parse(args, protocol.NewShown(stdout))
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		return complain(errs, err)
	}
	if cfg.asCheck {
		return complain(errs, checkProfiles(cfg))
	}
	cfg.Plain = cfg.plain(stdin, stdout, stderr)
	var front *term.Front // that of a wrapper that shows itself to a shell
	if !cfg.Headless && !cfg.Plain {
		front, err = term.Begin()
	}
	switch {
	case errors.Is(err, term.ErrFrontGone): // a signal ended it, which its shell has seen
		return exitSignalBase + int(syscall.SIGKILL)
	case err != nil:
		return complain(errs, err)
	}
	code := behind(front, cfg, stdin, stdout, errs)
	front.Ended(code)
	return code
}

// behind runs the wrapper, behind a front if there is one, and tells the exit status.
func behind(front *term.Front, cfg config, stdin, stdout *os.File, errs io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if cfg.Plain {
		cfg.signals = plainSignals()
	} else {
		go endOnSignal(signals(), cancel)
	}
	if front != nil {
		go func() {
			front.Run()
			cancel(errEnded{syscall.SIGKILL})
		}()
	}
	code, err := wrap(ctx, cfg, front, stdin, stdout, errs)
	if err == nil {
		return code
	}
	var ended errEnded
	if errors.As(err, &ended) {
		return exitSignalBase + int(ended.signal)
	}
	complain(errs, err)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, errCommand) && errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case errors.Is(err, errCommand):
		return exitNoExec
	}
	return exitUsage
}

// errCommand marks a failure to start the command, as opposed to one of ours.
var errCommand = errors.New("start command")

// hinted is an error for which we know the way out.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// complain tells one line of what went wrong and one of what to do.
func complain(w io.Writer, err error) int {
	fmt.Fprintf(w, "relay-pty: %s\n", err)
	var h hinted
	if errors.As(err, &h) {
		fmt.Fprintf(w, "relay-pty: %s\n", h.hint)
	}
	return exitUsage
}
