package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol/own"
)

// receiving is what the flags of recv say.
type receiving struct {
	api.Query
	as                              string
	last                            int
	wait                            duration
	waits, follow, consume, fromNow bool
	newest                          bool // only the newest last of the first batch
	json, text                      bool
}

func recvCommand(s streams) *cobra.Command {
	var f receiving
	c := &cobra.Command{
		Use: "recv", Short: "Show the messages to me", Args: noArgs,
		Long: `recv shows messages: those to the agent in which the command runs, else those to --as NAME, else those
to you. Looking changes nothing: an agent gets its messages all the same. With --consume each message
is shown once and then counts as delivered; use it for people and scripts, for whom nothing is typed.
--after also shows what was sent to '*' and to the receiver's channels before the receiver was there.`,
		Example: `  relay recv --last 5
  relay recv --as ci --consume --wait=1m --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			f.waits = c.Flags().Changed("wait")
			if err := f.complete(c); err != nil {
				return err
			}
			return receive(c.Context(), s, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.as, "as", "", "show those to `NAME`, outside of an agent (default human)")
	flags.StringVar(&f.From, "from", "", "only those of the sender `NAME`")
	flags.Int64Var(&f.After, "after", 0, "only those after the event of this `NUMBER`")
	flags.IntVar(&f.last, "last", 10, "the newest `N`, and how many older ones there are; 0: all")
	waitFlag(flags, &f.wait, "wait for the next ones, and end (--wait=30s: so long at most)")
	flags.BoolVar(&f.follow, "follow", false, "go on with those that come")
	flags.BoolVar(&f.consume, "consume", false, "show each once, and call it delivered")
	flags.BoolVar(&f.json, "json", false, "print JSON lines")
	flags.BoolVar(&f.text, "text", false, "print text")
	return c
}

// complete checks the flags, and finds out who asks.
func (f *receiving) complete(c *cobra.Command) error {
	changed := c.Flags().Changed
	switch {
	case f.waits && f.follow:
		return usage{errors.New("recv: --wait and --follow exclude each other")}
	case f.json && f.text:
		return usage{errors.New("recv: --json and --text exclude each other")}
	case f.consume && (changed("after") || changed("last") || changed("from")):
		return usage{errors.New("recv: --consume takes all that was not taken yet: without --after, --last and --from")}
	}
	if err := checkLast("recv", f.last, f.After); err != nil {
		return err
	}
	name, err := speaker("recv", f.as)
	if err != nil {
		return err
	}
	f.To, f.Past = name, changed("after")
	f.Known = !f.waits && !f.follow // else its sender may be yet to come
	f.fromNow = (f.waits || f.follow) && !changed("after")
	f.newest = changed("last") || !f.waits && !f.follow
	return nil
}

// receive shows what there is, or what comes.
func receive(ctx context.Context, s streams, f *receiving) error {
	asked, err := connect(ctx)
	if err != nil {
		return err
	}
	if f.fromNow && !f.consume {
		f.After, err = asks(ctx, asked, func(c *api.Client) (int64, error) { return c.Cursor(ctx) })
		if err != nil {
			return err
		}
	}
	next := f.showNext
	if f.consume {
		next = f.consumeNext
	}
	began := time.Now()
	for {
		limit := api.LongWait
		if f.wait.d > 0 {
			limit = min(limit, f.wait.d-time.Since(began))
		}
		if !f.waits && !f.follow {
			limit = 0
		}
		shown, err := next(ctx, s, asked, max(limit, 0))
		switch {
		case ctx.Err() != nil:
			return nil // told to end, with all that came written
		case err != nil:
			return err
		case f.follow, f.waits && shown == 0 && (f.wait.d == 0 || time.Since(began) < f.wait.d):
		case f.waits && shown == 0:
			fmt.Fprintf(s.err, "relay: no message to %s within %v\n", f.To, f.wait.d)
			return exit(exitTimeout)
		default:
			return nil
		}
	}
}

// showNext shows the next messages, and says how many.
func (f *receiving) showNext(
	ctx context.Context, s streams, asked *asking, limit time.Duration,
) (n int, err error) {
	list, err := f.look(ctx, asked, limit)
	if err != nil {
		return 0, err
	}
	return len(list.Messages), f.show(s, list)
}

// consumeMost is how many messages are taken as one batch.
const consumeMost = 100

// consumeNext takes messages one by one, and each only when it is written and somebody reads on:
// when the reader goes away, what it has not read is there for the next one.
func (f *receiving) consumeNext(
	ctx context.Context, s streams, asked *asking, limit time.Duration,
) (n int, err error) {
	for ; n < consumeMost; n++ {
		list, err := f.take(ctx, asked, limit)
		if err != nil || len(list.Messages) == 0 {
			return n, err
		}
		if err := f.show(s, list); err != nil {
			return n, err
		}
		if !hasReader(s.out) {
			return n, errors.New("recv: whoever read the messages has gone; what is not taken comes again in 30s")
		}
		if err := f.acknowledge(ctx, asked, list); err != nil {
			return n, err
		}
		limit = 0
	}
	return n, nil
}

// hasReader reports whether somebody may still read what is written there: a pipe tells when nobody
// does.
func hasReader(w io.Writer) bool {
	file, ok := paper.Bare(w).(*os.File)
	if !ok {
		return true
	}
	gone := false
	own.Control(file, func(fd int) error { // else nobody knows
		end := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(end, 0)
		gone = err == nil && n > 0 && end[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		return nil
	})
	return !gone
}

// look returns the next messages, and notes where it was.
func (f *receiving) look(ctx context.Context, asked *asking, limit time.Duration) (list api.Messages, err error) {
	last := 0
	if f.newest {
		last = f.last
	}
	f.Wait = limit
	q := f.Query
	if me() != router.Human {
		q.To = "self" // whom the token is of, or of nobody that runs
	}
	list, err = asks(ctx, asked, func(c *api.Client) (api.Messages, error) { return c.Newest(ctx, q, last) })
	if err == nil {
		f.After, f.newest = list.Cursor, f.newest && len(list.Messages) == 0
	}
	return list, err
}

// take leases the next message that nobody has taken.
func (f *receiving) take(ctx context.Context, asked *asking, limit time.Duration) (api.Messages, error) {
	return asks(ctx, asked, func(c *api.Client) (api.Messages, error) {
		return c.Pull(ctx, f.To, api.Pull{Max: 1, WaitMS: limit.Milliseconds()})
	})
}

// acknowledge says that messages are written.
func (f *receiving) acknowledge(ctx context.Context, asked *asking, list api.Messages) error {
	var ids []string
	for _, m := range list.Messages {
		ids = append(ids, m.ID)
	}
	ctx = context.WithoutCancel(ctx) // they are written
	return asked.ask(ctx, func(c *api.Client) error { return c.PullAck(ctx, f.To, ids) })
}

func (f *receiving) show(s streams, list api.Messages) error {
	if !f.json {
		return showMessages(s, list)
	}
	if list.Older > 0 {
		if err := s.json(struct {
			Older  int   `json:"older"`
			Cursor int64 `json:"cursor_event_seq"`
		}{list.Older, list.Messages[0].Seq - 1}); err != nil {
			return err
		}
	}
	for _, m := range list.Messages {
		if err := s.json(m); err != nil {
			return err
		}
	}
	return nil
}
