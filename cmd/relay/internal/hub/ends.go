package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol"
)

// Cancel ends a message that no wrapper and no reader has; held says that one may have it.
func (h *Hub) Cancel(ctx context.Context, id string) (held bool, err error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	m, ok := h.state.Find(id)
	held = h.claimed[m.ID] || h.leased[m.ID] || m.Status != router.StatusAccepted && m.Status != router.StatusScheduled
	h.mu.Unlock()
	if !ok || held {
		return held, nil
	}
	return false, h.append(ctx, m.Outcome(router.Result{Status: protocol.StatusCancelled}))
}

// CancelLater has a message cancelled that is in the queue of a wrapper which does not run, as soon
// as one of that name does.
func (h *Hub) CancelLater(ctx context.Context, m router.Known) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	return h.append(ctx, router.Event{Type: router.TypeCancelAsked, Agent: m.To, Message: router.Message{ID: m.ID}})
}

// Run does what is due: it ends messages that no wrapper has got in their time, sends those whose
// time has come, tells who has come and gone, ends pauses, and keeps members of channels in the
// log, until ctx ends or the log cannot be trusted any more. What a full log has no room for stays
// due.
func (h *Hub) Run(ctx context.Context) error {
	var hourly <-chan time.Time
	for {
		if hourly == nil {
			if err := h.renew(ctx); err != nil {
				return err
			}
			hourly = time.After(renewEvery)
		}
		changed := h.Changed()
		next, err := h.doDue(ctx)
		if err != nil {
			return err
		}
		var late <-chan time.Time
		if next != 0 {
			late = time.After(rest(time.Now(), next))
		}
		select {
		case <-changed:
		case <-late:
		case <-hourly:
			hourly = nil
		case <-h.failed:
			return fmt.Errorf("%w: nothing more is kept; a new start reads the log anew", h.broken)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// doDue returns when it is to be called again, in Unix milliseconds; 0: not before something
// changed.
func (h *Hub) doDue(ctx context.Context) (next int64, err error) {
	for _, do := range []func(context.Context) (int64, error){h.expireNow, h.sendDue, h.tellPresence, h.endPauses} {
		again, err := do(ctx)
		if errors.Is(err, store.ErrFull) {
			again = time.Now().Add(roomAgain).UnixMilli()
		} else if err != nil {
			return 0, err
		}
		next = router.Sooner(next, again)
	}
	return next, nil
}

// lookAgain is how late Run may notice that the clock was set, or that the machine slept: neither
// ends a timer. So long it also waits for room in the log.
const lookAgain = 10 * time.Second

// rest is how long Run may rest before a time, in Unix milliseconds.
func rest(now time.Time, next int64) time.Duration {
	return min(time.UnixMilli(next).Sub(now), lookAgain)
}

// expireNow ends messages that no wrapper has got in their time.
func (h *Hub) expireNow(ctx context.Context) (next int64, err error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	now := time.Now().UnixMilli()
	h.mu.Lock()
	over, next := h.state.Expiring(now)
	over = slices.DeleteFunc(over, func(m router.Known) bool { return h.claimed[m.ID] || h.leased[m.ID] })
	h.mu.Unlock()
	for _, m := range over {
		if err := h.append(ctx, m.Outcome(router.Result{Status: protocol.StatusExpired})); err != nil {
			return 0, err
		}
	}
	return next, nil
}
