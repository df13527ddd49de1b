package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/inject/profile/keys"
	"relay-pty/protocol"
)

func keysCommand(s streams) *cobra.Command {
	var from string
	c := &cobra.Command{
		Use: "keys NAME KEY...", Short: "Press keys in an agent",
		Long: `keys presses keys in an agent, for a script that answers a dialog on purpose: Enter, Esc, Tab, Space,
Backspace, Up, Down, Left, Right, Home, End, Delete, PageUp, PageDown, C-x, M-x, or a character. The
agent must have been started with --allow-command. relay-pty presses the keys one by one, never within
a message or a key of yours, also while the agent is paused. The command ends when the agent has read
the keys, with exit status 1 if it has not read all. relay screen shows what they did.`,
		Example: `  relay screen bob
  relay keys bob Down Enter`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkKeys(args); err != nil {
				return usage{fmt.Errorf("keys: %w", err)}
			}
			if err := checkWord(c, "NAME", args[0], protocol.ValidTarget); err != nil {
				return err
			}
			return press(c, s, args[0], api.Keys{Keys: args[1:], From: from})
		},
		ValidArgsFunction: completeKeys,
	}
	c.Flags().StringVar(&from, "from", "", "press them as `NAME`, outside of an agent (default human)")
	jsonFlag(c)
	return c
}

func checkKeys(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("say where and which: relay keys bob Down Enter")
	}
	if n := len(args) - 1; n > protocol.MaxKeys {
		return fmt.Errorf("%d keys are too many, %d the most", n, protocol.MaxKeys)
	}
	for _, name := range args[1:] {
		if _, err := keys.Press(name, false); err != nil {
			return err
		}
	}
	return nil
}

// press asks once: keys that nobody knows of may have been pressed.
func press(c *cobra.Command, s streams, name string, ask api.Keys) error {
	asked, err := connect(c.Context())
	if err != nil {
		return err
	}
	done, err := asked.client.Load().Keys(c.Context(), name, ask)
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		err = s.json(done)
	} else if done.Error != nil {
		fmt.Fprintf(s.err, "relay: %s has read %d of %d keys: %s\n", name, done.Pressed, len(ask.Keys), done.Error.Message)
	}
	if err == nil && done.Error != nil {
		return exit(exitFailed)
	}
	return err
}

// completeKeys fills in an agent's name, then keys.
func completeKeys(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completing(here)(c, args, word)
	}
	return keys.Names(), cobra.ShellCompDirectiveNoFileComp
}
