package sock

import (
	"context"
	"fmt"

	"relay-pty/protocol"
)

// DialAs connects as [Dial] does, and speaks as the agent whose token it is.
func DialAs(ctx context.Context, path, token string) (*Client, error) {
	c, err := Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := c.Ask(ctx, &protocol.Hello{Token: token}); err != nil {
		c.Close() // of no use
		return nil, err
	}
	return c, nil
}

// Signal tells the agent's own word about its state.
func (c *Client) Signal(ctx context.Context, event, detail string) error {
	_, err := c.Ask(ctx, &protocol.Signal{Event: event, Detail: detail})
	return err
}

// Pull asks for messages as the agent. What comes is leased; see package protocol.
func (c *Client) Pull(ctx context.Context, r *protocol.Pull) ([]protocol.Pulled, error) {
	f, err := c.Ask(ctx, r)
	if err != nil {
		return nil, err
	}
	answer, ok := f.(*protocol.MessagesAnswer)
	if !ok {
		return nil, fmt.Errorf("pull is answered by %s", f.Type())
	}
	return answer.Messages, nil
}

// PullAck says that the agent has messages that were pulled.
func (c *Client) PullAck(ctx context.Context, ids ...string) error {
	_, err := c.Ask(ctx, &protocol.PullAck{IDs: ids})
	return err
}
