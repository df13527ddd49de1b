package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"relay-pty/inject/agents"
	"relay-pty/pty"
)

// plain reports whether the command runs as without us: on files that are not all terminals, where
// a terminal in their place would change what it reads, writes and shows. A session is not a matter
// of these: it needs its terminal.
func (c *config) plain(files ...*os.File) bool {
	if c.Headless || !agents.Once(c.agent, c.Command...) {
		return false
	}
	for _, f := range files {
		if !term.IsTerminal(int(f.Fd())) {
			return true
		}
	}
	return false
}

// plainSignals are those that end a command and that a human, or a script, may send to us instead.
// Those that we were begun with ignored stay so, and the command inherits that.
func plainSignals() <-chan os.Signal {
	deaf := make(chan os.Signal, 1)      // nobody reads
	signal.Notify(deaf, syscall.SIGPIPE) // a closed pipe is an error of the write
	c := make(chan os.Signal, 8)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGINT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c
}

// handOn hands signals on to a plain command, whose end is then ours. What the terminal's own keys
// send it has already: it is in our process group, which they go to while that is in front.
func handOn(ctx context.Context, signals <-chan os.Signal, session *pty.Session) error {
	for {
		select {
		case s := <-signals:
			if sig, _ := s.(syscall.Signal); !byKey(sig) || !inFront() {
				session.Signal(sig) // fails only when the command has ended
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func byKey(s syscall.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

// inFront reports whether our process group has our terminal.
func inFront() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false // there is none
	}
	defer tty.Close() // only asked
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}
