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
	c.Long = `redeliver sends a message again that failed, expired or is unknown, under an id of its own (ID:r1) and
marked as a redelivery, for the agent may have seen it. Of a message to several it sends again what
did not arrive. What was delivered, cancelled or may arrive yet is not sent again. relay log --dead
lists what there is.`
	return c
}
