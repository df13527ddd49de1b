package main

import (
	"context"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/protocol"
)

func explainCommand(s streams) *cobra.Command {
	var name string
	ask := func(c *api.Client, ctx context.Context, of string) (protocol.ExplainAnswer, error) {
		name = of
		return c.Explain(ctx, of)
	}
	c := ofOne(s, "NAME", ask, func(a protocol.ExplainAnswer) error { return showExplained(s, name, a) })
	c.Use, c.Short = "explain NAME", "Show why an agent's state is what it is"
	c.Long = `explain shows what an agent's state stands on: each sign, since when it has been so, and what it says,
the strongest sign first. The sign that "decides" made the state what it is. A sign that is "broken"
tells of something that keeps messages or answers from their way.`
	return c
}

func showExplained(s streams, name string, a protocol.ExplainAnswer) error {
	p := paper.New(s.out)
	p.Printf("%s %s\n", name, paper.Painted(a.State)) // an error comes again with the table
	if a.BlockedBy != "" {
		p.Printf("  blocked by %s\n", p.Behind(string(a.BlockedBy), len("  blocked by ")))
	}
	rows := [][]string{{"SIGN", "", "SINCE", "SAYS"}}
	for _, sign := range a.Signs {
		role, since := "", "-"
		switch {
		case sign.Fault:
			role = "broken"
		case sign.Wins:
			role = "decides"
		}
		if sign.Since != nil {
			since = clock.Ago(*sign.Since)
		}
		says := paper.FirstLine(sign.Says)
		if sign.Wins && sign.Says == string(a.BlockedBy) {
			says = "see above"
		}
		rows = append(rows, []string{sign.Name, role, since, says})
	}
	return p.Table(rows)
}
