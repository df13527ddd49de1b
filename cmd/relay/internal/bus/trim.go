package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Excess returns the number up to which events are more than is to be kept; 0: none. Events are
// dropped by the tenth, not one by one.
func (l *Log) Excess(ctx context.Context, older func(data []byte) bool) (upTo int64, err error) {
	state, err := l.state(ctx)
	if err != nil || state.Msgs == 0 {
		return 0, err
	}
	first, last := int64(state.FirstSeq), int64(state.LastSeq)
	if limit := l.keep.Bytes; int64(state.Bytes) > limit {
		share := float64(int64(state.Bytes)-limit+limit/10) / float64(state.Bytes)
		upTo = first - 1 + int64(share*float64(state.Msgs))
	}
	// Events are in the order of their time but for some of wrappers; the search is for a day's
	// end.
	for low, high := first, last; low <= high; {
		middle := low + (high-low)/2
		data, ok, err := l.Get(ctx, middle)
		if err != nil {
			return 0, err
		}
		if ok && !older(data) {
			high = middle - 1
			continue
		}
		upTo = max(upTo, middle)
		low = middle + 1
	}
	return min(upTo, last-1), nil
}

// Trim drops the events up to a number. It is for whoever appends.
func (l *Log) Trim(ctx context.Context, upTo int64) error {
	newest := l.last.Load()
	e, err := l.engine()
	if err != nil || upTo < l.first.Load() || upTo >= newest {
		return err
	}
	// The stream denies to delete and to purge; a limit that holds for a moment does it.
	for _, most := range []int64{newest - upTo, -1} {
		c := config()
		c.MaxMsgs = most
		if e.stream, err = e.js.UpdateStream(ctx, c); err != nil {
			return fmt.Errorf("drop old events: %w", err)
		}
	}
	return l.measure(ctx)
}

// config is that of the stream. The hub says what may go, since what waits may not.
func config() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: stream, Subjects: []string{prefix + ">"}, Storage: jetstream.FileStorage,
		MaxMsgs: -1, MaxBytes: -1, DenyDelete: true, DenyPurge: true, AllowDirect: true,
		Duplicates: noDuplicates,
	}
}

// noDuplicates is the shortest time in which the server may look for events that it has already. It
// finds them by a header that none of ours has, and would read all of the last two minutes' for
// that whenever it starts.
const noDuplicates = 100 * time.Millisecond
