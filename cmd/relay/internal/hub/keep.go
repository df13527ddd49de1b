package hub

import (
	"context"
	"encoding/json"
	"time"
)

const (
	// trimEvery is how often it is looked what the log need not keep, and at most after so many
	// bytes.
	trimEvery = 10 * time.Minute
	trimBytes = 1 << 20
)

// trimmer is a store that keeps so much only.
type trimmer interface {
	// Excess returns the number up to which events are too many, or older, 0 for none.
	Excess(ctx context.Context, older func(data []byte) bool) (upTo int64, err error)
	// Trim drops the events up to a number.
	Trim(ctx context.Context, upTo int64) error
	// Forget drops the messages that have ended before.
	Forget(ctx context.Context, upTo int64) error
}

// grow notes that the log has an event more, and wakes Keep when there is something to do. It is
// for the owner of mu.
func (h *Hub) grow(bytes int) {
	h.grown += bytes
	if h.grown >= trimBytes {
		select {
		case h.housekeep <- struct{}{}:
		default:
		}
	}
}

// Keep drops what the log need not keep, what is older than age or more than its size, again and
// again until ctx ends.
func (h *Hub) Keep(ctx context.Context, age time.Duration) error {
	for {
		next, wake := trimEvery, h.housekeep
		if err := h.trim(ctx, time.Now().Add(-age).UnixMilli()); err != nil {
			next, wake = lookAgain, nil // a disk that is full, mostly
		}
		select {
		case <-time.After(next):
		case <-wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// trim drops events, and forgets what has ended before.
func (h *Hub) trim(ctx context.Context, before int64) error {
	store, ok := h.store.(trimmer)
	if !ok {
		return nil
	}
	h.mu.Lock()
	h.grown = 0
	h.mu.Unlock()
	upTo, err := store.Excess(ctx, func(data []byte) bool {
		var e struct{ Timestamp int64 }
		return json.Unmarshal(data, &e) != nil || e.Timestamp < before
	})
	if err != nil || upTo == 0 {
		return err
	}
	if err := store.Trim(ctx, upTo); err != nil {
		return err
	}
	return store.Forget(ctx, upTo)
}
