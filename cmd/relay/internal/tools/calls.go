package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

type sendArguments struct {
	To      string  `json:"to" jsonschema:"name of the recipient, as list_agents shows it; human is the user of this computer"`
	Body    string  `json:"body" jsonschema:"the message, at most 65536 bytes; name a file instead of pasting a long one"`
	Mode    string  `json:"mode,omitzero" jsonschema:"sequential (default): when the recipient has finished its turn; important: at its next opportunity; urgent: interrupts it, if you may"`
	ReplyTo string  `json:"reply_to,omitzero" jsonschema:"id of the message that this one answers"`
	Thread  string  `json:"thread,omitzero" jsonschema:"a name of your choice for the conversation"`
	Wait    float64 `json:"wait_seconds,omitzero" jsonschema:"wait so long for the answer, up to 600 (default 0: do not wait)"`
}

// waitMost is how long a call may wait; agents give up on tools at some time.
const waitMost = 10 * time.Minute

// sent is what became of a message so far.
type sent struct {
	ID         string             `json:"id"`
	To         string             `json:"to"`
	Status     string             `json:"status"`
	WaitingFor *string            `json:"waiting_for,omitzero"`
	Error      *router.ErrorValue `json:"error,omitzero"`
	Reply      *router.Reply      `json:"reply,omitzero"`
	TimedOut   bool               `json:"timed_out,omitzero"`
	Note       string             `json:"note,omitzero"`
}

func send(ctx context.Context, d *desk, in sendArguments) (*sent, error) {
	wait := time.Duration(in.Wait * float64(time.Second))
	if in.Wait < 0 || in.Wait > waitMost.Seconds() {
		return nil, router.Refusal(protocol.BadField, "wait_seconds: %v is not between 0 and %v", in.Wait, waitMost.Seconds())
	}
	message := api.Send{To: in.To, Body: in.Body, From: d.Name, ID: d.NewID(), Mode: in.Mode, ReplyTo: in.ReplyTo, Thread: in.Thread,
		ReplyWithinMS: wait.Milliseconds(), Until: router.Queued, WaitMS: api.AcceptWait.Milliseconds()}
	began := time.Now()
	m, err := ask(ctx, d, func(c *api.Client) (api.Message, error) { return c.Send(ctx, message) })
	if err == nil && wait > 0 {
		m, err = m.Await(router.Replied, wait, m.WaitsSince(began), func(wait time.Duration) (api.Message, error) {
			return ask(ctx, d, func(c *api.Client) (api.Message, error) { return c.Message(ctx, message.ID, router.Replied, wait) })
		})
	}
	if err != nil {
		return nil, err
	}
	answer := sentOf(m)
	switch {
	case wait == 0:
	case len(m.Replies) > 0:
		answer.Reply, answer.Note = &m.Replies[0], ""
		d.arrived(ctx, m.Replies[0].ID)
	case m.Outcome != "":
		answer.Note = m.Ended()
	case m.Abandoned:
		answer.Note = m.To + " ended without an answer"
	case !m.Reached(router.Replied):
		answer.TimedOut = true
		answer.Note = strings.TrimPrefix(answer.Note+"; no answer yet: one that comes later reaches you as a message", "; ")
	}
	return answer, nil
}

func sentOf(m api.Message) *sent {
	return &sent{ID: m.ID, To: m.To, Status: m.Status, WaitingFor: m.WaitingFor, Error: m.Error, Note: note(m)}
}

// note says what a message waits for that is in no wrapper's queue.
func note(m api.Message) string {
	if m.Status != router.StatusAccepted {
		return ""
	}
	return m.WhyNot() + "; the message waits"
}

// arrived waits until an answer, which the caller is about to read, is where its inbox takes it
// from: else it would come a second time.
func (d *desk) arrived(ctx context.Context, id string) {
	if id == "" {
		return // the words of a turn, which are no message
	}
	d.Ask(ctx, func(c *api.Client) error { // where it fails, the answer is there all the same
		_, err := c.Message(ctx, id, router.Queued, api.AcceptWait)
		return err
	})
}

type replyArguments struct {
	Text   string `json:"reply_message" jsonschema:"your answer"`
	ID     string `json:"correlation_id,omitzero" jsonschema:"id of the message that you answer"`
	Caller string `json:"instance_id,omitzero" jsonschema:"your own name, if you want to give it"`
}

func replyToCaller(ctx context.Context, d *desk, in replyArguments) (*sent, error) {
	if err := d.is("instance_id", in.Caller); err != nil {
		return nil, err
	}
	if in.ID == "" {
		var err error
		if in.ID, err = d.waits(ctx); err != nil {
			return nil, err
		}
	}
	return d.reply(ctx, in.ID, in.Text)
}

type respondArguments struct {
	ID     string `json:"message_id" jsonschema:"id of the message that you answer"`
	Text   string `json:"response" jsonschema:"your answer"`
	Caller string `json:"agent_name,omitzero" jsonschema:"your own name, if you want to give it"`
}

func respondDirect(ctx context.Context, d *desk, in respondArguments) (*sent, error) {
	if err := d.is("agent_name", in.Caller); err != nil {
		return nil, err
	}
	return d.reply(ctx, in.ID, in.Text)
}

// is refuses a name that is not the caller's.
func (d *desk) is(argument, name string) error {
	if name == "" || name == d.Name {
		return nil
	}
	return router.Refusal(protocol.NotAuthorized, "you are %s, and %s says %s: leave it out, or give your own name", d.Name, argument, name)
}

func (d *desk) reply(ctx context.Context, id, text string) (*sent, error) {
	a := api.Answer{Body: text, From: d.Name, ID: d.NewID(), Until: router.Queued, WaitMS: api.AcceptWait.Milliseconds()}
	m, err := ask(ctx, d, func(c *api.Client) (api.Message, error) { return c.Reply(ctx, id, a) })
	if err == nil && m.Error != nil && m.Error.Code == router.AlreadyClosed {
		err = fmt.Errorf("%w. Your answer is kept as %s, and reaches %s as a message: do not send it again", m.Error, m.ID, m.To)
	}
	if err != nil {
		return nil, err
	}
	return sentOf(m), nil
}

// recentMost is among how many messages to the caller those are looked for that wait for an answer.
const recentMost = 50

// waits is the newest message that the caller has not answered. It is no guess: where more than one
// sender waits, none is.
func (d *desk) waits(ctx context.Context) (id string, err error) {
	list, err := ask(ctx, d, func(c *api.Client) (api.Messages, error) { return c.Newest(ctx, api.Query{To: d.Name}, recentMost) })
	if err != nil {
		return "", err
	}
	open := slices.DeleteFunc(list.Messages, func(m api.Message) bool { return m.From == router.Relay || !d.unanswered(m) })
	if len(open) == 0 {
		return "", router.Refusal(protocol.UnknownID, "no message to %s waits for an answer; send_message writes to anybody", d.Name)
	}
	last := open[len(open)-1]
	var others []string
	for _, m := range open {
		others = append(others, m.ShownID()+" from "+m.From)
		if m.From != last.From {
			id = m.ShownID()
		}
	}
	if id != "" {
		return "", router.Refusal(protocol.MissingField, "more than one sender waits for an answer: give correlation_id, one of %s", strings.Join(others, ", "))
	}
	return last.ShownID(), nil
}

// unanswered reports whether the caller has a message and has not answered it. What it was shown a
// moment ago the router may not know to be delivered yet.
func (d *desk) unanswered(m api.Message) bool {
	switch m.Status {
	case protocol.StatusDelivered, protocol.StatusUnknown:
		return true
	case router.StatusReplied:
		return false
	}
	return d.mail.has(m.ID)
}

type inboxArguments struct {
	Max int `json:"max,omitzero" jsonschema:"the most messages to show, 1 to 100 (default 10)"`
}

// inbox answers a look for messages, which go with it.
type inbox struct {
	You      string `json:"you"`
	Messages int    `json:"messages"` // known when they are taken
	most     int
}

func checkInbox(_ context.Context, d *desk, in inboxArguments) (*inbox, error) {
	if in.Max < 1 || in.Max > 100 {
		return nil, router.Refusal(protocol.BadField, "max: %d is not between 1 and 100", in.Max)
	}
	return &inbox{You: d.Name, most: in.Max}, nil
}

func listAgents(ctx context.Context, d *desk, _ struct{}) (answer struct {
	You    string      `json:"you"`
	Agents []api.Agent `json:"agents"`
}, err error) {
	answer.You = d.Name
	answer.Agents, err = ask(ctx, d, func(c *api.Client) ([]api.Agent, error) { return c.Agents(ctx) })
	return answer, err
}

type statusArguments struct {
	ID string `json:"id" jsonschema:"id of the message"`
}

// status is what became of a message; its text is left out.
type status struct {
	api.Message
	Body string `json:"body,omitzero"`
	Note string `json:"note,omitzero"`
}

func messageStatus(ctx context.Context, d *desk, in statusArguments) (status, error) {
	m, err := ask(ctx, d, func(c *api.Client) (api.Message, error) { return c.Message(ctx, in.ID, "", 0) })
	return status{Message: m, Note: note(m)}, err
}
