package main

import (
	"context"
	"errors"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/pty"
)

// pressWait is how long keys wait for a message that is being typed.
const pressWait = 10 * time.Second

var errTyping = errors.New("a message is being typed")

// press presses keys for somebody who asked for that.
func (w *wrapper) press(ctx context.Context, keys []string) *protocol.KeysAnswer {
	ctx, cancel := context.WithTimeoutCause(ctx, pressWait, errTyping)
	defer cancel()
	n, err := w.agent.Press(ctx, keys)
	w.wake()
	w.log.Info().Int("n", n).AnErr("err", err).Msg("keys")
	a := &protocol.KeysAnswer{Pressed: n}
	switch {
	case errors.Is(err, pty.ErrEnded):
		a.Fault = &protocol.Fault{Code: protocol.FaultAgentExited, Message: err.Error()}
	case err != nil:
		a.Fault = &protocol.Fault{Code: protocol.FaultNoConsume, Message: parser.OneLine(err.Error())}
	}
	return a
}

// wake has the injector look again.
func (w *wrapper) wake() {
	select {
	case w.told <- struct{}{}:
	default: // it has not looked yet
	}
}
