package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
)

// reminding is what the flags of remind say.
type reminding struct {
	api.Remind
	list bool
}

func remindCommand(s streams) *cobra.Command {
	var f reminding
	c := &cobra.Command{
		Use: "remind WHEN TEXT...", Aliases: []string{"wake"},
		Short: "Send a message to myself, later (wake is the same)",
		Long: `remind sends a message later: to the agent in which the command runs, else to --as NAME, else to you
(relay recv shows it). relay-pty types a reminder when the agent is ready, like any message. TEXT -
reads standard input. relay cancel ID takes a reminder back; wake is another name of this command.

The time is the clock's: a reminder that came due while the machine slept or no router ran is sent
afterwards. An agent that doesn't run gets a reminder within an hour of its time, or not at all.`,
		Example: `  relay remind 5m "check on bob's progress"
  relay remind --list`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			if f.list {
				return reminders(c, s, &f, args)
			}
			if err := f.complete(s, args); err != nil {
				return usage{fmt.Errorf("%s: %w", c.CalledAs(), err)}
			}
			return remind(c, s, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.From, "as", "", "remind `NAME`, outside of an agent (default human)")
	flags.StringVar(&f.From, "from", "", "the same as --as")
	flags.StringVar(&f.ID, "id", "", "give it this `ID`; with the same one it is still one reminder")
	flags.BoolVar(&f.list, "list", false, "show what is to come, to everybody or to --as NAME")
	jsonFlag(c)
	return c
}

// complete makes a request of the arguments.
func (f *reminding) complete(s streams, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("say when, and what: relay remind 5m \"check on bob\"")
	}
	when, err := settings.Duration(args[0])
	if err != nil {
		return fmt.Errorf("%w; say when first: relay remind 5m \"check on bob\"", err)
	}
	if f.DelayMS = when.Milliseconds(); f.DelayMS == 0 {
		return fmt.Errorf("%q is now; say when: relay remind 5m \"check on bob\"", args[0])
	}
	if f.ID == "" {
		f.ID = "r" + strings.TrimPrefix(newID(), "m") // ours, so that it is one if we have to ask twice
	}
	f.Message, err = bodyOf(s.in, args[1:])
	return err
}

func remind(c *cobra.Command, s streams, f *reminding) error {
	ask := func(r *api.Client) (api.Reminder, error) { return r.Remind(c.Context(), f.Remind) }
	return answered(c, s, ask, func(r api.Reminder) error {
		at := ""
		if r.Status == router.StatusScheduled { // else it was set before
			at = " for " + clock.At(r.DueAt)
		}
		_, err := fmt.Fprintf(s.out, "%s %s%s\n", r.ID, r.Status, at)
		return err
	})
}

// reminders shows what is to come.
func reminders(c *cobra.Command, s streams, f *reminding, args []string) error {
	if len(args) > 0 {
		return usage{fmt.Errorf("remind: --list takes no arguments, got %q", args[0])}
	}
	ask := func(r *api.Client) (api.Reminders, error) {
		list, err := r.Reminders(c.Context(), f.From)
		return api.Reminders{Reminders: list}, err
	}
	return answered(c, s, ask, func(all api.Reminders) error { return showReminders(s, all.Reminders) })
}

func showReminders(s streams, list []api.Reminder) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.err, "relay: nothing is to come")
		return err
	}
	rows := [][]string{{"ID", "TO", "AT", "IN", "TEXT"}}
	for _, r := range list {
		in := clock.Short(max(0, time.Until(time.UnixMilli(r.DueAt))))
		rows = append(rows, []string{r.ID, r.To, clock.At(r.DueAt), in, paper.FirstLine(r.Body)})
	}
	return paper.New(s.out).Table(rows)
}
