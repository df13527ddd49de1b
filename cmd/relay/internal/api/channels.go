package api

import (
	"context"
	"net/http"
	"net/url"

	"relay-pty/cmd/relay/internal/router"
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
