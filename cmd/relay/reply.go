package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

func replyCommand(s streams) *cobra.Command {
	var ask api.Answer
	c := &cobra.Command{
		Use: "reply ID [TEXT...]", Short: "Answer a message",
		Long: `reply answers a message; the answer goes to its sender. TEXT - reads standard input. Four
characters that begin an ID are enough if no other id begins with them; "last" is the last message to or from you.`,
		Example: `  relay recv                     shows what was sent to you, with ids
  relay reply m-7wzk03fa "yes"
  relay reply last "yes"`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage{errors.New("reply: say which message: relay reply m-7wzk03fa \"yes\"")}
			}
			if err := checkWord(c, "ID", args[0], protocol.ValidID); err != nil {
				return err
			}
			body, err := bodyOf(s.in, args[1:])
			if err != nil {
				return usage{fmt.Errorf("reply: %w", err)}
			}
			return reply(c, s, args[0], body, ask)
		},
	}
	c.Flags().StringVar(&ask.From, "from", "", "answer as `NAME`, outside of an agent (default human)")
	c.Flags().StringVar(&ask.ID, "id", "", "give the answer this `ID`; sent again with the same one, it is still one message")
	jsonFlag(c)
	return c
}

func reply(c *cobra.Command, s streams, id, body string, ask api.Answer) error {
	ctx := c.Context()
	if ask.ID == "" {
		ask.ID = newID()
	}
	ask.Body, ask.Until, ask.WaitMS = body, router.Queued, api.AcceptWait.Milliseconds()
	id, err := which(ctx, id, ask.From)
	if err != nil {
		return err
	}
	asked, err := connect(ctx)
	if err != nil {
		return err
	}
	m, err := asks(ctx, asked, func(c *api.Client) (api.Message, error) { return c.Reply(ctx, id, ask) })
	if err != nil {
		return inDoubt(ask.ID, err)
	}
	if wantsJSON(c) {
		err = s.json(m)
	} else {
		err = s.showStanding(m)
	}
	if err == nil && m.Error != nil && m.Error.Code == router.AlreadyClosed {
		fmt.Fprintf(s.err, "relay: %s: %s\n", m.Error.Code, m.Error.Message)
		err = exit(exitFailed)
	}
	return err
}

func cancelCommand(s streams) *cobra.Command {
	c := ofOne(s, "ID", (*api.Client).Cancel, s.showStanding)
	c.Use, c.Short = "cancel ID", "Take a message or a reminder back that was not delivered yet"
	c.Long = `cancel takes a message or a reminder back. It is too late when Enter was pressed behind it. What is in
the queue of an agent that does not run is cancelled as soon as that agent runs again. Four
characters that begin an ID are enough if no other id begins with them; "last" is the last message to or from you.

--chain ends the chain of a message: all that its agents have written to each other on account of it, and will.
What they write to people still arrives.`
	chain := c.Flags().Bool("chain", false, "take back all messages of its chain, also those that are yet to come")
	one := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !*chain {
			return one(c, args)
		}
		id, err := which(c.Context(), args[0], "")
		if err != nil {
			return err
		}
		return answered(c, s, func(r *api.Client) (api.Chain, error) { return r.EndChain(c.Context(), id) }, s.showEnded)
	}
	return c
}

func (s streams) showEnded(chain api.Chain) error {
	said := "is ended"
	if !chain.Changed {
		said = "was ended before"
	}
	_, err := fmt.Fprintf(s.out, "the chain of %s %s, %d cancelled\n", chain.ShownID(), said, len(chain.Cancelled))
	return err
}

func redeliverCommand(s streams) *cobra.Command {
	c := ofOne(s, "ID", (*api.Client).Redeliver, s.showStanding)
	c.Use, c.Short = "redeliver ID", "Send a message again that did not arrive, or was refused"
	c.Long = `redeliver sends a message again that failed, expired or is unknown, or whose turn the agent's API refused:
then it is typed when that takes requests again. The new message has an id of its own (ID:r1) and is
marked as a redelivery, because the agent may have seen the first one. Of a message to several recipients
only the copies that did not arrive are sent again. A message that was answered, passed over in silence
or cancelled, or that may still arrive, is not sent again. relay log --dead lists those that failed,
expired or are unknown.`
	return c
}
