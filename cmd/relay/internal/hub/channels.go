package hub

import (
	"context"

	"relay-pty/cmd/relay/internal/router"
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
