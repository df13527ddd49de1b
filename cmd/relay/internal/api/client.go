package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// Client asks a router. Its methods may be called from any goroutine. Refusals are
// *router.ErrorValue.
type Client struct {
	http   http.Client
	token  string
	router atomic.Int64 // its process; 0: not known
	watching
}

// NewClient asks the router at a Unix socket, as the agent of that token if it is not empty.
func NewClient(socket, token string) *Client {
	c := &Client{token: token, watching: usual}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := sock.Connect(ctx, socket)
		if err != nil {
			return nil, err
		}
		c.router.Store(int64(sock.Peer(conn)))
		return conn, nil
	}
	c.http.Transport = &http.Transport{DialContext: dial}
	return c
}

// Health returns how the router is, or why it does not answer.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return call[Health](ctx, c, "GET", "/healthz", nil)
}

// Send sends a message.
func (c *Client) Send(ctx context.Context, s Send) (Message, error) {
	return call[Message](ctx, c, "POST", "/v1/messages", s)
}

// Message returns a message as soon as it has come to a level, or after that time.
func (c *Client) Message(ctx context.Context, id, until string, wait time.Duration) (Message, error) {
	q := url.Values{"until": {until}, "wait": {millis(wait)}}
	return call[Message](ctx, c, "GET", messagePath(id)+"?"+q.Encode(), nil)
}

// Which returns the id of the message that is meant by an id, the beginning of one, or last: then
// as says who asks, where no token does.
func (c *Client) Which(ctx context.Context, word, as string) (id string, err error) {
	m, err := call[Message](ctx, c, "GET", messagePath(word)+"?"+url.Values{"as": {as}}.Encode(), nil)
	return m.ID, err
}

// Reply answers a message.
func (c *Client) Reply(ctx context.Context, id string, a Answer) (Message, error) {
	return call[Message](ctx, c, "POST", messagePath(id)+"/reply", a)
}

// Life returns a message with its events.
func (c *Client) Life(ctx context.Context, id string) (Message, error) {
	return call[Message](ctx, c, "GET", messagePath(id)+"?life=true", nil)
}

// Cancel ends a message that was not typed yet.
func (c *Client) Cancel(ctx context.Context, id string) (Message, error) {
	return call[Message](ctx, c, "DELETE", messagePath(id), nil)
}

// EndChain ends the chain of a message.
func (c *Client) EndChain(ctx context.Context, id string) (Chain, error) {
	return call[Chain](ctx, c, "DELETE", messagePath(id)+"/chain", nil)
}

// ResumeChain lets the chain of a message go on.
func (c *Client) ResumeChain(ctx context.Context, id string) (Chain, error) {
	return call[Chain](ctx, c, "POST", messagePath(id)+"/resume", nil)
}

// Remind sets a reminder.
func (c *Client) Remind(ctx context.Context, r Remind) (Reminder, error) {
	return call[Reminder](ctx, c, "POST", "/v1/reminders", r)
}

// Reminders returns what is to be sent later to a name, or to anybody where it is empty.
func (c *Client) Reminders(ctx context.Context, to string) ([]Reminder, error) {
	r, err := call[Reminders](ctx, c, "GET", "/v1/reminders?"+url.Values{"to": {to}}.Encode(), nil)
	return r.Reminders, err
}

func messagePath(id string) string { return "/v1/messages/" + url.PathEscape(id) }

// Cursor returns the number of the newest event.
func (c *Client) Cursor(ctx context.Context) (int64, error) {
	e, err := c.Events(ctx, Query{After: FromNow})
	return e.Cursor, err
}

// Newest returns the newest messages after q.After, last at most (0: all), as they came. Where
// there are none it waits for the next ones.
func (c *Client) Newest(ctx context.Context, q Query, last int) (Messages, error) {
	v := q.values()
	v.Set("last", strconv.Itoa(last))
	if q.Past {
		v.Set("past", "true")
	}
	v.Set("wait", millis(q.Wait))
	return call[Messages](ctx, c, "GET", "/v1/messages?"+v.Encode(), nil)
}

// Agent returns what is known of an agent.
func (c *Client) Agent(ctx context.Context, name string) (AgentStatus, error) {
	return call[AgentStatus](ctx, c, "GET", agentPath(name), nil)
}

// Queue returns what waits for a name.
func (c *Client) Queue(ctx context.Context, name string) (Messages, error) {
	return call[Messages](ctx, c, "GET", agentPath(name)+"/queue", nil)
}

// Screen returns what an agent shows.
func (c *Client) Screen(ctx context.Context, name string) (protocol.ScreenAnswer, error) {
	return call[protocol.ScreenAnswer](ctx, c, "GET", agentPath(name)+"/screen", nil)
}

// Explain returns why an agent's state is what it is.
func (c *Client) Explain(ctx context.Context, name string) (protocol.ExplainAnswer, error) {
	return call[protocol.ExplainAnswer](ctx, c, "GET", agentPath(name)+"/explain", nil)
}

// Pause lets nothing be typed into an agent for so long; 0: until Resume.
func (c *Client) Pause(ctx context.Context, name string, d time.Duration) (Agent, error) {
	return call[Agent](ctx, c, "POST", agentPath(name)+"/pause", Pause{d.Milliseconds()})
}

// Resume ends a pause.
func (c *Client) Resume(ctx context.Context, name string) (Agent, error) {
	return call[Agent](ctx, c, "POST", agentPath(name)+"/resume", nil)
}

// Keys presses keys in an agent. When it is not answered, they may have been pressed.
func (c *Client) Keys(ctx context.Context, name string, k Keys) (Pressed, error) {
	return call[Pressed](ctx, c, "POST", agentPath(name)+"/keys", k)
}

// Pull takes messages to a name that no wrapper types for, or none when the time was over. They
// come again unless they are acknowledged.
func (c *Client) Pull(ctx context.Context, name string, p Pull) (Messages, error) {
	return call[Messages](ctx, c, "POST", agentPath(name)+"/pull", p)
}

// PullAck says that messages have been read.
func (c *Client) PullAck(ctx context.Context, name string, ids []string) error {
	return c.do(ctx, "POST", agentPath(name)+"/pull_ack", PullAck{ids}, &struct{}{})
}

func agentPath(name string) string { return "/v1/agents/" + url.PathEscape(name) }

// Agents returns all known agents.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	a, err := call[Agents](ctx, c, "GET", "/v1/agents", nil)
	return a.Agents, err
}

// Query says which events or messages are asked for. What is empty does not matter; self is the
// agent that asks.
type Query struct {
	After            int64 // FromNow: what comes next
	Types            []string
	Target, From, To string
	Wait             time.Duration
	Past             bool // of messages: also those to all and to the channels of To that it did not get
	Known            bool // Target and From name somebody that is known, else that is refused
	KnownTo          bool // To does, too
}

// FromNow is the cursor behind all that has happened.
const FromNow = -1

func (q Query) values() url.Values {
	v := url.Values{}
	if q.After != FromNow {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	if q.Known {
		v.Set("known", "target,from")
	}
	if q.KnownTo {
		v.Set("known", "target,from,to")
	}
	for name, value := range map[string]string{"event": strings.Join(q.Types, ","), "target": q.Target, "from": q.From, "to": q.To} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// Events returns some events, or none when the time was over.
func (c *Client) Events(ctx context.Context, q Query) (Events, error) {
	v := q.values()
	v.Set("wait", millis(q.Wait))
	return call[Events](ctx, c, "GET", "/v1/events?"+v.Encode(), nil)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// call is do with an answer of its own.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (answer T, err error) {
	err = c.do(ctx, method, path, body, &answer)
	return answer, err
}

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.watch(ctx, cancel)()
	r, err := http.NewRequestWithContext(ctx, method, "http://router"+path, &b)
	if err != nil {
		return err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		err = json.NewDecoder(answer.Body).Decode(into)
	} else {
		refused := &router.ErrorValue{}
		if err = json.NewDecoder(answer.Body).Decode(refused); err == nil {
			return refused
		}
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("%w: %s %s: %s: %w", ErrLost, method, path, answer.Status, err)
	}
	return nil
}

// ErrLost is that a request was not answered; it may have been carried out.
var ErrLost = errors.New("no answer from the router")
