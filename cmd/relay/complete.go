package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/manual"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
)

// completeWait is how long somebody who pressed TAB waits for us.
const completeWait = time.Second

// completing fills in a command's first argument with what list returns.
func completing(list func(ctx context.Context, c *api.Client) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offering(list), cobra.ShellCompDirectiveNoFileComp
	}
}

// offering is what list returns. Only a router that runs is asked.
func offering(list func(ctx context.Context, c *api.Client) []string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completeWait)
	defer cancel()
	h, err := home.Find("")
	if err != nil {
		return nil
	}
	client, err := h.Running(ctx, peer.Token())
	if err != nil {
		return nil
	}
	return list(ctx, client)
}

// whose are the agents for which want is true, each with its state.
func whose(want func(api.Agent) bool) func(ctx context.Context, c *api.Client) []string {
	return func(ctx context.Context, c *api.Client) (list []string) {
		all, _ := c.Agents(ctx) // else nothing is filled in
		for _, a := range all {
			if want(a) {
				list = append(list, cobra.CompletionWithDesc(a.Name, stateOf(a)))
			}
		}
		return list
	}
}

var (
	names = whose(func(api.Agent) bool { return true })
	here  = whose(func(a api.Agent) bool { return a.Running })
	away  = whose(func(a api.Agent) bool { return !a.Running })
)

// channels are those that have members, each with them.
func channels(ctx context.Context, c *api.Client) (list []string) {
	all, _ := c.Channels(ctx) // else nothing is filled in
	for _, o := range all {
		list = append(list, cobra.CompletionWithDesc(o.Name, strings.Join(o.Members, ", ")))
	}
	return list
}

// receivers are whom a message can go to.
func receivers(ctx context.Context, c *api.Client) []string {
	return append(names(ctx, c), channels(ctx, c)...)
}

// deadLetters are the ids of what did not arrive.
func deadLetters(ctx context.Context, c *api.Client) []string {
	list, _ := c.Dead(ctx, api.Query{}, recentMost) // else nothing is filled in
	return offered(list.Messages)
}

// recentMost is how many messages are offered.
const recentMost = 20

// recent are the newest messages that wants likes, by id, each with its first line.
func recent(wants func(api.Message) bool) func(ctx context.Context, c *api.Client) []string {
	return func(ctx context.Context, c *api.Client) (list []string) {
		messages, _ := c.Newest(ctx, api.Query{}, recentMost) // else nothing is filled in
		return offered(slices.DeleteFunc(messages.Messages, func(m api.Message) bool { return !wants(m) }))
	}
}

// cancellable are the messages that have not ended, and those that are to be sent later.
func cancellable(ctx context.Context, c *api.Client) []string {
	list := recent(func(m api.Message) bool { return !router.Ended(m.Status) })(ctx, c)
	later, _ := c.Reminders(ctx, "") // else nothing is filled in
	for _, r := range later {
		says := "at " + clock.At(r.DueAt) + " → " + r.To + ": " + paper.Cut(paper.FirstLine(r.Body), 40)
		list = append(list, cobra.CompletionWithDesc(r.ID, says))
	}
	return list
}

// offered are messages by id, each with its first line.
func offered(messages []api.Message) (list []string) {
	for _, m := range messages {
		list = append(list, cobra.CompletionWithDesc(m.ShownID(), m.From+" → "+m.To+": "+paper.Cut(paper.FirstLine(m.Body), 40)))
	}
	return list
}

// completions says what each command's first argument may be, and the names that flags take.
func completions(root *cobra.Command) {
	all := func(api.Message) bool { return true }
	for name, list := range map[string]func(ctx context.Context, c *api.Client) []string{
		"send": receivers, "join": channels, "leave": channels, "log": receivers,
		"status": names, "queue": names, "pause": names, "resume": names, "screen": here, "explain": here,
		"show": recent(all), "redeliver": deadLetters,
		"cancel": cancellable,
		"reply":  recent(func(m api.Message) bool { return m.To == me() }),
	} {
		if c, _, err := root.Find([]string{name}); err == nil {
			c.ValidArgsFunction = completing(list)
		}
	}
	for _, c := range root.Commands() {
		switch c.Name() {
		case "run":
			c.ValidArgsFunction = completeRun
		case "wait":
			c.ValidArgsFunction = completeName // it takes several
		}
		for _, flag := range []string{"as", "from", "target", "to"} {
			if c.Flags().Lookup(flag) != nil {
				c.RegisterFlagCompletionFunc(flag, completeName) // the flag exists
			}
		}
	}
}

// oneOf fills in one of words.
func oneOf(words []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeName fills in a flag that takes a name.
func completeName(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return offering(names), cobra.ShellCompDirectiveNoFileComp
}

// manCommand writes the manual pages, for whoever packages them.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages into a directory", Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage{fmt.Errorf("man takes one DIRECTORY, got %d", len(args))}
			}
			wrapper, err := findWrapper()
			if err != nil {
				return err
			}
			return manual.Write(c.Context(), c.Root(), wrapper, args[0])
		},
	}
}
