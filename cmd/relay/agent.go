package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/protocol"
)

// ofOne is a command about one thing, named by its only argument; show prints what ask answers.
func ofOne[T any](s streams, what string, ask func(c *api.Client, ctx context.Context, arg string) (T, error), show func(T) error) *cobra.Command {
	c := &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{fmt.Errorf("%s takes one %s, got %d", c.Name(), what, len(args))}
			}
			if what == "ID" {
				return checkWord(c, what, args[0], protocol.ValidID)
			}
			return checkWord(c, what, args[0], protocol.ValidTarget)
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			word := args[0]
			if what == "ID" {
				if word, err = which(c.Context(), word, ""); err != nil {
					return err
				}
			}
			return answered(c, s, func(r *api.Client) (T, error) { return ask(r, c.Context(), word) }, show)
		},
	}
	jsonFlag(c)
	return c
}

// which is the whole id of the message that a word means to whoever asks. It is asked for once, so
// that what is asked again after a crash of the router is about the same message.
func which(ctx context.Context, word, as string) (id string, err error) {
	return asks(ctx, &asking{}, func(c *api.Client) (string, error) { return c.Which(ctx, word, as) })
}

// answered asks the router for a command, and prints what it answers.
func answered[T any](c *cobra.Command, s streams, ask func(*api.Client) (T, error), show func(T) error) error {
	answer, err := asks(c.Context(), &asking{}, ask)
	switch {
	case err != nil:
		return err
	case wantsJSON(c):
		return s.json(answer)
	}
	return show(answer)
}

// showStanding prints what has become of a message.
func (s streams) showStanding(m api.Message) error {
	if m.CancelAsked {
		fmt.Fprintf(s.err, "relay: %s does not run: %s is cancelled as soon as it does\n", m.To, m.ShownID())
	}
	_, err := fmt.Fprintf(s.out, "%s %s\n", m.ID, m.Status)
	return err
}

func statusCommand(s streams) *cobra.Command {
	c := ofOne(s, "NAME", (*api.Client).Agent, func(a api.AgentStatus) error { return showStatus(s, a) })
	c.Use, c.Short = "status [NAME]", "Show how an agent is, or all of them"
	c.Long = `status shows an agent's state, what its wrapper sees, and how many messages wait. Without a NAME it
shows a table of all agents that run. If a draft "stays", messages wait until you send or clear it:
relay-pty can't set it aside, because keys and screen don't agree on its text, or because the agent
has no safe way.`
	one, only := c.Args, c.RunE
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return one(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return only(c, args)
		}
		ask := func(r *api.Client) (allStatuses, error) { return statuses(c.Context(), r) }
		return answered(c, s, ask, func(all allStatuses) error { return showStatuses(s, all.Agents) })
	}
	return c
}

// allStatuses is what status prints as JSON without a name.
type allStatuses struct {
	Agents []api.AgentStatus `json:"agents"`
}

// statuses are those of all agents that run.
func statuses(ctx context.Context, c *api.Client) (allStatuses, error) {
	all, err := c.Agents(ctx)
	list := []api.AgentStatus{}
	for _, a := range all {
		if !a.Running || err != nil {
			continue
		}
		s, failed := c.Agent(ctx, a.Name)
		if errors.Is(failed, api.ErrLost) || ctx.Err() != nil {
			return allStatuses{}, failed // it is the router that does not answer
		}
		if failed != nil {
			s = api.AgentStatus{Agent: a} // its wrapper does not, or has just ended
		}
		list = append(list, s)
	}
	return allStatuses{list}, err
}

func showStatuses(s streams, list []api.AgentStatus) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: no agent runs; relay ls --all shows those that did")
		return err
	}
	rows := [][]string{{
		"NAME", "STATE", "KNOWN BY", "DRAFT", "OUTPUT", "WAITING", "OLDEST", "WAITS FOR", "BLOCKED BY",
	}}
	for _, a := range list {
		w := a.Wrapper
		if w == nil {
			w = &protocol.StatusAnswer{BlockedBy: "its wrapper does not answer: relay doctor tells more"}
			if a.WrapperStopped {
				w.BlockedBy = "its wrapper is stopped: relay doctor tells the way out"
			}
		}
		rows = append(rows, []string{
			a.Name, stateOf(a.Agent), w.Confidence, draftOf(w, "stays"), sinceOr(w.LastOutputMS),
			strconv.Itoa(a.Waiting), sinceOr(w.OldestPendingMS), string(w.WaitingFor), string(w.BlockedBy),
		})
	}
	return paper.New(s.out).Table(rows)
}

// sinceOr is how long something was ago, if it was.
func sinceOr(ms *int64) string {
	if ms == nil {
		return "-"
	}
	return clock.Millis(*ms)
}

func showStatus(s streams, a api.AgentStatus) error {
	p := paper.New(s.out)
	line := func(name, format string, args ...any) error {
		return p.Printf("  %-10s %s\n", name, p.Behind(fmt.Sprintf(format, args...), len("  blocked by "))) // an error comes again at the end
	}
	w := a.Wrapper
	if w == nil {
		p.Printf("%s %s\n", a.Name, paper.Painted(stateOf(a.Agent)))
		line("agent", "%s", a.Profile)
		if a.WrapperStopped {
			return line("blocked by", "its wrapper, which is stopped: relay doctor tells the way out")
		}
		line("seen", "%s", clock.Ago(a.SeenAt))
		if a.Paused {
			line("paused", "%s", pauseEnd(a.Name, a.PausedUntil))
		}
		return line("waiting", "%s, to be typed when it runs", count(a.Waiting))
	}
	p.Printf("%s %s\n", a.Name, paper.Painted(w.State))
	line("agent", "%s, process %d, for %s", w.Agent, w.PID, clock.Millis(w.UptimeMS))
	line("known by", "%s", w.Confidence)
	if w.BlockedBy != "" {
		line("blocked by", "%s", w.BlockedBy)
	}
	if a.Paused {
		line("paused", "%s", pauseEnd(a.Name, a.PausedUntil))
	}
	line("draft", "%s", draftOf(w, "yes, and messages wait until it is sent or cleared: relay cannot set it aside"))
	if w.HumanIdleMS != nil {
		line("human", "typed %s ago", clock.Millis(*w.HumanIdleMS))
	}
	if w.LastOutputMS != nil {
		line("output", "%s ago", clock.Millis(*w.LastOutputMS))
	}
	if w.Injecting != "" {
		line("typing", "%s", w.Injecting)
	}
	if w.WaitingFor != "" {
		line("waits for", "%s", w.WaitingFor)
	}
	if w.Degraded {
		line("degraded", "its disk takes nothing; new messages are refused")
	}
	waiting := count(a.Waiting)
	if w.OldestPendingMS != nil {
		waiting += ", the oldest for " + clock.Millis(*w.OldestPendingMS)
	}
	if !w.Accept && !w.Degraded {
		waiting += "; its queue is full"
	}
	return line("waiting", "%s", waiting)
}

// count is a number of messages in words.
func count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return strconv.Itoa(n) + " messages"
}

// draftOf reports whether the human has a draft there; stays, that no passing of time lets it be
// set aside for messages.
func draftOf(w *protocol.StatusAnswer, stays string) string {
	switch {
	case w.DraftStays:
		return stays
	case w.Draft:
		return "yes"
	}
	return "no"
}

func queueCommand(s streams) *cobra.Command {
	c := ofOne(s, "NAME", (*api.Client).Queue, func(m api.Messages) error { return showQueue(s, m.Messages) })
	c.Use, c.Short = "queue NAME", "Show what waits for an agent"
	c.Long = "queue shows the messages that wait for an agent, the next one first, and what each waits for."
	return c
}

func showQueue(s streams, list []api.Message) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: nothing waits")
		return err
	}
	rows := [][]string{{"ID", "FROM", "AGE", "STATUS", "WAITS FOR", "TEXT"}}
	for _, m := range list {
		rows = append(rows, []string{m.ShownID(), m.From, clock.Short(time.Since(time.UnixMilli(m.AcceptedAt))), m.Status, waitsFor(m), paper.FirstLine(m.Body)})
	}
	return paper.New(s.out).Table(rows)
}

// waitsFor is what keeps a message from being typed.
func waitsFor(m api.Message) string {
	switch {
	case m.WaitingFor != nil && *m.WaitingFor != "":
		return *m.WaitingFor
	case m.QueuePosition > 1:
		return "its turn"
	case m.QueuePosition == 1 || m.Status == protocol.StatusInjecting:
		return "-"
	case m.Running:
		return "room"
	}
	return m.To
}

func screenCommand(s streams) *cobra.Command {
	c := ofOne(s, "NAME", (*api.Client).Screen, func(a protocol.ScreenAnswer) error {
		_, err := fmt.Fprintln(s.out, strings.TrimRight(paper.Plain(strings.Join(a.Rows, "\n")), "\n"))
		return err
	})
	c.Use, c.Short = "screen NAME", "Show what an agent shows"
	c.Long = "screen shows the text on an agent's terminal at this moment, without colours."
	return c
}
