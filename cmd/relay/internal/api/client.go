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
	return m, c.do(ctx, "GET", "/v1/messages/"+url.PathEscape(id)+"?"+q.Encode(), nil, &m)
}

// Agents returns all known agents.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var a Agents
	return a.Agents, c.do(ctx, "GET", "/v1/agents", nil, &a)
}

// Query says which events are asked for.
type Query struct {
	After  int64 // FromNow: what comes next
	Types  []string
	Target string
	Wait   time.Duration
}

// FromNow is the cursor behind all that has happened.
const FromNow = -1

// Events returns some events, or none when the time was over.
func (c *Client) Events(ctx context.Context, q Query) (e Events, err error) {
	v := url.Values{"wait": {millis(q.Wait)}}
	if q.After != FromNow {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	if len(q.Types) > 0 {
		v.Set("event", strings.Join(q.Types, ","))
	}
	if q.Target != "" {
		v.Set("target", q.Target)
	}
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
