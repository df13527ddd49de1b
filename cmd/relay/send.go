package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/protocol"
)

// sending is what the flags of send say.
type sending struct {
	api.Send
	important, urgent, command, json bool
	until                            string
	wait                             duration
	timeout                          duration
	notifyAfter                      duration
}

func sendCommand(s streams) *cobra.Command {
	var f sending
	c := &cobra.Command{
		Use: "send TO [TEXT...]", Short: "Send a message to an agent, or to several",
		Long: `send sends a message, and prints its id and how far it got. TEXT - reads standard input.

A message to an agent that doesn't run waits for it, five minutes (the setting dm_expiry) or as long
as --timeout says. With --timeout or --wait=TIME the name may also be one that nobody knows yet.

TO may be a channel ('#review': its members) or '*' (all agents that run now). The sender never gets
the message back. Such a message has reached a level once every recipient's copy has; --wait ends
with the first answer, and relay show tells how far each copy is. People and scripts read with relay
recv, when they like; --until delivered waits for them only if nobody else gets the message.`,
		Example: `  relay send bob "please review main.go"
  git diff | relay send '#review' -
  relay send bob "is it done?" --wait=5m    waits for Bob's answer, and prints it`,
		RunE: func(c *cobra.Command, args []string) error { return send(c, s, &f, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.important, "important", false, "hand it to a busy agent at its next opportunity")
	flags.BoolVar(&f.urgent, "urgent", false, "interrupt the agent")
	waitFlag(flags, &f.wait, "wait for the answer, and print it (--wait=30s: so long at most)")
	flags.StringVar(&f.until, "until", "", "wait until it is `LEVEL`: queued (default), delivered or replied")
	flags.Var(&f.timeout, "timeout", "give up when it was not delivered after so long (default never)")
	flags.Lookup("timeout").DefValue = ""
	flags.BoolVar(&f.Retry, "retry", false, "send it again when the agent's API refused its turn, until --timeout is over")
	flags.BoolVar(&f.NotifyOnDelivery, "notify-on-delivery", false, "send me a notice when it was delivered")
	flags.Var(&f.notifyAfter, "notify-after", "send me a notice so long after that, unless there was an answer")
	flags.Lookup("notify-after").DefValue = ""
	flags.StringVar(&f.From, "from", "", "send as `NAME`, outside of an agent (default human)")
	flags.StringVar(&f.ReplyTo, "reply-to", "", "answer the message `ID`, or the beginning of one, or last")
	flags.StringVar(&f.Thread, "thread", "", "the conversation that it belongs to, by any `NAME`")
	flags.Int64Var(&f.Priority, "priority", 0, "lower goes first")
	flags.StringVar(&f.ID, "id", "", "give it this `ID`; sent again with the same one, it is still one message")
	flags.BoolVar(&f.command, "command", false, "type TEXT as a command, to run (needs --allow-command there)")
	flags.BoolVar(&f.Yes, "yes", false, "send it though it reaches more than 10 agents")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func send(c *cobra.Command, s streams, f *sending, args []string) error {
	if err := f.complete(c, s.in, args); err != nil {
		return usage{fmt.Errorf("send: %w", err)}
	}
	ctx := c.Context()
	asked, err := connect(ctx)
	if err != nil {
		return err
	}
	if f.ID == "" {
		f.ID = newID() // ours, so that it is one message if we have to ask twice
	}
	if err := f.answers(ctx); err != nil {
		return err
	}
	began := time.Now()
	m, err := asks(ctx, asked, func(c *api.Client) (api.Message, error) { return c.Send(ctx, f.Send) })
	if err != nil {
		return inDoubt(f.ID, err)
	}
	f.sayMode(s, m)
	if f.until != router.Queued {
		f.sayWaits(s, m)
		if m, err = await(ctx, asked, m, f.until, f.wait.d, m.WaitsSince(began)); err != nil {
			return fmt.Errorf("wait for %s: %w", m.ID, err)
		}
		if m, err = f.again(ctx, s, asked, m, began); err != nil {
			return fmt.Errorf("wait for %s: %w", m.ID, err)
		}
	}
	return f.tell(s, m, c.Flags().Changed("until"))
}

// answers completes the id of the message that is answered. One that nobody knows is taken as it
// is: that message may be kept no longer.
func (f *sending) answers(ctx context.Context) error {
	if f.ReplyTo == "" {
		return nil
	}
	id, err := which(ctx, f.ReplyTo, f.From)
	refused := (*router.ErrorValue)(nil)
	if errors.As(err, &refused) && refused.Code == string(protocol.UnknownID) && len(refused.Candidates) == 0 && f.ReplyTo != router.LastID {
		return nil
	}
	f.ReplyTo = cmp.Or(id, f.ReplyTo)
	return err
}

// sayMode tells whoever may not interrupt agents that their message does not.
func (f *sending) sayMode(s streams, m api.Message) {
	if f.urgent && m.Mode == protocol.ModeImportant {
		fmt.Fprintf(s.err, "relay: %s: %s may not interrupt (the setting allow_urgent), so it goes as important\n", m.ID, m.From)
	}
}

// sayWaits tells whoever is about to wait what the message waits for.
func (f *sending) sayWaits(s streams, m api.Message) {
	switch {
	case f.json:
	case m.Status == router.StatusAccepted:
		fmt.Fprintf(s.err, "relay: %s: %s; the message waits\n", m.ID, m.WhyNot())
	case m.Status == protocol.StatusQueued && m.WaitingFor != nil && slices.Contains(humans, *m.WaitingFor):
		fmt.Fprintf(s.err, "relay: %s: the message waits for: %s\n", m.ID, *m.WaitingFor)
	}
}

// humans are what only a human ends: a draft, a dialog, a pause.
var humans = []string{protocol.WaitsForDraft, protocol.WaitsForDialog, protocol.WaitsForPaused}

// complete makes a request of flags and arguments.
func (f *sending) complete(c *cobra.Command, in io.Reader, args []string) (err error) {
	switch {
	case len(args) == 0 || args[0] == "":
		return errors.New("say whom: relay send bob \"please review\"")
	case f.important && f.urgent:
		return errors.New("--important and --urgent exclude each other")
	}
	f.To = args[0]
	if f.Body, err = bodyOf(in, args[1:]); err != nil {
		return err
	}
	switch {
	case f.urgent:
		f.Mode = protocol.ModeUrgent
	case f.important:
		f.Mode = protocol.ModeImportant
	}
	if c.Flags().Changed("notify-after") && f.notifyAfter.d < time.Millisecond {
		return errors.New("--notify-after: say how long after the delivery: --notify-after 5m")
	}
	f.NotifyAfterMS = f.notifyAfter.d.Milliseconds()
	if f.command {
		f.Kind = protocol.KindCommand
	}
	if !c.Flags().Changed("timeout") {
		set, err := settings.Load()
		if err != nil {
			return err
		}
		f.timeout.d = set.DefaultTimeout
	}
	f.TimeoutMS = f.timeout.d.Milliseconds()
	f.Ahead = f.wait.d > 0 || c.Flags().Changed("timeout") && f.timeout.d > 0 // a time was given
	if waits := c.Flags().Changed("wait"); waits && f.until == "" {
		f.until = router.Replied
	}
	if f.until == "" {
		f.until = router.Queued
	}
	if f.until == router.Replied {
		f.ReplyWithinMS = f.wait.d.Milliseconds()
	}
	f.Until, f.WaitMS = router.Queued, api.AcceptWait.Milliseconds()
	switch f.until {
	case router.Queued, router.Delivered, router.Replied:
		return nil
	}
	return fmt.Errorf("--until: %q is not queued, delivered or replied", f.until)
}

// bodyOf is a message of the words of a command line; - alone is standard input. What is no UTF-8
// would reach nobody as it is.
func bodyOf(in io.Reader, words []string) (body string, err error) {
	from := "the text"
	switch {
	case len(words) == 0:
		return "", errors.New("say what to send, or - for standard input")
	case len(words) == 1 && words[0] == "-":
		from = "standard input"
		if body, err = readBody(in); err != nil {
			return "", err
		}
	default:
		body = strings.Join(words, " ")
	}
	if at := invalid(body); at >= 0 {
		return "", &router.ErrorValue{Code: string(protocol.BadField), Message: fmt.Sprintf(
			"%s is not UTF-8 at byte %d: convert it, or send a file's name instead", from, at)}
	}
	return body, nil
}

// invalid is where text stops being UTF-8, -1 where it does not.
func invalid(text string) int {
	for at, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[at:], "\uFFFD") {
			return at
		}
	}
	return -1
}

// readBody reads standard input, of which a last newline is not meant.
func readBody(in io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(in, protocol.MaxBody+2))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	body := strings.TrimSuffix(string(b), "\n")
	if len(body) > protocol.MaxBody {
		return "", fmt.Errorf("standard input is over %d bytes, the most that a message may have: send a file's name instead", protocol.MaxBody)
	}
	return body, nil
}

// await waits for a level, for ever when limit is 0, also over restarts of the router.
func await(ctx context.Context, asked *asking, m api.Message, level string, limit time.Duration, began time.Time) (api.Message, error) {
	return m.Await(level, limit, began, func(wait time.Duration) (api.Message, error) {
		return asks(ctx, asked, func(c *api.Client) (api.Message, error) { return c.Message(ctx, m.ID, level, wait) })
	})
}

// again waits for an answer to the messages by which one is sent again whose turn was refused.
func (f *sending) again(ctx context.Context, s streams, asked *asking, m api.Message, began time.Time) (api.Message, error) {
	for f.Retry && f.until == router.Replied && m.Outcome == protocol.OutcomeRefused {
		first, err := asks(ctx, asked, func(c *api.Client) (api.Message, error) { return c.Message(ctx, f.ID, "", 0) })
		if err != nil || len(first.Redeliveries) == 0 || first.Redeliveries[len(first.Redeliveries)-1] == m.ID {
			return m, err
		}
		id := first.Redeliveries[len(first.Redeliveries)-1]
		if !f.json {
			fmt.Fprintf(s.err, "relay: %s: %s; it is sent again as %s\n", m.ID, m.Ended(), id)
		}
		m, err = asks(ctx, asked, func(c *api.Client) (api.Message, error) { return c.Message(ctx, id, "", 0) })
		if err == nil {
			m, err = await(ctx, asked, m, f.until, f.wait.d, began)
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

// tell prints how far a message came. The exit status reports whether that is what was asked for.
func (f *sending) tell(s streams, m api.Message, asked bool) error {
	switch {
	case f.json:
		if err := s.json(m); err != nil {
			return err
		}
	case f.until == router.Replied && len(m.Replies) > 0:
		if first := m.Replies[0]; first.Inferred {
			fmt.Fprintf(s.err, "%s %s; %s wrote no message, and this was last in its turn:\n", m.ID, m.Status, first.From)
		} else {
			fmt.Fprintf(s.err, "%s %s%s\n", m.ID, router.StatusReplied, by(m))
		}
		fmt.Fprintln(s.out, m.Replies[0].Body)
	default:
		fmt.Fprintf(s.out, "%s %s\n", m.ID, m.Status)
	}
	if m.Error != nil && !f.json {
		fmt.Fprintf(s.err, "relay: %s: %s: %s\n", m.ID, m.Error.Code, m.Error.Message)
	}
	return f.verdict(s, m, asked)
}

// verdict is the exit status. Where queued was not asked for, waiting in the router is no failure.
func (f *sending) verdict(s streams, m api.Message, asked bool) error {
	say := func(format string, args ...any) {
		if !f.json {
			fmt.Fprintf(s.err, "relay: "+format+"\n", args...)
		}
	}
	switch {
	case m.Came(f.until):
		if f.until == router.Delivered && m.Status == router.StatusAccepted {
			say("%s: %s", m.ID, m.WhyNot())
		}
		return nil
	case m.Status == router.StatusAccepted && f.until == router.Queued && !asked:
		say("%s; the message waits", m.WhyNot())
		return nil
	case f.until == router.Replied && len(m.Replies) == 0 && m.Ended() != "":
		say("%s: %s", m.ID, m.Ended())
		return exit(exitFailed)
	case m.Abandoned && m.Error == nil && f.until == router.Replied: // else the error says so
		say("%s: %s ended without an answer", m.ID, unanswering(m))
		return exit(exitFailed)
	case m.Reached(f.until) || f.until == router.Queued:
		return exit(exitFailed)
	}
	say("%s is not %s after %v", m.ID, f.until, f.wait.d)
	return exit(exitTimeout)
}

// duration is a flag as 500 (milliseconds) or 500ms, 5m.
type duration struct {
	d       time.Duration
	bare    bool // a number without a unit
	nothing bool // 0, as it was typed
}

// waitFlag is --wait, without end, or --wait=30s.
func waitFlag(flags *pflag.FlagSet, d *duration, help string) {
	flags.Var(d, "wait", help)
	flags.Lookup("wait").NoOptDefVal, flags.Lookup("wait").DefValue = noEnd, ""
}

// noEnd is the value of a bare --wait.
const noEnd = "forever"

// checkWait refuses "--wait 5m", which would send the words of the text and 5m.
func checkWait(args []string) error {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	for i, arg := range args[:max(end-1, 0)] {
		if arg == "--wait" && new(duration).Set(args[i+1]) == nil {
			return fmt.Errorf("--wait %s: write --wait=%s, or -- before a text", args[i+1], args[i+1])
		}
	}
	return nil
}

func (d *duration) String() string { return d.d.String() }

// Type is how help shows it.
func (d *duration) Type() string { return "duration" }

// Set reads the flag.
func (d *duration) Set(v string) error {
	if *d = (duration{}); v == noEnd {
		return nil
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n > 0 && n < 1<<43 {
		d.d, d.bare = time.Duration(n)*time.Millisecond, true
		return nil
	}
	parsed, err := settings.Duration(v)
	if err == nil {
		d.d, d.nothing = parsed, parsed == 0
	}
	return err
}

// checkFlags refuses to wait for no time, and tells what it makes of numbers.
func (s streams) checkFlags(flags *pflag.FlagSet) error {
	if f := flags.Lookup("wait"); f != nil {
		if d, ok := f.Value.(*duration); ok && d.nothing {
			return errors.New("--wait=0 waits for nothing: leave it out, or say how long: --wait=30s")
		}
	}
	flags.Visit(s.tellBare)
	return nil
}

// tellBare says what a number counts that has no unit, where somebody may have meant seconds.
func (s streams) tellBare(f *pflag.Flag) {
	if d, ok := f.Value.(*duration); ok && d.bare && d.d < time.Second {
		n := d.d.Milliseconds()
		const says = "relay: --%s %d: a number without a unit is of milliseconds; %ds are seconds\n"
		fmt.Fprintf(s.err, says, f.Name, n, n)
	}
}
