package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// watching is what the flags of events say.
type watching struct {
	api.Query
	follow, wait, json, text bool
	last                     int
}

func eventsCommand(s streams) *cobra.Command {
	var f watching
	c := &cobra.Command{
		Use: "events", Short: "Show what happened, and what happens",
		Long: `events shows the log: messages, what became of them, and the agents' states. Messages between agents
are not secret: every program of your user can read them.`,
		Example: `  relay events --follow
  relay events --after 120 --event message --target bob --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return events(c, s, &f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.follow, "follow", false, "go on with what happens")
	flags.BoolVar(&f.wait, "wait", false, "wait for the next events, and end")
	flags.StringSliceVar(&f.Types, "event", nil, "only events of these `TYPES`, as message,inject_result,state")
	c.RegisterFlagCompletionFunc("event", oneOf(router.EventTypes())) // the flag exists
	flags.Int64Var(&f.After, "after", 0, "only events after the one of this `NUMBER` (default all; with --follow or --wait, what comes)")
	flags.IntVar(&f.last, "last", 0, "only the newest `N` of them, before those that come (default all)")
	flags.StringVar(&f.Target, "target", "any", "only events of the agent `NAME`; self, any")
	flags.BoolVar(&f.json, "json", false, "print JSON lines")
	flags.BoolVar(&f.text, "text", false, "print text")
	return c
}

func events(c *cobra.Command, s streams, f *watching) error {
	switch {
	case f.follow && f.wait:
		return usage{errors.New("events: --follow and --wait exclude each other")}
	case f.json && f.text:
		return usage{errors.New("events: --json and --text exclude each other")}
	case f.wait && f.last > 0:
		return usage{errors.New("events: --wait and --last exclude each other")}
	}
	for _, kind := range f.Types {
		if !slices.Contains(router.EventTypes(), kind) {
			return usage{fmt.Errorf("events: --event: %q is none of %s", kind, strings.Join(router.EventTypes(), ", "))}
		}
	}
	if err := checkLast("events", f.last, f.After); err != nil {
		return err
	}
	ctx := c.Context()
	asked, err := connect(ctx)
	if err != nil {
		return err
	}
	if (f.follow || f.wait) && !c.Flags().Changed("after") && f.last == 0 {
		f.After = api.FromNow
	}
	out := bufio.NewWriter(s.out)
	show := text
	if f.json {
		show = jsonLine
	}
	if f.last > 0 {
		err := f.newest(ctx, asked, func(e router.Event) error { return show(out, paper.New(s.out), e) })
		if err != nil || !f.follow {
			return errors.Join(err, out.Flush())
		}
	}
	f.Known = !f.follow && !f.wait // else it may be yet to come
	if f.follow || f.wait {
		f.Wait = api.LongWait
	}
	for {
		page, err := f.page(ctx, asked)
		switch {
		case ctx.Err() != nil:
			return nil // told to end, with all that came written
		case err != nil:
			return err
		}
		for _, e := range page.Events {
			if err := show(out, paper.New(s.out), e); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if len(page.Events) == 0 && !f.follow && !f.wait || len(page.Events) > 0 && f.wait {
			return nil
		}
	}
}

// page is the next events; it notes where it was.
func (f *watching) page(ctx context.Context, asked *asking) (api.Events, error) {
	page, err := asks(ctx, asked, func(c *api.Client) (api.Events, error) { return c.Events(ctx, f.Query) })
	if err == nil {
		f.After = page.Cursor
	}
	return page, err
}

// newest shows the last events that are kept.
func (f *watching) newest(ctx context.Context, asked *asking, show func(router.Event) error) error {
	f.Known = true
	var list []router.Event
	for {
		page, err := f.page(ctx, asked)
		if err != nil {
			return err
		}
		if len(page.Events) == 0 {
			break
		}
		list = append(list, page.Events...)
		list = slices.Clone(list[max(0, len(list)-f.last):])
	}
	for _, e := range list {
		if err := show(e); err != nil {
			return err
		}
	}
	return nil
}

func jsonLine(w io.Writer, _ paper.Paper, e router.Event) error {
	return json.NewEncoder(protocol.Escaping{Writer: w}).Encode(e)
}

// text shows an event in a line, and a message's body behind it.
func text(w io.Writer, p paper.Paper, e router.Event) error {
	number := fmt.Sprintf("%s %5d ", clock.At(e.Timestamp), e.Seq)
	_, err := fmt.Fprintf(w, "%s%s\n", number, p.Behind(describe(e), len(number)))
	if err == nil && (e.Type == router.TypeMessage || e.Type == router.TypeReminder) {
		_, err = fmt.Fprintln(w, p.Indent(e.Body, len(number)))
	}
	return err
}

func describe(e router.Event) string {
	switch e.Type {
	case router.TypeMessage:
		line := fmt.Sprintf("%s → %s  %s", e.From, e.To, e.ShownID())
		if e.ReplyTo != "" {
			line += " answers " + e.ReplyTo
		}
		if e.Mode != protocol.ModeSequential {
			line += " " + e.Mode
		}
		if e.Redelivers != "" {
			line += " sends " + e.Redelivers + " again"
		}
		if len(e.Recipients) > 0 {
			line += " to " + strings.Join(e.Recipients, ", ")
		}
		return line
	case router.TypeReminder:
		return fmt.Sprintf("%s → %s  %s at %s", e.From, e.To, e.ShownID(), clock.At(e.DueAt))
	case router.TypeJoined:
		return e.Agent + " joins " + e.To
	case router.TypeLeft:
		return e.Agent + " leaves " + e.To
	case router.TypeRefused:
		return fmt.Sprintf("%s → %s  refused: %s", e.From, e.To, e.Error.Message)
	case protocol.TypeMarkerInvalid:
		return fmt.Sprintf("%s wrote a marker that is none (%s): %s", e.Agent, e.Reason, paper.FirstLine(e.Raw))
	case router.TypeUp:
		return fmt.Sprintf("%s runs (%s)", e.Agent, e.Profile)
	case router.TypeDown:
		return withReason(e.Agent+" no longer runs", e.Reason)
	case router.TypeMemberJoined:
		return fmt.Sprintf("%s joined (%s)", e.Agent, e.Profile)
	case router.TypeMemberLeft:
		return withReason(e.Agent+" is away", e.Reason)
	case router.TypeKeys:
		line := fmt.Sprintf("%s pressed %s in %s", e.From, strings.Join(e.Keys, " "), e.Agent)
		if e.Error != nil {
			line += ", and no more: " + e.Error.Message
		}
		return line
	case router.TypeCancelAsked:
		return fmt.Sprintf("%s is to be cancelled as soon as %s runs", e.ShownID(), e.Agent)
	case router.TypeChainPaused, router.TypeChainResumed, router.TypeChainEnded:
		return fmt.Sprintf("the chain of %s %s", e.ShownID(), course(e))
	case router.TypePaused:
		return e.Agent + " is paused " + pauseEnd(e.Agent, e.Until)
	case router.TypeResumed:
		return withReason(e.Agent+" is resumed", e.Reason)
	case protocol.TypeWaiting:
		if e.WaitingFor == "" {
			return fmt.Sprintf("%s waits no more  (%s)", e.ShownID(), e.Agent)
		}
		return fmt.Sprintf("%s waits for %s  (%s)", e.ShownID(), e.WaitingFor, e.Agent)
	case protocol.TypeTurnEnd:
		return turnEnd(e)
	}
	if e.Code != nil {
		return fmt.Sprintf("%s ended with exit status %d", e.Agent, *e.Code)
	}
	if e.ID != "" {
		return strings.TrimRight(fmt.Sprintf("%s %s %s %s", e.ShownID(), e.Status, e.Evidence, reason(e.Error)), " ") + "  (" + e.Agent + ")"
	}
	if e.State != "" {
		return strings.TrimRight(fmt.Sprintf("%s is %s %s", e.Agent, e.State, e.BlockedBy), " ")
	}
	return fmt.Sprintf("%s: %s", e.Agent, e.Type)
}

// withReason is a sentence about somebody who went away, and why.
func withReason(sentence, why string) string {
	if why == "" { // of an older router
		return sentence
	}
	return sentence + " (" + why + ")"
}

func reason(e *router.ErrorValue) string {
	if e == nil {
		return ""
	}
	return e.Message
}

// turnEnd is how a turn ended, in text.
func turnEnd(e router.Event) string {
	says := " ended its turn"
	if len(e.IDs) > 0 {
		says = fmt.Sprintf(", given %s, ended its turn", strings.Join(e.IDs, ", "))
	}
	switch e.Outcome {
	case "", protocol.OutcomeAnswered:
	case protocol.OutcomeRefused:
		says += ", refused (" + e.Reason + ")"
	default:
		says += ", " + e.Outcome
	}
	if e.Background {
		says += ", with work going on in the background"
	}
	if e.Body != "" {
		says += ": " + paper.FirstLine(e.Body)
	}
	return e.Agent + says
}
