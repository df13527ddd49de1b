package tools

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/registry"
)

// rig is a router, whose callers are in this process.
type rig struct {
	t    *testing.T
	hub  *hub.Hub
	api  *api.Client
	last atomic.Int64 // id given
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t}
	dir := testrig.Dir(t)
	log, err := store.Open(t.Context(), filepath.Join(dir, "store"), store.Limit{Age: 1 << 60, Bytes: 1 << 30})
	must(t, err)
	t.Cleanup(func() { log.Close() })
	if r.hub, err = hub.New(t.Context(), log, router.Rules{Urgent: []string{router.Human}}, r.id); err != nil {
		t.Fatal(err)
	}
	if err := r.hub.Missed(t.Context(), func(router.Agent) bool { return false }); err != nil { // nobody runs
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "router"))
	must(t, err)
	srv := httptest.NewUnstartedServer((&api.Server{Hub: r.hub, Agents: registry.At(dir)}).Handler())
	srv.Listener.Close() // not that one
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	r.api = api.NewClient(filepath.Join(dir, "router"), "")
	return r
}

func (r *rig) id() string { return fmt.Sprintf("m-%d", r.last.Add(1)) }

func (r *rig) ask(_ context.Context, f func(c *api.Client) error) error { return f(r.api) }

// caller is a client of a server for that name, and knows the name to the router.
func (r *rig) caller(name string) *caller {
	r.t.Helper()
	return r.server(Caller{Name: name, Ask: r.ask, NewID: r.id, Inbox: &AtRouter{Name: name, Ask: r.ask}})
}

// meets makes names known.
func (r *rig) meets(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if _, err := r.api.Send(r.t.Context(), api.Send{From: name, To: router.Human, Body: "I am here"}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// caller is an agent's side of a server.
type caller struct {
	t *testing.T
	*mcp.ClientSession
}

func (r *rig) server(c Caller) *caller {
	r.t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); New("1", c).Run(ctx, ours) }() // however it ends
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { client.Close(); cancel(); <-done })
	return &caller{r.t, client}
}

// arguments are those of a call.
type arguments = map[string]any

// calls returns an answer, the text of the messages that came with it, and whether it is a refusal.
func (c *caller) calls(tool string, args arguments) (answer, messages string, refused bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	var parts []string
	for _, part := range r.Content {
		parts = append(parts, part.(*mcp.TextContent).Text)
	}
	if r.StructuredContent != nil {
		c.t.Errorf("%s has structured content, which some agents show in place of the messages", tool)
	}
	return parts[0], strings.Join(parts[1:], "\n"), r.IsError
}

// does is calls that must succeed and whose answer must hold a text.
func (c *caller) does(tool string, args arguments, want string) (answer, messages string) {
	c.t.Helper()
	answer, messages, refused := c.calls(tool, args)
	if refused || !strings.Contains(answer, want) {
		c.t.Errorf("%s %v: got %s, want %q in it", tool, args, answer, want)
	}
	return answer, messages
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
