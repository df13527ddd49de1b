package hook

import (
	"github.com/spf13/cobra"

	"relay-pty/inject/agents"
)

// Complete completes AGENT EVENT: an agent that has hooks, and its events.
func Complete(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
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
