package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// The end of output is not the end of the agent: what it wrote last may still be on its way, and a
// process it left behind can hold the tty for ever. So after its end we read on until the tty says
// so, or was quiet this long, or drainCap is over.
const (
	drainQuiet = 100 * time.Millisecond
	drainCap   = time.Second
	// drainTail is more than the kernel can have held when the agent ended (at most 64 KiB each
	// way): so much is read even past the cap, which a blocked terminal may have used up.
	drainTail = 128 << 10
)

// readSize is the output buffer's; reads return at most what the kernel's tty buffer holds, 4 KiB
// as a rule.
const readSize = 64 << 10

// Run passes the agent's output on until the agent has ended and its output is drained; then it
// returns nil. When ctx ends it hangs up the agent first and returns the context's cause. When
// Output fails it hangs up the agent, goes on reading so that nothing blocks, and returns that
// error. A panic of Output, screen or Tap comes out of Run. It is called once; afterwards the
// session is closed.
func (s *Session) Run(ctx context.Context) error {
	ended := make(chan *crash, 1)
	go func() { ended <- caught(s.pump) }()
	select {
	case c := <-ended:
		s.finish()
		c.raise()
		return s.outErr
	case <-ctx.Done():
		return s.stop(ctx, ended)
	}
}

// stop ends Run when ctx has ended. The output may be stuck in a write that nothing can end, and
// the agent even in the kernel: then they are left behind.
func (s *Session) stop(ctx context.Context, ended <-chan *crash) error {
	s.Hangup(s.grace())
	timer := time.NewTimer(drainCap + drainQuiet)
	defer timer.Stop()
	select {
	case c := <-ended:
		s.finish()
		c.raise()
	case <-timer.C:
		s.ptmx.Close() // the loop ends when its write does
		return fmt.Errorf("%w (output stuck)", context.Cause(ctx))
	}
	return context.Cause(ctx)
}

// finish makes sure that the agent has ended and that all our goroutines have.
func (s *Session) finish() {
	s.Hangup(s.grace())
	s.helpers.Wait()
	s.ptmx.Close() // nobody reads or writes any more
	s.wake()
}

// pump is the output loop.
func (s *Session) pump() {
	defer s.tell()
	defer s.endSign()
	buf := make([]byte, readSize)
	var d drain
	for {
		if d.on {
			s.ptmx.in.set(time.Now().Add(d.patience(time.Now())))
		}
		n, err := s.ptmx.Read(buf, s.rest)
		if n > 0 {
			s.packet(buf[0], buf[1:n])
			if d.took(n, time.Now()) {
				return
			}
			continue
		}
		if d.on || !errors.Is(err, os.ErrDeadlineExceeded) {
			<-s.proc.done // the tty is closed (EIO on Linux, end of file on BSD) or was quiet: nothing more can come
			return
		}
		d.begin(time.Now()) // the agent's end woke us
	}
}

// packet takes one read of a master in packet mode: a byte that tells what happened to the tty, or
// zero and output.
func (s *Session) packet(event byte, p []byte) {
	if event&unix.TIOCPKT_FLUSHREAD != 0 {
		s.wake()
	}
	if len(p) > 0 {
		s.deliver(p)
	}
}

// deliver hands one piece of output to all who want it: the human first.
func (s *Session) deliver(p []byte) {
	s.pass(p)
	s.show(p)
	s.showSign(false)
	now := s.stamp(&s.lastOut)
	if s.cfg.Tap != nil {
		s.cfg.Tap(p)
	}
	if s.untold == 0 {
		s.untold = now
	} else if now-s.untold > tellEvery {
		s.tell()
	}
}

// pass writes to the human's terminal.
func (s *Session) pass(p []byte) {
	if s.outErr != nil || len(p) == 0 {
		return
	}
	if _, err := s.cfg.Output.Write(p); err != nil {
		s.outErr = fmt.Errorf("write output: %w", err)
		s.helpers.Go(func() { s.Hangup(s.grace()) })
	}
}

// rest is what is to be done when the agent has nothing more to say for now.
func (s *Session) rest() {
	s.showSign(true)
	s.tell()
}

// tellEvery is how long watchers may not hear of output that keeps coming: they would hold a flood
// up if they looked at each of its pieces.
const tellEvery = 10 * time.Millisecond

// tell wakes the watchers when there was output of which they do not know.
func (s *Session) tell() {
	if s.untold != 0 {
		s.untold = 0
		s.wake()
	}
}

// show keeps the screen model up to date.
func (s *Session) show(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.Write(p) // it takes everything
}

// drain says how long to go on reading after the agent's end.
type drain struct {
	on    bool
	until time.Time
	bytes int
}

func (d *drain) begin(now time.Time) {
	d.on, d.until = true, now.Add(drainCap)
}

// patience is how long the next read may wait. Past the cap it is just enough to see that nothing
// is left.
func (d *drain) patience(now time.Time) time.Duration {
	return max(time.Millisecond, min(drainQuiet, d.until.Sub(now)))
}

// took counts n bytes read and reports whether that was enough.
func (d *drain) took(n int, now time.Time) bool {
	if !d.on {
		return false
	}
	d.bytes += n
	return d.bytes >= drainTail && now.After(d.until)
}

// crash is a panic on its way from one goroutine to another.
type crash struct {
	value any
	stack []byte
}

// caught runs f and returns its panic, if any.
func caught(f func()) (c *crash) {
	defer func() {
		if v := recover(); v != nil {
			c = &crash{v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// raise panics anew where the caller's deferred calls can restore the terminal.
func (c *crash) raise() {
	if c != nil {
		panic(fmt.Sprintf("output loop: %v\n\n%s", c.value, c.stack))
	}
}
