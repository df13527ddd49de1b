package hub

import (
	"context"
	"errors"
	"time"

	"relay-pty/cmd/relay/internal/store"
)

// roomAgain is how soon the log is tried again that was full.
const roomAgain = time.Second

// ErrFull is that the log has no room for what was to be written.
var ErrFull = store.ErrFull

// Full reports whether the log did not take the newest event, and has no room for one now.
func (h *Hub) Full() bool {
	_, tells := h.store.(interface{ Room(bytes int64) error })
	return h.full.Load() && (!tells || h.Room() != nil)
}

// Room refuses, with ErrFull, what is to be written down while the log has no room.
func (h *Hub) Room() error {
	if disk, ok := h.store.(interface{ Room(bytes int64) error }); ok {
		return disk.Room(0)
	}
	return nil
}

// Trouble is why the log takes no more for now, nil while all is well.
func (h *Hub) Trouble() error {
	if place, ok := h.store.(interface{ Gone() error }); ok {
		if err := place.Gone(); err != nil {
			return err
		}
	}
	if h.Full() {
		return store.ErrFull
	}
	return nil
}

// patiently does what writes an event until the log has room for it. What a sender asks for is
// refused instead, since he can ask again; what a wrapper tells has happened.
func (h *Hub) patiently(ctx context.Context, write func() error) error {
	for {
		err := write()
		if !errors.Is(err, store.ErrFull) {
			return err
		}
		select {
		case <-time.After(roomAgain):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
