package api

import (
	"context"
	"fmt"
	"strings"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// ears find out for whoever waits for an answer whether the recipients can be heard. Each wrapper
// is asked when the wait begins, and again when the message has come further there: a program may
// begin to draw its screen in between. Nobody waits for a wrapper that does not answer.
type ears struct {
	server *Server
	asked  map[string]string // the status of the message when a wrapper was asked, by recipient
	why    map[string]string // why a recipient cannot be heard
	told   chan told
}

// told is what a wrapper says of an agent.
type told struct{ name, why string }

func (s *Server) ears() *ears {
	return &ears{server: s, asked: map[string]string{}, why: map[string]string{}, told: make(chan told)}
}

// hears keeps what a wrapper said.
func (e *ears) hears(t told) { e.why[t.name] = t.why }

// listen marks recipients that cannot be heard, and asks those of which that is not known, until
// ctx ends.
func (e *ears) listen(ctx context.Context, m *Message) {
	if m.Reached(router.Replied) {
		return
	}
	var deaf []string
	mark := func(d *router.Delivery) {
		if d.Running && e.asked[d.To] != d.Status {
			e.asked[d.To] = d.Status
			go e.ask(ctx, d.To)
		}
		if why := e.why[d.To]; d.Running && why != "" && d.Error == nil {
			deaf = append(deaf, fmt.Sprintf("nobody hears %s: %s", d.To, why))
			d.Error = router.Refusal(router.Unheard, "%s", deaf[len(deaf)-1])
		}
	}
	for i := range m.Recipients {
		mark(&m.Recipients[i])
	}
	if len(m.Recipients) == 0 {
		mark(&m.Delivery)
	}
	if len(deaf) > 0 && m.Reached(router.Replied) {
		m.Error = router.Refusal(router.Unheard, "%s; %s", strings.Join(deaf, "; "), aloud)
	}
}

// aloud is how an agent that cannot be heard may answer, and what lets it be heard.
const aloud = "an answer by relay reply, or by relay's tools (MCP), still comes as a message; " +
	"--agent with the name of an agent, or with an overlay of one that keeps a log, lets it be heard"

// ask asks a wrapper whether its agent can be heard, unless that has answered by itself before.
func (e *ears) ask(ctx context.Context, name string) {
	speaks := false
	e.server.Hub.View(func(state *router.State, _ func(string) bool) { speaks = state.Speaks(name) })
	if speaks {
		return
	}
	answer, err := e.server.ask(ctx, name, &protocol.Status{})
	status, ok := answer.(*protocol.StatusAnswer)
	if err != nil || !ok {
		return // nothing is known of it
	}
	select {
	case e.told <- told{name, status.Unheard}:
	case <-ctx.Done():
	}
}
