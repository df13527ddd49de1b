package sock

import (
	"context"
	"fmt"

	"relay-pty/protocol"
)

// Speak makes the connection speak as the agent whose token it is.
func (c *Client) Speak(ctx context.Context, token string) error {
	_, err := c.Ask(ctx, &protocol.Hello{Token: token})
	return err
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
