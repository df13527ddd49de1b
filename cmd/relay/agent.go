package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/protocol"
)

// ofOne is a command about one thing, named by its only argument; show prints what ask answers.
func ofOne[T any](s streams, what string, ask func(ctx context.Context, c *api.Client, arg string) (T, error), show func(T) error) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{fmt.Errorf("%s takes one %s, got %d", c.Name(), what, len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			answer, err := asks(c.Context(), func(ctx context.Context, c *api.Client) (T, error) { return ask(ctx, c, args[0]) })
			if err != nil {
				return err
			}
			if asJSON {
				return s.json(answer)
			}
			return show(answer)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func statusCommand(s streams) *cobra.Command {
	ask := func(ctx context.Context, c *api.Client, name string) (api.AgentStatus, error) {
		return c.Agent(ctx, name)
	}
	c := ofOne(s, "NAME", ask, func(a api.AgentStatus) error { return showStatus(s, a) })
	c.Use, c.Short = "status NAME", "Show how an agent is"
	c.Long = "status shows how an agent is, what its wrapper sees of it, and how many messages wait."
	return c
}

func showStatus(s streams, a api.AgentStatus) error {
	p := newPaper(s.out)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(p, "  %-10s %s\n", name, fmt.Sprintf(format, args...)) // an error comes again at the end
	}
	w := a.Wrapper
	if w == nil {
		fmt.Fprintf(p, "%s %s\n", a.Name, p.paint(stateOf(a.Agent)))
		line("agent", "%s", a.Profile)
		line("seen", "%s", ago(a.SeenAt))
		if a.Paused {
			line("paused", "%s", pauseEnd(a.Agent))
		}
		return lastLine(p, "waiting", count(a.Waiting)+", to be typed when it runs")
	}
	fmt.Fprintf(p, "%s %s\n", a.Name, p.paint(w.State))
	line("agent", "%s, process %d, for %s", w.Agent, w.PID, millis(&w.UptimeMS))
	line("known by", "%s", w.Confidence)
	if w.BlockedBy != "" {
		line("blocked by", "%s", w.BlockedBy)
	}
	if a.Paused {
		line("paused", "%s", pauseEnd(a.Agent))
	}
	line("draft", "%s", yes(w.Draft))
	if w.HumanIdleMS != nil {
		line("human", "typed %s ago", millis(w.HumanIdleMS))
	}
	if w.LastOutputMS != nil {
		line("output", "%s ago", millis(w.LastOutputMS))
	}
	if w.Injecting != "" {
		line("typing", "%s", w.Injecting)
	}
	if w.WaitingFor != "" {
		line("waits for", "%s", w.WaitingFor)
	}
	if w.Degraded {
		line("degraded", "%s", "its disk takes nothing; new messages are refused")
	}
	waiting := count(a.Waiting)
	if w.OldestPendingMS != nil {
		waiting += ", the oldest for " + millis(w.OldestPendingMS)
	}
	if !w.Accept && !w.Degraded {
		waiting += "; its queue is full"
	}
	return lastLine(p, "waiting", waiting)
}

func lastLine(p paper, name, text string) error {
	_, err := fmt.Fprintf(p, "  %-10s %s\n", name, text)
	return err
}

// count is a number of messages in words.
func count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return strconv.Itoa(n) + " messages"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func millis(ms *int64) string { return short(time.Duration(*ms) * time.Millisecond) }

func queueCommand(s streams) *cobra.Command {
	ask := func(ctx context.Context, c *api.Client, name string) (api.Messages, error) { return c.Queue(ctx, name) }
	c := ofOne(s, "NAME", ask, func(m api.Messages) error { return showQueue(s, m.Messages) })
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
		rows = append(rows, []string{m.ID, m.From, short(time.Since(time.UnixMilli(m.AcceptedAt))), m.Status, waitsFor(m), firstLine(m.Body)})
	}
	return newPaper(s.out).table(rows)
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
	ask := func(ctx context.Context, c *api.Client, name string) (protocol.ScreenAnswer, error) {
		return c.Screen(ctx, name)
	}
	c := ofOne(s, "NAME", ask, func(a protocol.ScreenAnswer) error {
		_, err := fmt.Fprintln(s.out, strings.TrimRight(plain(strings.Join(a.Rows, "\n")), "\n"))
		return err
	})
	c.Use, c.Short = "screen NAME", "Show what an agent shows"
	c.Long = "screen shows the text on an agent's terminal at this moment, without colours."
	return c
}
