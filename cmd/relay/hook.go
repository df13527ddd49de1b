package main

import (
	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/hook"
	"relay-pty/inject/agents"
)

const hookName = "hook"

func hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: hookName + " AGENT EVENT", Short: "What agents run at moments of their own",
		Long: `Agents run hook by themselves, as relay run has set it up. At an EVENT of an
AGENT it tells the wrapper how the agent is, and hands the agent important messages as context, beside a draft, a dialog or a turn.
Outside of an agent, or when anything goes wrong, hook does nothing and succeeds.`,
		DisableFlagParsing: true, ValidArgsFunction: hookWords,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return c.Help()
			}
			if code := hook.Ours().Run(args); code != 0 {
				return exit(code)
			}
			return nil
		},
	}
}

// hookWords completes an agent that has hooks, and its events.
func hookWords(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	for _, name := range agents.Names() {
		p, _ := agents.Named(name)
		switch {
		case p.Hooks == nil || len(args) > 1:
		case len(args) == 0:
			words = append(words, name)
		case args[0] == name:
			for _, h := range p.Hooks.Events {
				words = append(words, h.Event)
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
