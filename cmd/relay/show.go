package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

func showCommand(s streams) *cobra.Command {
	c := ofOne(s, "ID", (*api.Client).Life, func(m api.Message) error { return showMessage(s, m) })
	c.Use, c.Short = "show ID", "Show a message and its whole life"
	c.Long = `show shows a message, everything that became of it with the evidence, and its answers. Four
characters that begin an ID are enough if no other id begins with them; "last" is the last message to or from you.`
	return c
}

func showMessage(s streams, m api.Message) error {
	p := paper.New(s.out)
	p.Printf("%s  %s → %s  %s%s\n", m.ShownID(), m.From, m.To, paper.Painted(m.Status), behind(evidence(cmp.Or(m.Evidence, nowWaits(m)))))
	p.Printf("%s\n\n%s\n\n", strings.Join(traits(m), ", "), p.Indent(m.Body, 4))
	for _, d := range m.Recipients {
		why := p.Behind(behind(evidence(d.Evidence))+behind(reason(d.Error)), len("    "+d.To+d.Status))
		p.Printf("  %s  %s%s\n", d.To, paper.Painted(d.Status), why)
	}
	if len(m.Recipients) > 0 {
		fmt.Fprintln(p)
	}
	for _, e := range m.Life {
		at := clock.Precisely(e.Timestamp) + "  "
		if err := p.Printf("%s%s\n", at, p.Behind(lived(m.ID, e), len(at))); err != nil {
			return err
		}
	}
	return nil
}

// nowWaits is what a message waits for now, as queue tells it.
func nowWaits(m api.Message) string {
	ended := router.Ended(m.Status) || m.Status == router.StatusScheduled
	if waits := waitsFor(m); !ended && len(m.Recipients) == 0 && waits != "-" {
		return "waits for " + waits
	}
	return ""
}

// behind is a word behind others.
func behind(word string) string {
	if word == "" {
		return ""
	}
	return " " + word
}

func evidence(word string) string {
	if word == "" {
		return ""
	}
	return "(" + word + ")"
}

// traits are what is particular about a message.
func traits(m api.Message) []string {
	list := []string{"sent " + clock.At(m.AcceptedAt), m.Mode}
	if m.Status == router.StatusScheduled {
		list[0] = "scheduled for " + clock.At(m.DueAt)
	}
	add := func(format string, is bool, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add("its sender's id %s", m.ShownID() != m.ID, m.ID)
	add("about %s", m.About != "", m.About)
	add("answers %s", m.ReplyTo != "", m.ReplyTo)
	add("sends %s again", m.Redelivers != "", m.Redelivers)
	add("by %s", m.Channel != "", m.Channel)
	add("cancelled as soon as %s runs", m.CancelAsked, m.To)
	add("thread %s", m.Thread != "", m.Thread)
	add("priority %d", m.Priority != 0, m.Priority)
	add("at most %v", m.TimeoutMS != 0, time.Duration(m.TimeoutMS)*time.Millisecond)
	add("%s ended without an answer", m.Abandoned, unanswering(m))
	add("%s", m.Ended() != "", m.Ended())
	return list
}

// lived is what an event was in the life of a message.
func lived(id string, e router.Event) string {
	switch {
	case e.Type == router.TypeReminder:
		return "scheduled for " + clock.At(e.DueAt)
	case e.Type == router.TypeMessage && (e.ID == id || len(e.Recipients) > 0 && strings.HasPrefix(id, e.ID+":")):
		return "accepted"
	case e.Type == router.TypeMessage && e.Redelivers != "":
		return fmt.Sprintf("sent again as %s", e.ID)
	case e.Type == router.TypeMessage:
		return strings.TrimRight(fmt.Sprintf("%s writes %s: %s %s", e.From, e.ID, paper.FirstLine(e.Body), reason(e.Error)), " ")
	case slices.Contains([]string{router.TypeChainPaused, router.TypeChainResumed, router.TypeChainEnded}, e.Type):
		return "its chain " + course(e)
	case e.Type == router.TypeCancelAsked:
		return "to be cancelled as soon as " + e.Agent + " runs"
	case e.Type == protocol.TypeTurnEnd:
		e.IDs = nil // among them the message that this is the life of
		return turnEnd(e)
	case e.Type == router.TypeRefused:
		return fmt.Sprintf("%s wants to answer %q: refused: %s", e.From, paper.FirstLine(e.Body), e.Error.Message)
	}
	words := []string{e.Status, evidence(e.Evidence), evidence(e.Via)}
	if e.Status == protocol.StatusQueued && e.WaitingFor != "" {
		words = append(words, "(it waited for "+e.WaitingFor+" then)")
	}
	if e.Attempt > 1 {
		words = append(words, fmt.Sprintf("attempt %d", e.Attempt))
	}
	words = append(words, reason(e.Error))
	if e.ID != id { // what one of several got
		words = append([]string{e.Agent + ":"}, words...)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func logCommand(s streams) *cobra.Command {
	var q api.Query
	var last int
	var dead bool
	c := &cobra.Command{
		Use: "log [NAME]", Short: "Show past messages, to and from an agent or all",
		Long:    "log shows messages as they came, and what became of each.",
		Example: "  relay log bob --last 5\n  relay log --from alice --to bob",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage{fmt.Errorf("log takes one NAME at most, got %d", len(args))}
			}
			for _, name := range args {
				if err := checkWord(c, "NAME", name, protocol.ValidTarget); err != nil {
					return err
				}
			}
			return checkLast("log", last, q.After)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			q.Target, q.KnownTo = strings.Join(args, ""), true
			ask := func(r *api.Client) (list api.Messages, err error) {
				if dead {
					list, err = r.Dead(ctx, q, last)
				} else {
					list, err = r.Newest(ctx, q, last)
				}
				if err == nil && q.Target != "" && len(list.Messages) == 0 { // nobody may have that name
					_, err = r.Queue(ctx, q.Target)
				}
				return list, err
			}
			return answered(c, s, ask, func(list api.Messages) error { return showMessages(s, list) })
		},
	}
	flags := c.Flags()
	flags.IntVar(&last, "last", 20, "the newest `N`; 0: all")
	flags.Int64Var(&q.After, "after", 0, "only those after the event of this `NUMBER`")
	flags.StringVar(&q.From, "from", "", "only those of the sender `NAME`")
	flags.StringVar(&q.To, "to", "", "only those to the recipient `NAME`")
	flags.BoolVar(&dead, "dead", false, "only dead letters: what failed, expired or is unknown (relay redeliver)")
	jsonFlag(c)
	return c
}

func checkLast(command string, last int, after int64) error {
	switch {
	case last < 0:
		return usage{fmt.Errorf("%s: --last: %d is negative", command, last)}
	case after < 0:
		return usage{fmt.Errorf("%s: --after: %d is no number of an event", command, after)}
	}
	return nil
}

// showMessages prints messages whole, and how many older ones there are.
func showMessages(s streams, list api.Messages) error {
	p := paper.New(s.out)
	if list.Older > 0 {
		p.Printf("(%d older)\n", list.Older)
	}
	for _, m := range list.Messages {
		if err := showShort(p, m); err != nil {
			return err
		}
	}
	return nil
}

// showShort prints one message: a line about it, and its body.
func showShort(p paper.Paper, m api.Message) error {
	answers := ""
	if m.ReplyTo != "" {
		answers = "  answers " + m.ReplyTo
	}
	to := m.To
	if m.Channel != "" {
		to += " by " + m.Channel
	}
	return p.Printf("%s  %s → %s  %s  %s%s\n%s\n",
		clock.At(m.AcceptedAt), m.From, to, m.ShownID(), paper.Painted(m.Status), answers, p.Indent(m.Body, 4))
}
