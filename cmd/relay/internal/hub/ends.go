package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol"
)

// Cancel ends a message. Where a wrapper or a reader may have it, holder is who does, and is to be
// asked; what is in the queue of a wrapper that does not run is cancelled as soon as one of that
// name does. Refusals are *router.ErrorValue.
func (h *Hub) Cancel(ctx context.Context, id string) (holder string, err error) {
	err = h.step(ctx, func() error {
		m, ok := h.state.Find(id)
		runs := h.runsLocked(m.To)
		switch {
		case !ok:
			return router.NoMessage(id)
		case m.Status == protocol.StatusCancelled, m.CancelAsked && !runs && m.Status == protocol.StatusQueued:
			return nil
		case router.Ended(m.Status):
			return router.Refusal(protocol.TooLate, "%s is %s", id, m.Status)
		case !runs && m.Status == protocol.StatusInjecting:
			const says = "%s was being typed when %s ended; whether it arrived is told when %[2]s runs again"
			return router.Refusal(protocol.TooLate, says, id, m.To)
		case !runs && m.Status == protocol.StatusQueued:
			return h.append(router.Event{Type: router.TypeCancelAsked, Agent: m.To, Message: router.Message{ID: m.ID}})
		case h.claimed[m.ID] || h.leased[m.ID] || m.Status != router.StatusAccepted && m.Status != router.StatusScheduled:
			holder = m.To
			return nil
		}
		return h.append(m.Outcome(router.Result{Status: protocol.StatusCancelled}))
	})
	return holder, err
}

// Run does what is due: it ends messages that no wrapper has got in their time, sends those whose
// time has come, tells who has come and gone, and ends pauses, until ctx ends or the log cannot be
// trusted any more. What a full log has no room for stays due.
func (h *Hub) Run(ctx context.Context) error {
	for {
		changed := h.Changed()
		next, took, err := h.doDue(ctx)
		if err != nil {
			return err
		}
		select { // where many messages wait, each look is long, and each message brings one
		case <-time.After(rested * took):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		var late <-chan time.Time
		if next != 0 {
			late = time.After(rest(time.Now(), next))
		}
		select {
		case <-changed:
		case <-late:
		case <-h.failed:
			return fmt.Errorf("%w: nothing more is kept; a new start reads the log anew", h.broken)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// rested is how much longer Run rests than it looked: others have nine tenths of the state's time.
const rested = 9

// doDue returns when it is to be called again, in Unix milliseconds; 0: not before something
// changed; and for how long it had the state.
func (h *Hub) doDue(ctx context.Context) (next int64, took time.Duration, err error) {
	err = h.step(ctx, func() error {
		began := time.Now()
		for _, due := range []func() (int64, error){h.expireNow, h.pauseChains, h.sendDue, h.tellPresence, h.endPauses} {
			again, err := due()
			if err != nil {
				return err
			}
			next = router.Sooner(next, again)
		}
		took = time.Since(began)
		return nil
	})
	if errors.Is(err, store.ErrFull) {
		next, err = router.Sooner(next, time.Now().Add(roomAgain).UnixMilli()), nil
	}
	return next, took, err
}

// lookAgain is how late Run may notice that the clock was set, or that the machine slept: neither
// ends a timer. So long it also waits for room in the log.
const lookAgain = 10 * time.Second

// rest is how long Run may rest before a time, in Unix milliseconds.
func rest(now time.Time, next int64) time.Duration {
	return min(time.UnixMilli(next).Sub(now), lookAgain)
}

// expireNow ends messages that no wrapper has got in their time. It is for a step, as all that is
// due.
func (h *Hub) expireNow() (next int64, err error) {
	over, next := h.state.Expiring(time.Now().UnixMilli())
	for _, m := range over {
		if h.claimed[m.ID] || h.leased[m.ID] {
			continue
		}
		if err := h.append(m.Outcome(router.Result{Status: protocol.StatusExpired})); err != nil {
			return 0, err
		}
	}
	return next, nil
}
