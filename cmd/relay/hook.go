package main

import (
	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/hook"
)

const hookName = "hook"

func hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: hookName + " AGENT EVENT", Short: "What agents run at moments of their own",
		Long: `Agents run hook by themselves, as relay run has set it up. At an EVENT of an AGENT it tells the wrapper how
the agent is, and hands the agent important messages as context, beside a draft, a dialog or a turn.
Outside of an agent, or when anything goes wrong, hook does nothing and succeeds; a sandbox that forbids
sockets it names on standard error.`,
		DisableFlagParsing: true, ValidArgsFunction: hook.Complete,
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
