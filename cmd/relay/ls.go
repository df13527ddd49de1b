package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
)

func lsCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "ls", Short: "Show the agents, and the channels", Args: noArgs,
		Long: `ls shows the agents that run, then those that did within the last 30 days: their messages wait for
them. Of those it says how they went: left, they ended by themselves; inactive, they were killed or
stopped answering. "stopped (its wrapper)" is an agent whose relay-pty was stopped (SIGSTOP): nothing
is typed until it goes on. Then come the channels, and who is in each.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return answered(c.Context(), s, asJSON, everybody, func(list all) error {
				if err := showAgents(s, list.Agents); err != nil || len(list.Channels) == 0 {
					return err
				}
				return listChannels(s, list.Channels)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// all is what ls shows.
type all struct {
	Agents   []api.Agent   `json:"agents"`
	Channels []api.Channel `json:"channels"`
}

func everybody(ctx context.Context, c *api.Client) (list all, err error) {
	if list.Agents, err = c.Agents(ctx); err == nil {
		list.Channels, err = c.Channels(ctx)
	}
	return list, err
}

// listChannels prints the channels below the agents.
func listChannels(s streams, list []api.Channel) error {
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	return showChannels(newPaper(s.out), append([]api.Channel{{Name: "CHANNEL", Members: []string{"MEMBERS"}}}, list...))
}

func showAgents(s streams, list []api.Agent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: no agent is known; start one: relay run alice -- claude")
		return err
	}
	rows := [][]string{{"NAME", "STATE", "AGENT", "WAITING", "SEEN"}}
	for _, running := range []bool{true, false} { // those that are gone last: they are many after a while
		for _, a := range list {
			if a.Running == running {
				rows = append(rows, []string{a.Name, stateOf(a), a.Profile, strconv.Itoa(a.Waiting), seen(a)})
			}
		}
	}
	return newPaper(s.out).table(rows)
}

// seen is when the agent was last there.
func seen(a api.Agent) string {
	if a.Running {
		return "now"
	}
	return ago(a.SeenAt)
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

// ago is how long it is since a time, in one unit.
func ago(at int64) string {
	if at <= 0 {
		return "-" // nobody has noted it
	}
	return short(time.Since(time.UnixMilli(at))) + " ago"
}

// short is a length of time in one unit. What is to come was a moment ago: the clock was set back.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
