package clients

import (
	"context"

	"relay-pty/protocol"
)

// keys presses keys, where that is allowed: what they do is for whoever asks to know.
func (c *client) keys(ctx context.Context, r *protocol.Keys) {
	if !c.AllowCommand {
		c.refuse(protocol.NotAuthorized, "", "", r.Req, "this wrapper presses no keys for others; start it with --allow-command")
		return
	}
	for _, name := range r.Keys {
		if err := c.IsKey(name); err != nil {
			c.refuse(protocol.BadField, "keys", "", r.Req, err.Error())
			return
		}
	}
	a := c.Press(ctx, r.Keys)
	a.Head = r.Head
	c.conn.Answer(a)
}
