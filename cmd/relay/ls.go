package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
)

func lsCommand(s streams) *cobra.Command {
	var gone bool
	c := &cobra.Command{
		Use: "ls", Short: "Show the agents, and the channels", Args: noArgs,
		Long: `ls shows the agents that run, then those that don't and for which messages wait. With --all it shows
every agent of the last 30 days. An agent that doesn't run is "left" if it ended by itself, and
"inactive" if it was killed or stopped answering. "stopped (its wrapper)" is an agent whose relay-pty
was stopped (SIGSTOP): nothing is typed until that goes on. Below the agents ls shows the channels and
their members. Standard error tells how many agents were left out, and of messages that did not
arrive within the last day.`,
		RunE: func(c *cobra.Command, _ []string) error {
			shown := func(r *api.Client) (all, error) { return everybody(c.Context(), r, gone) }
			return answered(c, s, shown, func(list all) error {
				err := showAgents(s, list.Agents)
				if err == nil && len(list.Channels) > 0 {
					err = listChannels(s, list.Channels)
				}
				if list.leftOut > 0 {
					fmt.Fprintf(s.err, "relay: %d more don't run: relay ls --all\n", list.leftOut)
				}
				if list.DeadLetters > 0 {
					fmt.Fprintf(s.err, "relay: %v: relay log --dead\n", list.lately)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&gone, "all", false, "show agents that don't run, too")
	jsonFlag(c)
	return c
}

// all is what ls shows.
type all struct {
	Agents   []api.Agent   `json:"agents"`
	Channels []api.Channel `json:"channels"`
	// DeadLetters are how many messages of the last day did not arrive, up to a hundred.
	DeadLetters int `json:"dead_letters"`
	lately      api.Lately
	leftOut     int // agents that don't run, and for which nothing waits
}

// everybody asks for what ls shows, with those that are gone.
func everybody(ctx context.Context, c *api.Client, gone bool) (list all, err error) {
	if list.Agents, err = c.Agents(ctx); err == nil {
		list.Channels, err = c.Channels(ctx)
	}
	if before := len(list.Agents); !gone {
		list.Agents = slices.DeleteFunc(list.Agents, func(a api.Agent) bool { return !a.Running && a.Waiting == 0 })
		list.leftOut = before - len(list.Agents)
	}
	if err == nil {
		list.lately, err = c.Lately(ctx)
		list.DeadLetters = list.lately.Count
	}
	return list, err
}

// listChannels prints the channels below the agents.
func listChannels(s streams, list []api.Channel) error {
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	return showChannels(paper.New(s.out), append([]api.Channel{{Name: "CHANNEL", Members: []string{"MEMBERS"}}}, list...))
}

func showAgents(s streams, list []api.Agent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: no agent runs; start one: relay run alice -- claude")
		return err
	}
	rows := [][]string{{"NAME", "STATE", "AGENT", "WAITING", "SEEN"}}
	for _, running := range []bool{true, false} { // those that are gone last: they may be many
		for _, a := range list {
			if a.Running == running {
				rows = append(rows, []string{a.Name, stateOf(a), a.Profile, strconv.Itoa(a.Waiting), seen(a)})
			}
		}
	}
	return paper.New(s.out).Table(rows)
}

// seen is when the agent was last there.
func seen(a api.Agent) string {
	if a.Running {
		return "now"
	}
	return clock.Ago(a.SeenAt)
}

// gone is the state of an agent that does not run.
const gone = "gone"

// stateOf is the state of an agent in one word, why it is gone, and whether it is paused.
func stateOf(a api.Agent) string {
	state, more := a.State, []string{}
	switch {
	case !a.Running:
		state = gone
		if a.Reason != "" {
			more = append(more, a.Reason)
		}
	case state == "":
		state = "starting"
	}
	if a.WrapperStopped {
		more = append(more, "its wrapper")
	}
	if a.Paused {
		more = append(more, "paused")
	}
	if len(more) == 0 {
		return state
	}
	return state + " (" + strings.Join(more, ", ") + ")"
}
