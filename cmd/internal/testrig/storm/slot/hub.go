package slot

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/protocol"
)

// Hub holds the events of one agent, over all its lives, and wakes those who wait for
// them.
type Hub struct {
	mu      sync.Mutex
	events  []books.Event
	live    map[string]struct{} // accepted, by an event or by an answer, and not at their end
	ended   map[string]string   // status by id
	told    map[string]string   // ends of which senders were told on their own connections
	skipped int                 // messages that nobody waits for
	closed  bool
	change  chan struct{} // closed and replaced
}

func newHub() *Hub {
	return &Hub{live: map[string]struct{}{}, ended: map[string]string{}, told: map[string]string{}, change: make(chan struct{})}
}

func (h *Hub) add(e books.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	if protocol.Terminal(e.Status) {
		delete(h.live, e.ID)
		h.ended[e.ID] = e.Status
	} else if _, over := h.ended[e.ID]; !over {
		h.live[e.ID] = struct{}{}
	}
	h.changedLocked()
}

// Accepted is told that a sender was: the events must tell of it, too.
func (h *Hub) Accepted(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, over := h.ended[id]; !over {
		h.live[id] = struct{}{}
	}
}

// Heard is told what a sender was: an end that it must find in the events, too.
func (h *Hub) Heard(f protocol.Frame) {
	r, ok := f.(*protocol.InjectResult)
	if !ok || !protocol.Terminal(r.Status) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[r.ID] = r.Status
}

// differs is an end that a sender was told and the events tell otherwise; nil: none.
func (h *Hub) differs() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, status := range h.told {
		if h.ended[id] != status {
			return fmt.Errorf("the sender of %s was told that it is %s, the events say %q", id, status, h.ended[id])
		}
	}
	return nil
}

// Skip is told of a message that its sender gave up.
func (h *Hub) Skip() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skipped++
	h.changedLocked()
}

// Close is told that nothing more is sent.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.changedLocked()
}

func (h *Hub) changedLocked() {
	close(h.change)
	h.change = make(chan struct{})
}

// until waits until ok, which is called with the hub locked; false: ctx ended first.
func (h *Hub) until(ctx context.Context, ok func() bool) bool {
	for {
		h.mu.Lock()
		met, change := ok(), h.change
		h.mu.Unlock()
		if met {
			return true
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}

// Empty waits until everything that was accepted is at its end.
func (h *Hub) Empty(ctx context.Context) bool {
	return h.until(ctx, func() bool { return len(h.live) == 0 })
}

// Progress waits until n messages are done with, or all that are sent.
func (h *Hub) Progress(ctx context.Context, n int) bool {
	return h.until(ctx, func() bool { return len(h.ended)+h.skipped >= n || h.closed && len(h.live) == 0 })
}

// Next is closed at the next change.
func (h *Hub) Next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.change
}

// Count is how many messages are done with.
func (h *Hub) Count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ended) + h.skipped
}

// Unended is ids without those at their end.
func (h *Hub) Unended(ids []string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(ids, func(id string) bool { _, over := h.ended[id]; return over })
}

// String tells how it stands.
func (h *Hub) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var some []string
	for id := range h.live {
		if some = append(some, id); len(some) == 5 {
			break
		}
	}
	return fmt.Sprintf("%d live, as %v; %d ended", len(h.live), some, len(h.ended))
}
