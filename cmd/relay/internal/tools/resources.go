package tools

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// source is what a user may put before their agent by its address. Reading it changes nothing: no
// message counts as read by that.
type source struct {
	uri, name, says, kind string
	read                  func(ctx context.Context, d *desk, of string) (any, error) // of: what stands for the part in braces
}

const (
	plainText = "text/plain"
	jsonText  = "application/json"
)

var sources = []source{
	{"relay://agents", "agents", "Who can be written to, and how they are", jsonText,
		func(ctx context.Context, d *desk, _ string) (any, error) { return listAgents(ctx, d, struct{}{}) }},
	{"relay://messages", "messages", "The newest messages to you", jsonText, newest},
	{"relay://guide", "guide", "How agents write to each other", plainText,
		func(context.Context, *desk, string) (any, error) { return Skill(), nil }},
	{"relay://messages/{id}", "message", "A message, and what became of it", jsonText,
		func(ctx context.Context, d *desk, id string) (any, error) {
			return ask(ctx, d, func(c *api.Client) (api.Message, error) { return c.Message(ctx, id, "", 0) })
		}},
	{"relay://agents/{name}/screen", "screen", "What an agent's terminal shows", plainText,
		func(ctx context.Context, d *desk, name string) (any, error) {
			s, err := ask(ctx, d, func(c *api.Client) (protocol.ScreenAnswer, error) { return c.Screen(ctx, name) })
			return strings.TrimRight(strings.Join(s.Rows, "\n"), "\n") + "\n", err
		}},
}

// newest are the last messages to the caller.
func newest(ctx context.Context, d *desk, _ string) (any, error) {
	return ask(ctx, d, func(c *api.Client) (api.Messages, error) { return c.Newest(ctx, api.Query{To: d.Name}, recentMost) })
}

// offerSources adds the resources and their templates to a server.
func (d *desk) offerSources(s *mcp.Server) {
	for _, o := range sources {
		if strings.Contains(o.uri, "{") {
			s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: o.uri, Name: o.name, Description: o.says, MIMEType: o.kind}, d.reader(o))
			continue
		}
		s.AddResource(&mcp.Resource{URI: o.uri, Name: o.name, Description: o.says, MIMEType: o.kind}, d.reader(o))
	}
}

// reader reads one of them for a client.
func (d *desk) reader(o source) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		answer, err := o.read(ctx, d, o.part(r.Params.URI))
		var none *router.ErrorValue
		if errors.As(err, &none) && (none.Code == router.UnknownAgent || none.Code == string(protocol.UnknownID)) {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		if err != nil {
			return nil, errors.New(refusal(err))
		}
		text, ok := answer.(string)
		if !ok {
			b, err := json.MarshalIndent(answer, "", "  ")
			if err != nil {
				return nil, err
			}
			text = string(protocol.Escape(b))
		}
		return &mcp.ReadResourceResult{
			Contents:  []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: o.kind, Text: text}},
			Cacheable: mcp.Cacheable{CacheScope: "private"}, // for this caller, and for now
		}, nil
	}
}

// part is what an address has in place of the part in braces.
func (o source) part(uri string) string {
	before, after, found := strings.Cut(o.uri, "{")
	if !found {
		return ""
	}
	_, after, _ = strings.Cut(after, "}")
	part := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}
