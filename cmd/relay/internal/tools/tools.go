// Package tools is the router as agents call it: an MCP server with a tool for each thing that the
// command line does for people. It keeps nothing but which messages the agent was shown last; all
// else is the router's. The goroutines are those of the SDK, which end with their session.
//
// A tool's answer brings the messages that wait. It counts as read when the log of Claude Code or
// Codex shows it among the results of tools, whole, under the title that we give it, or at the
// agent's next call, unless it cancelled the one that was answered so, and is none of those that
// cancel each call; until then the messages are leased. An answer is text without structured
// content: of a result with both, Claude Code and Codex show their model the structured content
// alone (measured), so the messages would be lost. An agent in a wrapper takes its messages from
// the wrapper's queue, whose leases keep them from being typed, too.
//
// Over HTTP each session has a server of its own, and all share the tools. A session's id is signed
// for who began it, so nobody goes on with another's. What would go with an answer that nobody
// waits for any more is not taken, and goes with the next one. Streams cannot be resumed: a message
// that went with a lost answer comes again.
package tools

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/inject/agents"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// Caller is the agent that calls, and what answers it. All of it may be used by many goroutines.
type Caller struct {
	Name  string
	Ask   func(ctx context.Context, f func(c *api.Client) error) error // may call f twice
	Inbox Inbox
	NewID func() string
}

// New is a server for one caller.
func New(version string, c Caller) *mcp.Server { return serve(version, &desk{Caller: c}, nil) }

// serve makes a server of a desk. newID gives sessions over HTTP their ids.
func serve(version string, d *desk, newID func() string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "relay", Title: "relay", Version: version}, &mcp.ServerOptions{
		Instructions: Instructions(d.Name), GetSessionID: newID,
		Capabilities:      &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
		CompletionHandler: d.complete,
	})
	d.offerSources(s)
	d.offerPrompts(s)
	d.mail = mail{inbox: d.Inbox, ever: map[string]bool{}}
	s.AddReceivingMiddleware(d.notices)
	for _, t := range all() {
		s.AddTool(&mcp.Tool{Name: t.name, Description: t.says, InputSchema: t.takes, Annotations: harmless()}, d.handler(t))
	}
	return s
}

// notices has the mail know of calls that the caller gave up.
func (d *desk) notices(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "notifications/cancelled" && !endsSo(r) {
			d.mail.cancelled()
		}
		return next(ctx, method, r)
	}
}

// endsSo reports whether the caller cancels each call at its end, also those whose answers it has
// read.
func endsSo(r mcp.Request) bool {
	s, ok := r.GetSession().(*mcp.ServerSession)
	if !ok {
		return false
	}
	who := s.InitializeParams()
	return who != nil && who.ClientInfo != nil && agents.CancelsAll(who.ClientInfo.Name)
}

// harmless says that a tool destroys nothing, and reaches nobody outside of this computer: by that
// agents decide whether to ask their user each time.
func harmless() *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
}

// Serve answers one client by lines of JSON until its side ends or ctx does, and calls that wait
// end with it. Whoever reads in is woken by nothing but in's own end: that goroutine ends with the
// process.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	r, w := io.Pipe()
	answers := &shared{to: out}
	go func() { w.CloseWithError(lines{to: w, out: answers}.copy(in)) }()
	// To the SDK ctx is the end of the input: by it alone it cancels calls that wait.
	stop := context.AfterFunc(ctx, func() { w.Close() })
	defer stop()
	err := s.Run(context.WithoutCancel(ctx), &mcp.IOTransport{Reader: r, Writer: answers})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// desk answers the tools of one caller.
type desk struct {
	Caller
	mail mail
	gone func(request http.Header) bool // whether nobody waits for an answer; nil: that cannot be known
}

// heard reports whether somebody waits for the answer.
func (d *desk) heard(r *mcp.CallToolRequest) bool {
	return d.gone == nil || r.Extra == nil || !d.gone(r.Extra.Header)
}

// errUnheard is of a call for whose answer nobody waits: messages that go with it would be lost.
var errUnheard = errors.New("nobody waits for the answer")

// handler answers calls of a tool. What the caller was shown before, it has read by now; what waits
// for it goes with the answer, refusals included.
//
// An answer is text. Where there is structured content, too, Claude Code (2.1.197, 2.1.329) and
// Codex (0.169.0) show their model that alone, so that the messages would be lost.
func (d *desk) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		d.mail.read(ctx)
		defer d.mail.begins()()
		answer, err := t.call(ctx, d, r.Params.Arguments)
		if ctx.Err() != nil || !d.heard(r) {
			return nil, cmp.Or(context.Cause(ctx), errUnheard)
		}
		text, ids := d.mail.waiting(ctx, most(answer), told(answer))
		if ctx.Err() != nil || !d.heard(r) {
			return nil, cmp.Or(context.Cause(ctx), errUnheard)
		}
		d.mail.show(ids)
		if in, ok := answer.(*inbox); ok {
			in.Messages = len(ids)
		}
		result := &mcp.CallToolResult{IsError: err != nil}
		for _, part := range []string{says(answer, err), text} {
			if part != "" {
				result.Content = append(result.Content, &mcp.TextContent{Text: part})
			}
		}
		return result, nil
	}
}

// most is how many messages go with an answer.
func most(answer any) int {
	if in, ok := answer.(*inbox); ok {
		return in.most
	}
	return usualMost
}

// told is the message that an answer tells already.
func told(answer any) string {
	if s, ok := answer.(*sent); ok && s.Reply != nil {
		return s.Reply.ID
	}
	return ""
}

// says is an answer as a model reads it.
func says(answer any, err error) string {
	if err != nil {
		return refusal(err)
	}
	b, err := protocol.JSON(answer)
	if err != nil {
		return refusal(err) // none of ours
	}
	return string(b)
}

// refusal is an error as a model reads it: a code, when there is one, and a sentence.
func refusal(err error) string {
	var refused *router.ErrorValue
	var wrapper *protocol.Error
	var sandbox *sock.SandboxError
	switch {
	case errors.As(err, &refused):
		return refused.Code + ": " + err.Error()
	case errors.As(err, &wrapper):
		return string(wrapper.Code) + ": " + err.Error()
	case errors.As(err, &sandbox): // the agent's tools are in it, too
		return sandbox.Code() + ": " + err.Error() + "; write ->relay:NAME <<<text>>> in your answer instead"
	}
	return string(protocol.Degraded) + ": " + err.Error()
}

// ask asks the router one thing.
func ask[T any](ctx context.Context, d *desk, f func(c *api.Client) (T, error)) (answer T, err error) {
	err = d.Ask(ctx, func(c *api.Client) (err error) { answer, err = f(c); return err })
	return answer, err
}
