package hub

import "context"

// Member puts a name into a channel, or takes it out of it, and returns who is in it then.
func (h *Hub) Member(ctx context.Context, name, channel string, joins bool) (members []string, err error) {
	err = h.step(ctx, func() error {
		e, news, err := h.state.Membership(name, channel, joins)
		if err == nil && news {
			err = h.append(e)
		}
		members = h.state.Members(channel)
		return err
	})
	if err != nil {
		return nil, err
	}
	return members, nil
}
