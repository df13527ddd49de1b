package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// Channel is who gets what is sent to it.
type Channel struct {
	Name    string   `json:"name"`
	Members []string `json:"members"`
}

// Channels are those that have members.
type Channels struct {
	Channels []Channel `json:"channels"`
}

// Member says who joins or leaves. As counts only where no token says who asks.
type Member struct {
	As string `json:"as,omitzero"`
}

// Delivery is what became of a message to several for one of them.
type Delivery struct {
	ID         string             `json:"id"`
	To         string             `json:"to"`
	Status     string             `json:"status"`
	Evidence   string             `json:"evidence,omitzero"`
	WaitingFor *string            `json:"waiting_for"`
	Error      *router.ErrorValue `json:"error,omitzero"`
	Running    bool               `json:"running"`
	Reads      bool               `json:"reads,omitzero"`
	Abandoned  bool               `json:"abandoned,omitzero"`
	Outcome    string             `json:"outcome,omitzero"`
}

// channelEndpoints are those about channels, whose names stand in a path without their '#'.
var channelEndpoints = []endpoint{
	{"GET /v1/channels", "The channels that have members.", nil, nil, Channels{}, (*Server).channels},
	{
		"POST /v1/channels/{name}/join", "Joins a channel: what is sent to it from now on is delivered to its members.",
		nil, Member{}, Channel{}, (*Server).join,
	},
	{"POST /v1/channels/{name}/leave", "Leaves a channel.", nil, Member{}, Channel{}, (*Server).leave},
}

func (s *Server) channels(*http.Request) (any, error) {
	var answer Channels
	s.Hub.View(func(state *router.State, _ func(string) bool) {
		answer.Channels = []Channel{}
		for _, name := range state.Channels() {
			answer.Channels = append(answer.Channels, Channel{name, state.Members(name)})
		}
	})
	return answer, nil
}

func (s *Server) join(r *http.Request) (any, error)  { return s.member(r, true) }
func (s *Server) leave(r *http.Request) (any, error) { return s.member(r, false) }

func (s *Server) member(r *http.Request, joins bool) (any, error) {
	var ask Member
	if err := decode(r, &ask); err != nil {
		return nil, err
	}
	who, err := s.sender(r, ask.As)
	if err != nil {
		return nil, err
	}
	answer := Channel{Name: "#" + r.PathValue("name"), Members: []string{}}
	members, err := s.Hub.Member(r.Context(), who, answer.Name, joins)
	answer.Members = append(answer.Members, members...)
	return answer, err
}

// Channels returns the channels that have members.
func (c *Client) Channels(ctx context.Context) ([]Channel, error) {
	a, err := call[Channels](ctx, c, "GET", "/v1/channels", nil)
	return a.Channels, err
}

// Member joins a channel, named without its '#', or leaves it.
func (c *Client) Member(ctx context.Context, channel, as string, joins bool) (Channel, error) {
	verb := "/leave"
	if joins {
		verb = "/join"
	}
	return call[Channel](ctx, c, "POST", "/v1/channels/"+url.PathEscape(channel)+verb, Member{as})
}

// deliveries tells what became of a message to several, recipient by recipient. The message runs
// while any that has it not yet does; it is abandoned when all are over, one of them so.
func (m *Message) deliveries(state *router.State, running func(string) bool, list []*router.Known) {
	m.Running = false
	over, abandoned := true, false
	for _, k := range list {
		one := messageOf(state, *k, running(k.To))
		d := Delivery{
			ID: k.ID, To: k.To, Status: k.Status, Evidence: k.Evidence, WaitingFor: one.WaitingFor,
			Error: k.Error, Running: one.Running, Reads: !state.Wrapped(k.To), Abandoned: state.Abandoned(k), Outcome: k.Result.Outcome,
		}
		m.Recipients = append(m.Recipients, d)
		m.answers(state, k)
		m.Running = m.Running || d.Running && d.Status == router.StatusAccepted
		over, abandoned = over && d.over(), abandoned || d.Abandoned
	}
	m.Abandoned = over && abandoned && len(m.Replies) == 0
}

// answers adds the answers to a message.
func (m *Message) answers(state *router.State, k *router.Known) {
	for _, reply := range k.Replies {
		if r, ok := state.Find(reply); ok {
			m.Replies = append(m.Replies, Reply{ID: r.ID, From: r.From, Body: r.Body})
		}
	}
	if len(k.Replies) == 0 && k.Words != "" {
		m.Replies = append(m.Replies, Reply{From: k.To, Body: k.Words, Inferred: true})
	}
}

// Typed are the recipients whose wrappers a message to several is typed by. People and scripts read
// when they like, so nobody waits for them, unless the message went to nobody else.
func (m Message) Typed() []Delivery {
	typed := slices.DeleteFunc(slices.Clone(m.Recipients), func(d Delivery) bool { return d.Reads })
	if len(typed) == 0 {
		return m.Recipients
	}
	return typed
}

// over reports whether no answer can come any more.
func (d Delivery) over() bool {
	return d.Abandoned || d.Outcome != "" || unheard(d.Error) || router.Ended(d.Status) && !mayBeAnswered(d.Status, d.Error)
}

// answered reports whether a message to several has an answer, or none can come.
func (m Message) answered() bool {
	for _, d := range m.Recipients {
		if !d.over() {
			return len(m.Replies) > 0
		}
	}
	return true
}

// cancelAll takes a message to several back from all that have not got it. It is too late only
// where it is for all of them.
func (s *Server) cancelAll(ctx context.Context, m Message) (any, error) {
	var late error
	taken := false
	for _, d := range m.Recipients {
		if router.Ended(d.Status) && d.Status != protocol.StatusCancelled {
			late = fault(string(protocol.TooLate), "%s is %s", d.ID, d.Status)
			continue
		}
		if _, err := s.cancelOne(ctx, d.ID); err != nil {
			late = err
			continue
		}
		taken = true
	}
	if !taken {
		return nil, late
	}
	m, _ = s.look(m.ID) // it is known
	return m, nil
}

// reaches reports whether a message is to that name, or to several and that name is one of them.
func (m Message) reaches(name string) bool {
	return m.To == name || slices.ContainsFunc(m.Recipients, func(d Delivery) bool { return d.To == name })
}
