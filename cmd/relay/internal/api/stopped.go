package api

import (
	"context"
	"fmt"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/process"
	"relay-pty/protocol/registry"
)

// watching is how a client looks at a router that has not answered yet. One that is stopped
// (SIGSTOP, a job that was suspended) answers nobody, and takes connections all the same. It is
// looked at every so often, and again a moment later: one that was stopped for a moment goes on. A
// router that is only slow is waited for.
type watching struct {
	every, again time.Duration
	stopped      func(pid int) bool
}

// usual is how all clients look.
var usual = watching{2 * time.Second, time.Second, process.Stopped}

// StoppedError is that the router is stopped.
type StoppedError struct{ PID int }

func (e *StoppedError) Error() string {
	return fmt.Sprintf("the router (process %d) is stopped, and answers nobody", e.PID)
}

// Hint says what to do about it.
func (e *StoppedError) Hint() string {
	return fmt.Sprintf("kill -CONT %d lets it go on; kill -KILL %[1]d ends it, and the next command starts another one", e.PID)
}

// watch ends a request, by cancel, when the router is stopped, until the request is over (stop).
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	go func() {
		next := c.watching.every
		for still := false; ; {
			select {
			case <-time.After(next):
			case <-ctx.Done():
				return
			}
			pid := int(c.router.Load())
			was := still
			if still = pid > 0 && c.watching.stopped(pid); still && was {
				cancel(&StoppedError{pid})
				return
			}
			if next = c.watching.every; still {
				next = c.watching.again
			}
		}
	}()
	return end
}

// stoppedWait is how long a wrapper that is stopped may take to go on and answer.
const stoppedWait = time.Second

// patienceWith is how long a wrapper may take to answer, and what is to be said if it does not.
func patienceWith(r registry.Record, wait time.Duration) (time.Duration, string) {
	if !process.Stopped(r.PID) {
		return wait, "does not answer within " + wait.String() + ": relay doctor tells more"
	}
	return min(wait, stoppedWait), fmt.Sprintf("is stopped: kill -CONT %d lets it go on", r.PID)
}

// look notes of an agent whether its wrapper is stopped, so that nothing is known of the agent.
func (a *Agent) look(pid int) {
	if a.Running && process.Stopped(pid) {
		a.State, a.BlockedBy, a.WrapperStopped = protocol.StateStopped, "", true
	}
}
