package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/tools"
	"relay-pty/protocol/version"
)

func mcpCommand(s streams) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use: "mcp", Short: "Serve relay's tools to an agent (MCP)", Args: noArgs,
		Long: `mcp is an MCP server on standard input and output, which agents start by themselves. Its tools send and
answer messages, wait for events and list agents; each answer of a tool brings the messages that wait.
For the agent's user there are the prompts ask, handoff and inbox, and resources such as relay://agents.

The server speaks as the agent in which it runs, else as --as NAME, else as the human, whose messages
it then takes.`,
		Example: `  claude mcp add --scope user relay -- relay mcp`,
		RunE: func(c *cobra.Command, _ []string) error {
			caller, err := callerOf(as)
			if err != nil {
				return err
			}
			if wrapper, ok := caller.Inbox.(tools.AtWrapper); ok {
				go wrapper.Greet(c.Context()) // ends within seconds
			}
			return tools.Serve(c.Context(), tools.New(version.Release, caller), s.in, s.out)
		},
	}
	c.Flags().StringVar(&as, "as", "", "speak as `NAME`, outside of an agent (default human)")
	return c
}

// callerOf is the agent in which we run, else whoever as says.
func callerOf(as string) (tools.Caller, error) {
	name, err := speaker("mcp", as)
	if err != nil {
		return tools.Caller{}, err
	}
	wrapper := tools.AtWrapper{Socket: os.Getenv("RELAY_SOCKET"), Token: peer.Token()}
	return tools.NewCaller(name, wrapper, (&asking{}).ask, newID), nil
}

func skillCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "skill", Short: "Print what an agent should know of relay", Args: noArgs,
		Long: `skill prints what an agent should know of relay as a skill file, which agents load when they need
it. What the tools of relay mcp tell is the same.`,
		Example: `  mkdir -p ~/.claude/skills/relay && relay skill > ~/.claude/skills/relay/SKILL.md`,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(s.out, tools.Skill())
			return err
		},
	}
}
