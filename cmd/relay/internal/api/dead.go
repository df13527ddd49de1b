package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/cmd/relay/internal/router"
)

// deadEndpoints are those about messages that did not arrive.
var deadEndpoints = []endpoint{
	{
		"GET /v1/dead-letters", "The newest messages that failed, expired or are unknown, and were not sent again since.",
		append([]parameter{afterEvent, {"last", integer, "so many at most; 0: all"}}, whose...), nil, Messages{}, (*Server).dead,
	},
	{
		"POST /v1/messages/{id}/redeliver",
		"Sends a message again that failed, expired or is unknown, or whose turn was refused, marked as a redelivery.",
		nil, nil, Message{}, (*Server).redeliver,
	},
}

func (s *Server) dead(r *http.Request) (any, error) {
	q, _, err := s.query(r)
	if err == nil {
		err = s.reached(q.After)
	}
	if err != nil {
		return nil, err
	}
	q.Dead = true
	return s.list(r.Context(), q)
}

// redeliver sends one again, or of a message to several each that did not arrive.
func (s *Server) redeliver(r *http.Request) (any, error) {
	again := ""
	m, err := s.each(r, func(id string) error {
		sent, err := s.Hub.Redeliver(r.Context(), id)
		again = sent.ID
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(m.Recipients) > 0 {
		again = m.ID
	}
	return s.until(r.Context(), again, router.Queued, AcceptWait.Milliseconds())
}

// Dead returns the newest dead letters, last at most (0: all), as they came.
func (c *Client) Dead(ctx context.Context, q Query, last int) (Messages, error) {
	v := q.values()
	v.Set("last", strconv.Itoa(last))
	return call[Messages](ctx, c, "GET", "/v1/dead-letters?"+v.Encode(), nil)
}

// Lately are the dead letters of the last day.
type Lately struct {
	Count int
	More  bool // there are even more
	First Message
	Last  Message
}

const (
	lately     = 24 * time.Hour
	latelyMost = 100
)

// Lately returns the dead letters of the last day.
func (c *Client) Lately(ctx context.Context) (l Lately, err error) {
	list, err := c.Dead(ctx, Query{}, latelyMost)
	since := time.Now().Add(-lately).UnixMilli()
	for _, m := range list.Messages {
		if m.AcceptedAt < since {
			continue
		}
		if l.Count++; l.Count == 1 {
			l.First = m
		}
		l.Last = m
	}
	l.More = l.Count == latelyMost && list.Older > 0
	return l, err
}

func (l Lately) String() string {
	if l.Count == 1 {
		return fmt.Sprintf("%s of %s, to %s, did not arrive (%s)", l.Last.ID, clock.At(l.Last.AcceptedAt), l.Last.To, l.Last.Status)
	}
	count := strconv.Itoa(l.Count)
	if l.More {
		count = "more than " + count
	}
	return fmt.Sprintf("%s messages since %s did not arrive, the last one to %s (%s)", count, clock.At(l.First.AcceptedAt), l.Last.To, l.Last.Status)
}

// Redeliver sends a message again.
func (c *Client) Redeliver(ctx context.Context, id string) (Message, error) {
	return call[Message](ctx, c, "POST", messagePath(id)+"/redeliver", nil)
}
