package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/demo"
	"relay-pty/cmd/relay/internal/home"
)

func demoCommand(s streams) *cobra.Command {
	var builtin bool
	c := &cobra.Command{
		Use: "demo", Short: "Show two agents at work, without keys or accounts", Args: noArgs,
		Long: `demo runs two agents that write to each other, with you between them: the real Claude Code and
Codex where they are installed, with fake models on this machine, else small built-in ones. It takes
ten seconds, uses no network, and leaves nothing behind. RELAY_DEMO=builtin is --builtin.`,
		RunE: func(c *cobra.Command, _ []string) error { return play(c.Context(), s, builtin) },
	}
	c.Flags().BoolVar(&builtin, "builtin", false, "take the built-in agents")
	c.AddCommand(&cobra.Command{
		Use: "agent NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ended := make(chan error, 1)
			go func() { ended <- demo.Agent(args[0], s.in, s.out) }()
			select {
			case err := <-ended:
				return err
			case <-c.Context().Done(): // which no read of a terminal hears of
				return context.Cause(c.Context())
			}
		},
	})
	return c
}

// envDemo says which agents the demo takes.
const envDemo = "RELAY_DEMO"

func play(ctx context.Context, s streams, builtin bool) error {
	switch v := os.Getenv(envDemo); v {
	case "":
	case "builtin":
		builtin = true
	default:
		return usage{fmt.Errorf("demo: %s is %q, want builtin or nothing", envDemo, v)}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := findWrapper(); err != nil {
		return err
	}
	h, err := home.Find("")
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Options{Relay: self, Builtin: builtin, Log: filepath.Join(h.Store, "demo.log"), Out: s.out})
}
