package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
)

func lsCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "ls", Short: "Show the agents", Args: noArgs,
		Long: "ls shows the agents that run, and those that did: their messages wait for them.",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			asked, err := connect(ctx)
			if err != nil {
				return err
			}
			var list []api.Agent
			err = asked.ask(ctx, func(c *api.Client) (err error) { list, err = c.Agents(ctx); return err })
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(s.out).Encode(api.Agents{Agents: list})
			}
			return table(s, list)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func table(s streams, list []api.Agent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: no agent is known; start one: relay run alice -- claude")
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tAGENT\tWAITING\tSEEN")
	for _, a := range list {
		state := a.State
		if !a.Running {
			state = "gone"
		} else if state == "" {
			state = "running"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", a.Name, state, a.Profile, a.Waiting, ago(time.Since(time.UnixMilli(a.SeenAt))))
	}
	return w.Flush()
}

// ago is a length of time in one unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
