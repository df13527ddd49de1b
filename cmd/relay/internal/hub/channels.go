package hub

import (
	"context"
	"errors"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// Member puts a name into a channel, or takes it out of it, and returns who is in it then.
func (h *Hub) Member(ctx context.Context, name, channel string, joins bool) ([]string, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.mu.Lock()
	e, news, err := h.state.Membership(name, channel, joins)
	h.mu.Unlock()
	if err == nil && news {
		err = h.append(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	var members []string
	h.View(func(s *router.State, _ func(string) bool) { members = s.Members(channel) })
	return members, nil
}

// renewEvery is how often the hub looks whether the log is about to forget members.
const renewEvery = time.Hour

// renew writes down anew who is in which channel, where the log would forget it: its oldest events
// go by age and by size.
func (h *Hub) renew(ctx context.Context) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	oldest, newest, err := h.store.Span(ctx)
	if err != nil {
		return err
	}
	half := int64(0)
	if oldest > 1 { // it has begun to go
		half = oldest + (newest-oldest)/2
	}
	h.mu.Lock()
	list := h.state.Renewals(time.Now().UnixMilli(), h.state.Rules.KeepMS, half)
	h.mu.Unlock()
	for _, e := range list {
		if err := h.append(ctx, e); errors.Is(err, store.ErrFull) {
			return nil // there may be room in an hour
		} else if err != nil {
			return err
		}
	}
	return nil
}
