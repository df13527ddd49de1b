package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Stopped is the signal that told us to end.
type Stopped struct{ syscall.Signal }

func (s Stopped) Error() string { return "ended by a signal: " + s.Signal.String() }

// Ender is a context that the first signal ends, with [Stopped] as its cause. A second signal ends
// the program at once, with 128 and the signal's number.
type Ender struct {
	context.Context
	end    context.CancelCauseFunc
	caught []syscall.Signal
	come   chan os.Signal
	heard  chan struct{} // closed when all that came was heard
}

// End is ended by the signals that end a program: TERM, HUP and INT. A signal that the program was
// started with ignored, as by nohup, does not end it.
func End(parent context.Context) *Ender {
	e := &Ender{come: make(chan os.Signal, 1), heard: make(chan struct{})}
	e.Context, e.end = context.WithCancelCause(parent)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		if !signal.Ignored(s) {
			signal.Notify(e.come, s)
			e.caught = append(e.caught, s)
		}
	}
	go e.hear()
	return e
}

func (e *Ender) hear() {
	defer close(e.heard)
	var first time.Time
	for s := range e.come {
		by := Stopped{s.(syscall.Signal)} // all that os/signal tells are
		switch {
		case e.Err() == nil:
			first = time.Now()
			e.end(by)
		case time.Since(first) > oneSignal:
			os.Exit(128 + int(by.Signal))
		}
	}
}

// oneSignal is how far apart two signals count as one. One that was sent once, to our process
// group, while we were starting programs came twice in three of sixty tries (Go 1.26.8, Linux, a
// loaded machine; why is not known).
const oneSignal = 200 * time.Millisecond

// LetGo returns the signal that came before, if one did, and ends the waiting for signals. A signal
// that comes later ends the program, or what it becomes by exec, by the kernel's own action: none
// is lost between.
func (e *Ender) LetGo() error {
	Act(Default, e.caught...)
	if err := Settle(); err != nil {
		return err
	}
	signal.Stop(e.come) // returns when all that was caught is in the channel
	close(e.come)
	<-e.heard
	return context.Cause(e)
}
