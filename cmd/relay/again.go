package main

import (
	"context"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
)

func redeliverCommand(s streams) *cobra.Command {
	ask := func(ctx context.Context, c *api.Client, id string) (api.Message, error) { return c.Redeliver(ctx, id) }
	c := ofOne(s, "ID", ask, s.showStanding)
	c.Use, c.Short = "redeliver ID", "Send a message again that did not arrive"
	c.Long = `redeliver sends a message again that failed, expired or is unknown. The new message has an id of its
own (ID:r1) and is marked as a redelivery, because the agent may have seen the first one. Of a message
to several recipients only the copies that did not arrive are sent again. A message that was delivered
or cancelled, or that may still arrive, is not sent again. relay log --dead lists the candidates.`
	return c
}
