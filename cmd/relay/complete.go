package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/version"
)

// completeWait is how long somebody who pressed TAB waits for us.
const completeWait = time.Second

// completing fills in a command's first argument with what list returns. Only a router that runs is
// asked.
func completing(list func(ctx context.Context, c *api.Client) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeWait)
		defer cancel()
		h, err := home.Find("")
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := h.Running(ctx, os.Getenv("RELAY_TOKEN"))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(ctx, client), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are the agents, each with its state.
func names(ctx context.Context, c *api.Client) (list []string) {
	agents, _ := c.Agents(ctx) // else nothing is filled in
	for _, a := range agents {
		list = append(list, cobra.CompletionWithDesc(a.Name, stateOf(a)))
	}
	return list
}

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
		says := "at " + clock(r.DueAt) + " → " + r.To + ": " + cut(firstLine(r.Body), 40)
		list = append(list, cobra.CompletionWithDesc(r.ID, says))
	}
	return list
}

// offered are messages by id, each with its first line.
func offered(messages []api.Message) (list []string) {
	for _, m := range messages {
		list = append(list, cobra.CompletionWithDesc(m.ID, m.From+" → "+m.To+": "+cut(firstLine(m.Body), 40)))
	}
	return list
}

// completions says what each command's first argument may be.
func completions(root *cobra.Command) {
	all := func(api.Message) bool { return true }
	for name, list := range map[string]func(ctx context.Context, c *api.Client) []string{
		"send": receivers, "join": channels, "leave": channels, "status": names, "queue": names, "screen": names, "log": names,
		"wait": names, "pause": names, "resume": names,
		"show": recent(all), "redeliver": deadLetters,
		"cancel": cancellable,
		"reply":  recent(func(m api.Message) bool { return m.To == me() }),
	} {
		if c, _, err := root.Find([]string{name}); err == nil {
			c.ValidArgsFunction = completing(list)
		}
	}
}

// manCommand writes the manual pages of all commands and of relay-pty, for whoever packages them.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages into a directory", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			c.Root().DisableAutoGenTag = true // so that the same program writes the same pages
			if err := wrapperPage(c.Context(), args[0]); err != nil {
				return err
			}
			for _, topic := range c.Root().Commands() {
				if topic.IsAdditionalHelpTopicCommand() { // cobra writes pages of commands alone
					if err := plainPage(args[0], "relay-"+topic.Name(), topic.Short, topic.Long); err != nil {
						return err
					}
				}
			}
			return doc.GenManTree(c.Root(), &doc.GenManHeader{Title: "RELAY", Section: "1", Source: "relay " + version.Release, Manual: "relay"}, args[0])
		},
	}
}

// wrapperPage writes the manual page of relay-pty, which is what it says of itself.
func wrapperPage(ctx context.Context, dir string) error {
	wrapper, err := findWrapper()
	if err != nil {
		return err
	}
	help, err := exec.CommandContext(ctx, wrapper, "--help").Output()
	if err != nil {
		return fmt.Errorf("ask %s for help: %w", wrapper, err)
	}
	return plainPage(dir, "relay-pty", "wrap an agent, and type messages into it when it is ready", string(help))
}

// plainPage writes a manual page whose text is shown as it stands.
func plainPage(dir, name, short, text string) error {
	escaped := strings.NewReplacer(`\`, `\e`, "-", `\-`)
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1 \"\" \"relay %s\" \"relay\"\n", escaped.Replace(strings.ToUpper(name)), version.Release)
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", escaped.Replace(name), escaped.Replace(short))
	for line := range strings.Lines(escaped.Replace(text)) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			page.WriteString(`\&`) // else it would be a request
		}
		page.WriteString(line)
	}
	page.WriteString("\n.fi\n.SH SEE ALSO\nrelay(1)\n")
	return os.WriteFile(filepath.Join(dir, name+".1"), []byte(page.String()), 0o644)
}
