package term

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resizePause is the least time between two sizes told; those between are skipped, the last one is always told.
const resizePause = time.Second / 60

// WatchSize tells f the terminal's size: now, after each change, and when the shell has continued us. It returns the context's cause when ctx ends.
func (t *Terminal) WatchSize(ctx context.Context, f func(Winsize)) error {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH, syscall.SIGCONT)
	defer signal.Stop(changes)
	for {
		f(t.Size())
		select {
		case <-time.After(resizePause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// WatchStops is our side of the shell's job control: a SIGTSTP suspends us, and after any other stop the terminal is raw again, since the shell had it
// meanwhile. Both signals are ours from the first Raw on, and wait for this loop. It returns the context's cause when ctx ends.
func (t *Terminal) WatchStops(ctx context.Context) error {
	defer signal.Stop(t.signals)
	for {
		select {
		case sig := <-t.signals:
			var err error
			if sig == syscall.SIGTSTP {
				_, err = t.Suspend()
			} else {
				err = t.resume()
			}
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Suspend restores the terminal and stops our process, as ^Z does to other programs; when the shell continues us it returns true, with the terminal as
// before. Where no shell could continue us it does nothing, as the system does with SIGTSTP, and returns false.
func (t *Terminal) Suspend() (suspended bool, err error) {
	if !Stoppable() {
		return false, nil
	}
	if err := t.pause(); err != nil {
		return false, err
	}
	if err := stopSelf(); err != nil {
		return false, fmt.Errorf("stop ourselves: %w", err)
	}
	return true, t.resume()
}

// pause restores the terminal for as long as we are stopped.
func (t *Terminal) pause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.guard.sleep(true)
	return t.leaveLocked()
}

// Stoppable reports whether a shell could continue us once we are stopped: our process group is a job, since our parent is of our session and we are not in
// its leader's group. Other groups are orphaned as a rule, and would stay stopped for ever.
func Stoppable() bool {
	sid, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parents, err := unix.Getsid(os.Getppid())
	return err == nil && parents == sid && unix.Getpgrp() != sid
}
