package hub

import (
	"context"
	"errors"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// batch is what goes to the disk at once: all that was decided while the one before was written.
type batch struct {
	entries []store.Entry
	events  []happened
	done    chan struct{} // closed when it is on disk, or cannot be
	err     error
}

// happened is an event, with the message that it is about, before and after it.
type happened struct {
	router.Event
	was   string // its status
	about router.Known
	freed []string // recipients of others that no longer wait for their chain
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// errDropped is that an event was decided on by what could not be written before it.
var errDropped = errors.New("what came before could not be written")

// step decides and stages with do, which has mu and sees all that was decided before, and returns
// when all that do saw or staged is on disk. So nobody is told of what a crash could take back.
func (h *Hub) step(ctx context.Context, do func() error) error {
	h.mu.Lock()
	err := do()
	b := h.newest()
	h.mu.Unlock()
	if lost := h.settle(b); lost != nil {
		return lost
	}
	return err
}

// newest is the batch behind which nothing was decided yet; nil: all is on disk. It is for the
// owner of mu.
func (h *Hub) newest() *batch {
	if len(h.staged.entries) > 0 {
		return h.staged
	}
	return h.writes
}

// settle returns when a batch is on disk, or could not be written. Whoever waits for one that
// nobody writes yet writes it, with all that others have staged by then.
func (h *Hub) settle(b *batch) error {
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return b.err
	case h.committing <- struct{}{}:
	}
	defer func() { <-h.committing }()
	select {
	case <-b.done:
	default:
		h.commit()
	}
	return b.err
}

// commit writes what is staged. It is for one goroutine at a time.
func (h *Hub) commit() {
	h.mu.Lock()
	b := h.staged
	rows, err := h.state.Take()
	h.staged, h.writes = newBatch(), b
	h.mu.Unlock()
	began := time.Now()
	if err == nil {
		err = h.store.Commit(context.Background(), b.entries, rows)
	}
	took := time.Since(began)
	h.full.Store(errors.Is(err, store.ErrFull))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = nil
	defer close(b.done)
	if b.err = err; err != nil {
		h.takeBack(err)
		return
	}
	h.state.Saved(rows)
	for i, o := range b.events {
		h.meter.Append.add(took)
		h.grow(len(b.entries[i].Data))
		h.tell(o)
	}
	h.wake()
}

// takeBack undoes what was decided and could not be written, and what was decided by that. Where
// nobody knows what was written, nothing more is.
func (h *Hub) takeBack(why error) {
	if next := h.staged; len(next.entries) > 0 {
		next.err = errors.Join(errDropped, why)
		close(next.done)
		h.staged = newBatch()
	}
	for name := range h.inboxes {
		h.wakeFor(name) // whoever reads for it was refused what may be there after all
	}
	err := h.resume(h.state.Rules)
	if !errors.Is(why, store.ErrFull) {
		err = why
	}
	if err != nil && h.broken == nil {
		h.broken = err
		close(h.failed)
	}
}
