package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
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
	c := ofOne(s, "NAME", (*api.Client).Resume, s.showSteered)
	c.Use, c.Short = "resume NAME", "Let messages be typed again"
	c.Long = `resume ends a pause: what waits for the agent is typed as ever. Where the API of the agent's model refused
a turn, the message that goes next is tried at once; relay status NAME tells when it would be.`
	return c
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
