package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"relay-pty/protocol/signals"
)

// stopped is the signal that told us to end.
type stopped struct{ syscall.Signal }

func (s stopped) Error() string { return "ended by a signal: " + s.Signal.String() }

// ender is a context that the first signal ends; a second one ends us at once.
type ender struct {
	context.Context
	end    context.CancelCauseFunc
	caught []syscall.Signal
	come   chan os.Signal
	heard  chan struct{} // closed when all that came was heard
}

// endBySignals is ended by the signals that end a program. Whoever started us with SIGHUP or SIGINT
// ignored, as nohup does, wants us to go on.
func endBySignals(parent context.Context) *ender {
	e := &ender{come: make(chan os.Signal, 1), heard: make(chan struct{})}
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

func (e *ender) hear() {
	defer close(e.heard)
	var first time.Time
	for s := range e.come {
		by := stopped{s.(syscall.Signal)} // all that os/signal tells are
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

// letGo returns the signal that came before, if one did. Any that comes later ends us, or what we
// become, by the kernel's own action: none is lost between.
func (e *ender) letGo() error {
	signals.Act(signals.Default, e.caught...)
	if err := signals.Settle(); err != nil {
		return err
	}
	signal.Stop(e.come) // returns when all that was caught is in the channel
	close(e.come)
	<-e.heard
	return context.Cause(e)
}
