package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay-pty/protocol"
)

// strictly refuses what cobra lets pass: help and completion of what there is not.
func strictly(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					rest = args
				}
				return noCommand(found, rest)
			}
		case "completion":
			c.Args = nil
			c.RunE = func(*cobra.Command, []string) error {
				return usage{fmt.Errorf("completion: say for which shell: bash, zsh, fish or powershell")}
			}
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// words are flags that name somebody or something.
var words = map[string]func(string) error{
	"from": protocol.ValidTarget, "as": protocol.ValidTarget,
	"to": protocol.ValidTarget, "target": protocol.ValidTarget,
	"id": protocol.ValidID, "reply-to": protocol.ValidID, "thread": protocol.ValidID,
}

// checkWords refuses flags whose words are none.
func checkWords(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if valid := words[f.Name]; valid != nil && err == nil && f.Value.String() != "" {
			err = checkWord(c, "--"+f.Name, f.Value.String(), valid)
		}
	})
	return err
}

// checkWord refuses a word that cannot be what it is to be.
func checkWord(c *cobra.Command, what, word string, valid func(string) error) error {
	if err := valid(word); err != nil {
		return usage{fmt.Errorf("%s: %s: %q: %w", c.Name(), what, word, err)}
	}
	return nil
}
