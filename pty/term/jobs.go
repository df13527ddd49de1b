package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resizePause is the least time between two sizes told; those between are skipped, the last one is
// always told.
const resizePause = time.Second / 60

// WatchSize tells f the terminal's size: now, after each change, and when the shell has continued
// us. It returns the context's cause when ctx ends.
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

// WatchStops is our side of the shell's job control. At a SIGTSTP, and when it shows that somebody
// else has stopped our front, it calls still, which calls what it is given: that has us suspended,
// or waits for the end of the stop. After any other stop the terminal is raw again, since the shell
// had it meanwhile. Both signals are ours from the first Raw on, and wait for this loop. It returns
// the context's cause when ctx ends.
func (t *Terminal) WatchStops(ctx context.Context, still func(wait func(context.Context) (bool, error)) error) error {
	defer signal.Stop(t.signals)
	for {
		var err error
		select {
		case sig := <-t.signals:
			switch {
			case t.isAway():
				select {
				case t.handed <- struct{}{}:
				default: // it has not looked yet
				}
			case sig != syscall.SIGTSTP:
				err = t.resume()
			case t.Stoppable():
				err = still(t.Suspend)
			}
		case <-t.found:
			err = still(t.awaitContinue)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// Suspend restores the terminal and stops our job, as ^Z does to other programs; when the shell
// continues it in front, Suspend returns true, with the terminal as before. Where no shell could
// continue us it does nothing, as the system does with SIGTSTP, and returns false; so it does when
// we are suspended already. The end of ctx, and Leave, end it, too.
func (t *Terminal) Suspend(ctx context.Context) (suspended bool, err error) {
	if !t.Stoppable() || !t.goAway() {
		return false, nil
	}
	if err := t.pause(); err != nil {
		return false, err
	}
	if t.front == nil {
		err = stopSelf()
	} else {
		err = t.stopFront(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("stop: %w", err)
	}
	return true, t.comeBack()
}

// stopFront has our job stopped, unless it is, until it is continued in front.
func (t *Terminal) stopFront(ctx context.Context) error {
	if !t.front.stopped() {
		if err := t.front.stop(ctx, t.over, stopNow); err != nil {
			return err
		}
	}
	return t.awaitFront(ctx)
}

// awaitFront waits until our front, if it is stopped, is continued in front: in the background it
// is stopped again, as the kernel does to who wants the terminal there.
func (t *Terminal) awaitFront(ctx context.Context) error {
	for t.front.stopped() {
		select { // sooner or later it hands the SIGCONT on, to this loop or to WatchStops
		case <-t.signals:
		case <-t.handed:
		case <-t.over:
			return ErrLeft
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for t.background() {
		if err := t.front.stop(ctx, t.over, stopBehind); err != nil {
			return err
		}
	}
	return nil
}

// awaitContinue waits for the end of a stop of our front by somebody else, who may have ended it by
// now.
func (t *Terminal) awaitContinue(ctx context.Context) (bool, error) {
	if err := t.awaitFront(ctx); err != nil {
		return false, err
	}
	return true, t.comeBack()
}

// ErrLeft is the end of a suspension by Leave.
var ErrLeft = errors.New("the terminal was left")

// Leave says that the agent has ended: what it still wrote need not wait for us to be in front, and
// nothing goes on with it then.
func (t *Terminal) Leave() { t.ends.Do(func() { close(t.over) }) }

// goAway holds keys and output from now on. It returns false when they are held already.
func (t *Terminal) goAway() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away != nil {
		return false
	}
	t.away = make(chan struct{})
	return true
}

// inFront waits until keys and output are ours again. It returns false when they will not be.
// Whoever stops our front without a word, as by SIGSTOP, shows by a terminal that is another's.
func (t *Terminal) inFront() bool {
	if t.front == nil {
		return true
	}
	t.mu.Lock()
	if t.away == nil && t.background() && t.front.stopped() {
		t.away = make(chan struct{})
		t.found <- struct{}{} // there is room: there is one for each away
	}
	away := t.away
	t.mu.Unlock()
	if away == nil {
		return true
	}
	select {
	case <-away:
		return true
	case <-t.over:
		return false
	}
}

// isAway reports whether keys and output are held.
func (t *Terminal) isAway() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.away != nil
}

// comeBack is the end of away: the terminal is as before.
func (t *Terminal) comeBack() error {
	for over := false; !over; {
		select {
		case <-t.signals: // of the stop that is over
		default:
			over = true
		}
	}
	err := t.resume()
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.away)
	t.away = nil
	return err
}

// pause restores the terminal for as long as we are stopped.
func (t *Terminal) pause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.guard.sleep(true)
	return t.leaveLocked()
}

// Stoppable reports whether a shell could continue us once we are stopped.
func (t *Terminal) Stoppable() bool { return t.front != nil || Stoppable() }

// Stoppable reports whether a shell could continue us once we are stopped: our process group is a
// job, since our parent is of our session and we are not in its leader's group. Other groups are
// orphaned as a rule, and would stay stopped for ever.
func Stoppable() bool {
	sid, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parents, err := unix.Getsid(os.Getppid())
	return err == nil && parents == sid && unix.Getpgrp() != sid
}
