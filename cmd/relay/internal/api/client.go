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
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Client asks a router. Its methods may be called from any goroutine. Refusals are
// *router.ErrorValue.
type Client struct {
	http  http.Client
	token string
}

// NewClient asks the router at a Unix socket, as the agent of that token if it is not empty.
func NewClient(socket, token string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{http: http.Client{Transport: &http.Transport{DialContext: dial}}, token: token}
}

// Healthy says why the router does not answer, or nil.
func (c *Client) Healthy(ctx context.Context) error {
	return c.do(ctx, "GET", "/healthz", nil, &struct{}{})
}

// Send sends a message.
func (c *Client) Send(ctx context.Context, s Send) (m Message, err error) {
	return m, c.do(ctx, "POST", "/v1/messages", s, &m)
}

// Message returns a message as soon as it has come to a level, or after that time.
func (c *Client) Message(ctx context.Context, id, until string, wait time.Duration) (m Message, err error) {
	q := url.Values{"until": {until}, "wait": {millis(wait)}}
	return m, c.do(ctx, "GET", messagePath(id)+"?"+q.Encode(), nil, &m)
}

// Reply answers a message.
func (c *Client) Reply(ctx context.Context, id string, a Answer) (m Message, err error) {
	return m, c.do(ctx, "POST", messagePath(id)+"/reply", a, &m)
}

// Life returns a message with its events.
func (c *Client) Life(ctx context.Context, id string) (m Message, err error) {
	return m, c.do(ctx, "GET", messagePath(id)+"?life=true", nil, &m)
}

// Cancel ends a message that was not typed yet.
func (c *Client) Cancel(ctx context.Context, id string) (m Message, err error) {
	return m, c.do(ctx, "DELETE", messagePath(id), nil, &m)
}

func messagePath(id string) string { return "/v1/messages/" + url.PathEscape(id) }

// Cursor returns the number of the newest event.
func (c *Client) Cursor(ctx context.Context) (int64, error) {
	e, err := c.Events(ctx, Query{After: FromNow})
	return e.Cursor, err
}

// Newest returns the newest messages after q.After, last at most (0: all), as they came. Where there
// are none it waits for the next ones.
func (c *Client) Newest(ctx context.Context, q Query, last int) (m Messages, err error) {
	v := q.values()
	v.Set("last", strconv.Itoa(last))
	v.Set("wait", millis(q.Wait))
	return m, c.do(ctx, "GET", "/v1/messages?"+v.Encode(), nil, &m)
}

// Agent returns what is known of an agent.
func (c *Client) Agent(ctx context.Context, name string) (a AgentStatus, err error) {
	return a, c.do(ctx, "GET", agentPath(name), nil, &a)
}

// Queue returns what waits for a name.
func (c *Client) Queue(ctx context.Context, name string) (m Messages, err error) {
	return m, c.do(ctx, "GET", agentPath(name)+"/queue", nil, &m)
}

// Screen returns what an agent shows.
func (c *Client) Screen(ctx context.Context, name string) (a protocol.ScreenAnswer, err error) {
	return a, c.do(ctx, "GET", agentPath(name)+"/screen", nil, &a)
}

// Pull takes messages to a name that no wrapper types for, or none when the time was over. They
// come again unless they are acknowledged.
func (c *Client) Pull(ctx context.Context, name string, p Pull) (m Messages, err error) {
	return m, c.do(ctx, "POST", agentPath(name)+"/pull", p, &m)
}

// PullAck says that messages have been read.
func (c *Client) PullAck(ctx context.Context, name string, ids []string) error {
	return c.do(ctx, "POST", agentPath(name)+"/pull_ack", PullAck{ids}, &struct{}{})
}

func agentPath(name string) string { return "/v1/agents/" + url.PathEscape(name) }

// Agents returns all known agents.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var a Agents
	return a.Agents, c.do(ctx, "GET", "/v1/agents", nil, &a)
}

// Query says which events or messages are asked for. What is empty does not matter; self is the
// agent that asks.
type Query struct {
	After            int64 // FromNow: what comes next
	Types            []string
	Target, From, To string
	Wait             time.Duration
}

// FromNow is the cursor behind all that has happened.
const FromNow = -1

func (q Query) values() url.Values {
	v := url.Values{}
	if q.After != FromNow {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	for name, value := range map[string]string{"event": strings.Join(q.Types, ","), "target": q.Target, "from": q.From, "to": q.To} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// Events returns some events, or none when the time was over.
func (c *Client) Events(ctx context.Context, q Query) (e Events, err error) {
	v := q.values()
	v.Set("wait", millis(q.Wait))
	return e, c.do(ctx, "GET", "/v1/events?"+v.Encode(), nil, &e)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://router"+path, &b)
	if err != nil {
		return err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
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
	if err != nil {
		return fmt.Errorf("%w: %s %s: %s: %w", ErrLost, method, path, answer.Status, err)
	}
	return nil
}

// ErrLost is that a request was not answered; it may have been carried out.
var ErrLost = errors.New("no answer from the router")
