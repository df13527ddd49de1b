package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/demo"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/paper"
)

func demoCommand(s streams) *cobra.Command {
	o := demo.Options{Out: s.out}
	c := &cobra.Command{
		Use: "demo", Short: "Show two agents at work, without keys or accounts", Args: noArgs,
		Long: `demo runs two agents that write to each other, with you between them: the real Claude Code and
Codex where they are installed, with fake models on this machine, else small built-in ones. It takes
ten seconds, uses no network, and leaves nothing behind. RELAY_DEMO=builtin is --builtin.`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch v := os.Getenv("RELAY_DEMO"); v {
			case "":
			case "builtin":
				o.Builtin = true
			default:
				return usage{fmt.Errorf("demo: RELAY_DEMO is %q, want builtin or nothing", v)}
			}
			h, err := home.Find("")
			if err == nil {
				_, err = findWrapper()
			}
			if err == nil {
				o.Relay, err = os.Executable()
			}
			if err != nil {
				return err
			}
			o.Log = filepath.Join(h.Store, "demo.log")
			return demo.Run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.Builtin, "builtin", false, "take the built-in agents")
	c.AddCommand(&cobra.Command{
		Use: "agent", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Reset() // a signal ends it at once, for no read of a terminal hears of a context
			return demo.Agent(s.in, paper.Bare(s.out))
		},
	})
	return c
}
