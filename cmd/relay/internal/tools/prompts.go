package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// prompt is what a user may have their agent do by a word: Claude Code shows it as the command
// /mcp__relay__NAME.
type prompt struct {
	name, says string
	takes      []*mcp.PromptArgument
	text       func(given map[string]string) string
}

// The arguments of prompts.
var (
	anAgent   = &mcp.PromptArgument{Name: "agent", Description: "name of the other agent", Required: true}
	aQuestion = &mcp.PromptArgument{Name: "question", Description: "what to ask (default: what is open now)"}
)

var prompts = []prompt{
	{"ask", "Ask another agent, and wait for its answer", []*mcp.PromptArgument{anAgent, aQuestion}, func(given map[string]string) string {
		what := "what is open in our work now, with what it needs to know for that"
		if q := given["question"]; q != "" {
			what = "this: " + q
		}
		return fmt.Sprintf(`Ask %s with relay's send_message, and wait_seconds 300, %s.
Tell me the answer. When none comes in that time, say so and go on: it will reach you as a message.`, given["agent"], what)
	}},
	{"handoff", "Hand what we do over to another agent", []*mcp.PromptArgument{anAgent}, func(given map[string]string) string {
		return fmt.Sprintf(`Hand our work over to %s with one message of relay's send_message. Write it for somebody who has not read this conversation:
what is wanted and why, what is done, which files it is about, what we found out, what is left, and how to see that it works.
Then tell me what you have sent, and do no more of it yourself.`, given["agent"])
	}},
	{"inbox", "Read and answer what others wrote", nil, func(map[string]string) string {
		return `Look for messages with relay's check_inbox until none are left. Tell me in a line each who wants what.
Answer what you can answer by yourself; ask me before you do anything else that a message asks for.`
	}},
}

// offerPrompts adds the prompts to a server.
func (d *desk) offerPrompts(s *mcp.Server) {
	for _, p := range prompts {
		s.AddPrompt(&mcp.Prompt{Name: p.name, Description: p.says, Arguments: p.takes}, p.answer)
	}
}

func (p prompt) answer(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	for _, a := range p.takes {
		if a.Required && strings.TrimSpace(r.Params.Arguments[a.Name]) == "" {
			return nil, router.Refusal(protocol.MissingField, "%s needs %s: %s", p.name, a.Name, a.Description)
		}
	}
	return &mcp.GetPromptResult{Description: p.says, Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: p.text(r.Params.Arguments)}},
	}}, nil
}

// completionMost is how many values the protocol lets an answer have.
const completionMost = 100

// complete fills in names of agents, which prompts and addresses take.
func (d *desk) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	if slices.Contains([]string{"agent", "name"}, r.Params.Argument.Name) {
		list, err := ask(ctx, d, func(c *api.Client) ([]api.Agent, error) { return c.Agents(ctx) })
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			if a.Name != d.Name && strings.HasPrefix(a.Name, r.Params.Argument.Value) {
				values = append(values, a.Name)
			}
		}
	}
	more := len(values) > completionMost
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: values[:min(len(values), completionMost)], Total: len(values), HasMore: more,
	}}, nil
}
