package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/protocol"
)

func pauseCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use: "pause NAME [DURATION]", Short: "Let nothing be typed into an agent",
		Long: `pause holds the messages to an agent, for a DURATION or until relay resume. Urgent messages wait, too,
and messages with a timeout expire. A message that is being typed is finished, and your own keys are
never held. A pause outlives the router and the agent.`,
		Example: `  relay pause bob 30m
  relay pause bob && vi notes.md; relay resume bob`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return usage{fmt.Errorf("pause takes a NAME, and perhaps a DURATION, got %d arguments", len(args))}
			}
			if err := checkWord(c, "NAME", args[0], protocol.ValidTarget); err != nil {
				return err
			}
			var d time.Duration
			if len(args) == 2 {
				var err error
				if d, err = settings.Duration(args[1]); err != nil {
					return usage{fmt.Errorf("pause: %w", err)}
				}
				if d < time.Millisecond {
					return usage{fmt.Errorf("pause: %s is no time to pause for; without one it is until relay resume", args[1])}
				}
			}
			ask := func(r *api.Client) (api.Agent, error) { return r.Pause(c.Context(), args[0], d) }
			return answered(c, s, ask, s.showSteered)
		},
	}
	jsonFlag(c)
	return c
}

func resumeCommand(s streams) *cobra.Command {
	c := ofOne(s, "NAME or ID", (*api.Client).Resume, s.showSteered)
	c.Use, c.Short = "resume NAME|ID", "Let messages be typed again, or a chain go on"
	c.Long = `resume NAME ends a pause: what waits for the agent is typed as ever. Where the API of the agent's model refused
a turn, the message that goes next is tried at once; relay status NAME tells when it would be.

resume ID lets the chain of that message go on, as far again. A chain is paused when its agents did nothing but
talk to each other for 8 turns in a row (the setting max_hops), or have written 500 messages (max_chain). Its
messages wait for "paused" then, and relay events has "chain_paused". relay cancel --chain ID ends it.`
	c.Example = "  relay events --event chain_paused\n  relay resume m-7wzk03fa"
	named, one := c.Args, c.RunE
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && protocol.ValidID(args[0]) == nil {
			return nil // one with a colon is no name
		}
		return named(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := one(c, args)
		unknown, id := refusedAs(err, router.UnknownAgent), ""
		if unknown == nil {
			return err
		}
		id, err = which(c.Context(), args[0], "")
		if none := refusedAs(err, string(protocol.UnknownID)); none != nil && len(none.Candidates) == 0 {
			unknown.Message += ", and no message has that id"
			return unknown
		}
		if err != nil {
			return err
		}
		return answered(c, s, func(r *api.Client) (api.Chain, error) { return r.ResumeChain(c.Context(), id) }, s.showResumed)
	}
	return c
}

// refusedAs is a refusal of that code, or nil.
func refusedAs(err error, code string) *router.ErrorValue {
	if refused := (*router.ErrorValue)(nil); errors.As(err, &refused) && refused.Code == code {
		return refused
	}
	return nil
}

func (s streams) showResumed(chain api.Chain) error {
	said := "is not paused"
	if chain.Changed {
		said = "goes on"
	}
	_, err := fmt.Fprintf(s.out, "the chain of %s %s\n", chain.ShownID(), said)
	return err
}

// course is what an event says of a chain.
func course(e router.Event) string {
	switch e.Type {
	case router.TypeChainPaused:
		return fmt.Sprintf("is paused (%s): relay resume %s lets it go on, relay cancel --chain %[2]s ends it", e.Reason, e.ShownID())
	case router.TypeChainResumed:
		return "goes on"
	}
	return "is ended"
}

func (s streams) showSteered(a api.Agent) error {
	said := "is not paused"
	if a.Paused {
		said = "is paused " + pauseEnd(a.Name, a.PausedUntil)
	}
	_, err := fmt.Fprintf(s.out, "%s %s\n", a.Name, said)
	return err
}

// pauseEnd says how long a pause lasts.
func pauseEnd(name string, until int64) string {
	if until == 0 {
		return "until relay resume " + name
	}
	return "until " + clock.At(until)
}
