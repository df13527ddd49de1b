// Package vigil waits until agents are in one of some states, by the router's events: no state is
// missed, however short.
package vigil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Vigil is a wait for agents.
type Vigil struct {
	Names   []string      // who is waited for
	States  []string      // until an agent is in one of these
	All     bool          // until all agents were; else the first one ends the wait
	Unknown bool          // a name that nobody knows is waited for, too
	Limit   time.Duration // how long the wait is at most; 0: without end
	// Ask calls f with a client, and with that of the next router when the router ends.
	Ask func(ctx context.Context, f func(*api.Client) error) error
	// Waits is told of each agent that is not there yet, and how that agent is.
	Waits func(name, is string)
	// Reached is told of each agent that has come to one of the states.
	Reached func(name, state string) error

	began   int64 // Unix milliseconds
	pending []*watched
}

// watched is one agent that is waited for.
type watched struct {
	name    string
	here    bool               // it was seen running
	unknown *router.ErrorValue // nobody knows it
}

// Run waits until the vigil is over, or ctx is. Each agent is looked at once, however short the
// time is. An agent that ends and stays away is an error where no other one may come to a state
// instead.
func (v *Vigil) Run(ctx context.Context) error {
	v.pending = nil
	for _, name := range v.Names {
		v.pending = append(v.pending, &watched{name: name})
	}
	limited := ctx
	if v.Limit > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, v.Limit, errTime)
		defer cancel()
		limited = timed
	}
	err := v.run(ctx, limited)
	if errors.Is(err, errTime) {
		return v.lacking()
	}
	return err
}

// run looks, as long as ctx lasts, and then waits, as long as limited does.
func (v *Vigil) run(ctx, limited context.Context) error {
	q := api.Query{Wait: api.LongWait, Types: []string{protocol.TypeState, router.TypeUp, router.TypeDown, router.TypeMemberLeft}}
	if len(v.Names) == 1 {
		q.Target = v.Names[0]
	}
	err := v.Ask(ctx, func(c *api.Client) (err error) { q.After, err = c.Cursor(ctx); return err })
	if err != nil {
		return err
	}
	v.began = time.Now().UnixMilli()
	if err := v.first(ctx); err != nil {
		return err
	}
	for len(v.pending) > 0 {
		var page api.Events
		err := v.Ask(limited, func(c *api.Client) (err error) { page, err = c.Events(limited, q); return err })
		if err != nil {
			return err
		}
		q.After = page.Cursor
		for _, e := range page.Events {
			if err := v.heard(limited, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// first asks how each agent is. What happens meanwhile the events tell.
func (v *Vigil) first(ctx context.Context) error {
	for _, w := range slices.Clone(v.pending) {
		state, err := v.present(ctx, w)
		if err != nil {
			return err
		}
		w.here = state != protocol.StateExited && w.unknown == nil
		if done, err := v.reached(w, state); done || err != nil {
			if len(v.pending) == 0 || err != nil {
				return err
			}
			continue
		}
		v.Waits(w.name, w.is(state))
	}
	return nil
}

// is says how an agent is that is waited for.
func (w *watched) is(state string) string {
	switch {
	case w.unknown != nil:
		is := "is not known yet"
		if like := w.unknown.Candidates; len(like) > 0 {
			is += " (did you mean " + strings.Join(like, " or ") + "?)"
		}
		return is
	case state == protocol.StateExited:
		return "does not run"
	case state == "":
		return "has just ended"
	}
	return "is " + state
}

// heard takes an event in. A router that is new may still hear of events that are old; at those,
// and at a new wrapper, the agent is asked again.
func (v *Vigil) heard(ctx context.Context, e router.Event) (err error) {
	i := slices.IndexFunc(v.pending, func(w *watched) bool { return w.name == e.Agent })
	if i < 0 {
		return nil
	}
	w, state := v.pending[i], ""
	switch {
	case e.Type == router.TypeMemberLeft && w.here:
		return v.ended(w, e.Reason)
	case e.Type == router.TypeMemberLeft:
		return nil // it had ended when we came
	case e.Type == router.TypeDown:
		state = protocol.StateExited
	case e.Type == protocol.TypeState && e.Timestamp >= v.began:
		state, w.unknown = e.State, nil
	default:
		w.here, w.unknown = true, nil
		if state, err = v.present(ctx, w); err != nil {
			return err
		}
	}
	_, err = v.reached(w, state)
	return err
}

// reached notes an agent that is where it is waited for.
func (v *Vigil) reached(w *watched, state string) (done bool, err error) {
	if w.unknown != nil || !slices.Contains(v.States, state) {
		return false, nil
	}
	v.leave(w)
	if !v.All {
		v.pending = nil
	}
	return true, v.Reached(w.name, state)
}

// ended gives an agent up that went away.
func (v *Vigil) ended(w *watched, reason string) error {
	if v.leave(w); !v.All && len(v.pending) > 0 {
		v.Waits(w.name, "ended ("+reason+")")
		return nil
	}
	return fmt.Errorf("%s ended before it was %s (%s)", w.name, v.wanted(), reason)
}

func (v *Vigil) leave(w *watched) {
	v.pending = slices.DeleteFunc(v.pending, func(o *watched) bool { return o == w })
}

func (v *Vigil) wanted() string { return strings.Join(v.States, " or ") }

// present is the state in which an agent is now.
func (v *Vigil) present(ctx context.Context, w *watched) (string, error) {
	var a api.AgentStatus
	err := v.Ask(ctx, func(c *api.Client) (err error) { a, err = c.Agent(ctx, w.name); return err })
	var refused *router.ErrorValue
	switch errors.As(err, &refused); {
	case refused != nil && refused.Code == api.NotRunning:
		return "", nil // it has just ended: the events will tell
	case refused != nil && refused.Code == router.UnknownAgent && v.Unknown:
		w.unknown = refused
		return "", nil
	case err != nil:
		return "", err
	case !a.Running:
		return protocol.StateExited, nil
	case a.WrapperStopped && !slices.Contains(v.States, protocol.StateStopped): // no event may tell that it is over
		return "", fmt.Errorf("the wrapper of %s is stopped, so nobody knows how %s is: relay doctor tells the way out", w.name, w.name)
	case a.Wrapper != nil:
		return a.Wrapper.State, nil
	}
	return a.State, nil
}

// errTime is the cause of the context that ends a wait when its time is over.
var errTime = errors.New("the time is over")

// lacking says who did not come in time. Where nobody knows any of them, that is the error.
func (v *Vigil) lacking() error {
	names, unknown := []string{}, 0
	for _, w := range v.pending {
		if names = append(names, w.name); w.unknown != nil {
			unknown++
		}
	}
	switch {
	case unknown == 1 && len(names) == 1:
		return v.pending[0].unknown
	case unknown == len(names) && unknown > 0:
		return &router.ErrorValue{Code: router.UnknownAgent, Message: "no agent is named " + strings.Join(names, ", nor ")}
	case len(names) == 1:
		return &LateError{names[0] + " is not " + v.wanted()}
	case v.All:
		return &LateError{strings.Join(names, ", ") + " are not " + v.wanted()}
	}
	return &LateError{"none of " + strings.Join(names, ", ") + " is " + v.wanted()}
}

// LateError is that the time was over.
type LateError struct{ who string }

func (e *LateError) Error() string { return e.who }
