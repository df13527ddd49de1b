package hub

import (
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Bounds are where the buckets of a [Spread] end.
var Bounds = []time.Duration{
	time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour,
}

// Spread is how long things took since this router began.
type Spread struct {
	Buckets [12]uint64 // how many, by the first of Bounds that they did not exceed, or none
	Count   uint64
	Sum     time.Duration
}

func (s *Spread) add(d time.Duration) {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	s.Buckets[i]++
	s.Count++
	s.Sum += d
}

// Meter is what was measured since this router began.
type Meter struct {
	Delivery Spread // from acceptance to delivery
	Append   Spread // of an event to the log, until it is on disk
}

// Meter returns what was measured.
func (h *Hub) Meter() Meter {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.meter
}

// arrived notes a delivery, if that is what an event is about; was is the message's status before.
// It is for the owner of mu.
func (h *Hub) arrived(was string, m router.Known) {
	if m.Status != was && m.EndedAt > 0 && !router.Ended(was) && (m.Status == protocol.StatusDelivered || m.Status == router.StatusReplied) {
		h.meter.Delivery.add(time.Duration(m.EndedAt-m.Accepted) * time.Millisecond)
	}
}
