package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// awaiting is what the flags of wait say.
type awaiting struct {
	name    string
	states  []string
	timeout duration
	json    bool
}

func waitCommand(s streams) *cobra.Command {
	var f awaiting
	c := &cobra.Command{
		Use: "wait NAME", Short: "Wait until an agent is ready",
		Long: `wait ends when the agent is in one of the states: ` + strings.Join(protocol.States(), ", ") + `.
It prints the state. An agent that does not run yet is waited for, and one that is started anew, too;
when one ends and stays away, the wait ends with exit status 1, unless exited was asked for. After
--timeout the exit status is 124; it is 3 when nobody knows the agent.`,
		Example: `  relay wait bob && relay send bob "next, please"
  relay wait bob --state ready,blocked --timeout 10m`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{fmt.Errorf("wait takes one NAME, got %d", len(args))}
			}
			if err := checkWord(c, "NAME", args[0], protocol.ValidTarget); err != nil {
				return err
			}
			f.name = args[0]
			if err := f.check(); err != nil {
				return usage{fmt.Errorf("wait: --state: %w", err)}
			}
			return f.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.states, "state", []string{protocol.StateReady}, "wait for one of these `STATES`, with commas between them")
	flags.Lookup("state").DefValue = protocol.StateReady
	flags.Var(&f.timeout, "timeout", "give up after so long (default never)")
	flags.Lookup("timeout").DefValue = ""
	c.RegisterFlagCompletionFunc("state", oneOf(protocol.States())) // the flag exists
	flags.BoolVar(&f.json, "json", false, "print JSON")
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

// errTimeout is why a wait ends that was in vain.
var errTimeout = errors.New("the time is over")

// run waits, and prints the state.
func (f *awaiting) run(parent context.Context, s streams) error {
	ctx := parent
	if f.timeout.d > 0 {
		limited, cancel := context.WithTimeoutCause(parent, f.timeout.d, errTimeout)
		defer cancel()
		ctx = limited
	}
	state, err := f.wait(ctx, s)
	switch {
	case errors.Is(context.Cause(ctx), errTimeout) && parent.Err() == nil && err != nil:
		fmt.Fprintf(s.err, "relay: %s is not %s after %v\n", f.name, strings.Join(f.states, " or "), f.timeout.d)
		return exit(exitTimeout)
	case err != nil:
		return err
	case f.json:
		return s.json(waited{f.name, state})
	}
	_, err = fmt.Fprintln(s.out, state)
	return err
}

// waited is what wait prints as JSON.
type waited struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// wait returns the state for which it waited. First it asks how the agent is, then it goes by the
// events since, so that no state is missed, however short. A router that is new may still hear of
// events that are old; at those, and at a new wrapper, it asks again.
func (f *awaiting) wait(ctx context.Context, s streams) (state string, err error) {
	asked, err := connect(ctx)
	if err != nil {
		return "", err
	}
	q := api.Query{Target: f.name, Wait: api.LongWait, Types: []string{protocol.TypeState, router.TypeUp, router.TypeDown, router.TypeMemberLeft}}
	err = asked.ask(ctx, func(c *api.Client) (err error) { q.After, err = c.Cursor(ctx); return err })
	if err != nil {
		return "", err
	}
	began := time.Now().UnixMilli()
	if state, err = f.present(ctx, asked); err != nil || slices.Contains(f.states, state) {
		return state, err
	}
	here := state != protocol.StateExited
	f.sayWaits(s, state)
	for {
		var page api.Events
		err := asked.ask(ctx, func(c *api.Client) (err error) { page, err = c.Events(ctx, q); return err })
		if err != nil {
			return "", err
		}
		q.After = page.Cursor
		for _, e := range page.Events {
			switch {
			case e.Type == router.TypeMemberLeft && here:
				return "", fmt.Errorf("%s ended before it was %s (%s)", f.name, strings.Join(f.states, " or "), e.Reason)
			case e.Type == router.TypeMemberLeft:
				continue // it had ended when we came
			case e.Type == router.TypeDown:
				state = protocol.StateExited
			case e.Type == protocol.TypeState && e.Timestamp >= began:
				state = e.State
			default:
				here = true
				if state, err = f.present(ctx, asked); err != nil {
					return "", err
				}
			}
			if slices.Contains(f.states, state) {
				return state, nil
			}
		}
	}
}

// sayWaits tells what the wait is for.
func (f *awaiting) sayWaits(s streams, state string) {
	is := "is " + state
	switch state {
	case protocol.StateExited:
		is = "does not run"
	case "":
		is = "has just ended"
	}
	if !f.json {
		fmt.Fprintf(s.err, "relay: %s %s; waiting until it is %s\n", f.name, is, strings.Join(f.states, " or "))
	}
}

// present is the state in which the agent is now.
func (f *awaiting) present(ctx context.Context, asked *asking) (string, error) {
	var a api.AgentStatus
	err := asked.ask(ctx, func(c *api.Client) (err error) { a, err = c.Agent(ctx, f.name); return err })
	var refused *router.ErrorValue
	switch {
	case errors.As(err, &refused) && refused.Code == api.NotRunning:
		return "", nil // it has just ended: the events will tell
	case err != nil:
		return "", err
	case !a.Running:
		return protocol.StateExited, nil
	case a.Wrapper != nil:
		return a.Wrapper.State, nil
	}
	return a.State, nil
}
