package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/vigil"
	"relay-pty/protocol"
)

// awaiting is what the flags of wait say.
type awaiting struct {
	names, states []string
	all, json     bool
	timeout       duration
}

func waitCommand(s streams) *cobra.Command {
	var f awaiting
	c := &cobra.Command{
		Use: "wait NAME...", Short: "Wait until an agent is ready",
		Long: `wait ends when an agent is in one of the states: ` + strings.Join(protocol.States(), ", ") + `.
It prints NAME STATE. With several names the first agent ends the wait; with --all the last one does,
and each is printed as it comes. wait also waits for an agent that doesn't run yet, or is being started
anew. If an agent ends and stays away, and no other can end the wait, the exit status is 1, unless
"exited" was asked for. A name that nobody knows yet is an error (3), but with --timeout wait waits for
it, as in "relay run new … & relay wait new --timeout 10s". After --timeout the exit status is 124, or
3 if nobody knows the name even then.`,
		Example: `  relay wait bob && relay send bob "next, please"
  relay wait bob --state ready,blocked --timeout 10m
  relay wait --all alice bob --timeout 1m`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage{errors.New("wait takes a NAME or several, got 0")}
			}
			for _, name := range args {
				if err := checkWord(c, "NAME", name, protocol.ValidTarget); err != nil {
					return err
				}
				if !slices.Contains(f.names, name) {
					f.names = append(f.names, name)
				}
			}
			if err := f.check(); err != nil {
				return usage{fmt.Errorf("wait: --state: %w", err)}
			}
			return f.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.states, "state", []string{protocol.StateReady}, "wait for one of these `STATES`, with commas between them")
	flags.Lookup("state").DefValue = protocol.StateReady
	flags.BoolVar(&f.all, "all", false, "wait until all of the agents were in one of the states")
	flags.Var(&f.timeout, "timeout", "give up after so long (default never)")
	flags.Lookup("timeout").DefValue = ""
	c.RegisterFlagCompletionFunc("state", oneOf(protocol.States())) // the flag exists
	flags.BoolVar(&f.json, "json", false, "print JSON lines")
	return c
}

func (f *awaiting) check() error {
	if len(f.states) == 0 {
		return errors.New("say which")
	}
	for _, state := range f.states {
		if !slices.Contains(protocol.States(), state) {
			return fmt.Errorf("%q is none of %s", state, strings.Join(protocol.States(), ", "))
		}
	}
	return nil
}

// run waits, and prints who is in which state.
func (f *awaiting) run(ctx context.Context, s streams) error {
	v := vigil.Vigil{
		Names: f.names, States: f.states, All: f.all, Unknown: f.timeout.d > 0, Limit: f.timeout.d, Ask: (&asking{}).ask,
	}
	v.Waits = func(name, is string) {
		if strings.HasSuffix(is, protocol.StateBlocked) {
			is += " (relay screen " + name + " shows by what)"
		}
		if !f.json {
			fmt.Fprintf(s.err, "relay: %s %s; waiting until it is %s\n", name, is, strings.Join(f.states, " or "))
		}
	}
	v.Reached = func(name, state string) (err error) {
		if f.json {
			return s.json(waited{name, state})
		}
		_, err = fmt.Fprintln(s.out, name, state)
		return err
	}
	err := v.Run(ctx)
	if late := (*vigil.LateError)(nil); errors.As(err, &late) {
		fmt.Fprintf(s.err, "relay: %v after %v\n", late, f.timeout.d)
		return exit(exitTimeout)
	}
	return err
}

// waited is what wait prints as JSON.
type waited struct {
	Name  string `json:"name"`
	State string `json:"state"`
}
