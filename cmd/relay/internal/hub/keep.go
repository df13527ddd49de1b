package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// Shelf keeps the state, so that a start does not read the whole log, and messages that have ended
// need no memory. *store.Store is one.
type Shelf interface {
	router.Kept
	Save(router.Saving) error
	Clear() error
}

const (
	// saveEvery is after how many events the state is saved: so many a start reads at most.
	saveEvery = 2000
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
}

// restore begins with what the shelf has, and reads the rest of the log. What does not fit to the
// log is made anew from it.
func (h *Hub) restore(ctx context.Context, shelf Shelf) (err error) {
	after := int64(0)
	if h.shelf = shelf; shelf != nil {
		if h.state, err = router.Resume(shelf); err != nil || !h.fits(ctx) {
			if err := shelf.Clear(); err != nil {
				return err
			}
			if h.state, err = router.Resume(shelf); err != nil {
				return err
			}
		}
		after = h.state.Last
	}
	return h.store.Read(ctx, after, func(seq int64, data []byte) error {
		e, err := h.decode(seq, data)
		if err != nil {
			return err
		}
		h.state.Apply(e)
		if h.unsaved++; h.unsaved < 10*saveEvery {
			return nil
		}
		return h.save()
	})
}

// fits reports whether the log goes on where the state ends.
func (h *Hub) fits(ctx context.Context) bool {
	oldest, newest, err := h.store.Span(ctx)
	last := h.state.Last
	if err != nil || last > newest || last+1 < oldest {
		return false
	}
	if last < oldest {
		return true // nothing tells otherwise
	}
	data, ok, err := h.store.Get(ctx, last)
	if err != nil || !ok {
		return false
	}
	e, err := h.decode(last, data)
	return err == nil && e.EventID == h.state.LastID
}

// save puts the state on the shelf. It is for one goroutine at a time. Where that has no room the
// log still has all.
func (h *Hub) save() error {
	if h.shelf == nil {
		return nil
	}
	h.mu.Lock()
	h.unsaved = 0
	v, err := h.state.Save()
	h.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	err = h.shelf.Save(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.state.NotSaved(v)
		return fmt.Errorf("keep the state: %w", err)
	}
	h.state.Saved()
	return nil
}

// grow notes that the log has an event more, and wakes Keep when there is something to do. It is
// for the owner of mu.
func (h *Hub) grow(bytes int) {
	h.unsaved++
	h.grown += bytes
	if h.unsaved >= saveEvery || h.grown >= trimBytes {
		select {
		case h.housekeep <- struct{}{}:
		default:
		}
	}
}

// Keep saves the state and drops what the log need not keep, what is older than age or more than
// its size, again and again until ctx ends, and saves then.
func (h *Hub) Keep(ctx context.Context, age time.Duration) error {
	for {
		err := h.save()
		if err == nil {
			err = h.trim(ctx, time.Now().Add(-age).UnixMilli())
		}
		var next <-chan time.Time
		if next = time.After(trimEvery); err != nil {
			next = time.After(lookAgain) // a disk that is full, mostly
		}
		wake := h.housekeep
		if err != nil {
			wake = nil
		}
		select {
		case <-next:
		case <-wake:
		case <-ctx.Done():
			h.save() // else the next start reads a little more
			return context.Cause(ctx)
		}
	}
}

// trim drops events, of which the shelf has all that matters, and forgets what has ended before.
func (h *Hub) trim(ctx context.Context, before int64) error {
	store, ok := h.store.(trimmer)
	if !ok || h.shelf == nil {
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
	if err := h.save(); err != nil {
		return err
	}
	h.writing.Lock()
	err = store.Trim(ctx, upTo)
	h.writing.Unlock()
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.state.Forget(upTo)
	h.mu.Unlock()
	return h.save()
}
