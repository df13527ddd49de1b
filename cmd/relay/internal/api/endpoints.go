package api

import (
	"net/http"
	"os"

	"relay-pty/protocol"
)

// endpoint is one of the API. Errors are an error value, with a status that goes with its code.
type endpoint struct {
	pattern string // as http.ServeMux has it
	does    string
	query   []parameter
	in, out any // values of the types of the request's body, nil for none, and of the answer
	answer  func(s *Server, r *http.Request) (any, error)
}

// parameter is one of a query; all may be left out.
type parameter struct{ name, kind, says string }

const (
	integer = "integer"
	text    = "string"
)

var (
	whose = []parameter{
		{"target", text, "only those from or to this name; self is the agent that asks"},
		{"from", text, "only those of this sender"},
		{"to", text, "only those to this recipient"},
		{"known", text, "which of target, from and to, with commas between, are to be known names"},
	}
	afterEvent = parameter{"after", integer, "only those after this number of an event"}
	waiting    = parameter{"wait", integer, "how many milliseconds to wait at most"}
)

// endpoints is the whole API but for the events, which may be a stream.
var endpoints = append([]endpoint{
	{"POST /v1/messages", "Sends a message. The same id again is the same message.", nil, Send{}, Message{}, (*Server).send},
	{
		"GET /v1/messages", "The newest messages, as they came; waits where there are none.",
		append([]parameter{
			afterEvent, waiting, {"last", integer, "so many at most; 0: all"},
			{"past", text, "true: also what went to all and to the channels of to, and did not reach it"},
		}, whose...), nil, Messages{}, (*Server).messages,
	},
	{
		"GET /v1/messages/{id}", "What became of a message. Here alone its id may be cut, where no other begins so; last is the newest one to or from who asks.", []parameter{
			{"as", text, "who asks, for last, where no token says so"}, waiting, {"until", text, "wait until it is queued, delivered or replied, or has ended"}, {"life", text, "true: with its events"},
		}, nil, Message{}, (*Server).message,
	},
	{"DELETE /v1/messages/{id}", "Takes a message back that was not delivered yet.", nil, nil, Message{}, (*Server).cancel},
	{"DELETE /v1/messages/{id}/chain", "Ends its chain: takes back what is under way, and all that comes.", nil, nil, Chain{}, (*Server).endChain},
	{"POST /v1/messages/{id}/resume", "Lets its chain go on, as far again, where it is paused.", nil, nil, Chain{}, (*Server).resumeChain},
	{"POST /v1/messages/{id}/reply", "Answers a message, in the name of its recipient.", nil, Answer{}, Message{}, (*Server).reply},
	{
		"POST /v1/reminders", "Sends a message to whoever asks, later. The same id again is the same reminder.",
		nil, Remind{}, Reminder{}, (*Server).remind,
	},
	{
		"GET /v1/reminders", "What is to be sent later, notices included; DELETE /v1/messages/{id} cancels it.",
		[]parameter{{"to", text, "only what is to this name; self is the agent that asks"}},
		nil, Reminders{}, (*Server).reminders,
	},
	{"GET /v1/agents", "All agents, those that no longer run included.", nil, nil, Agents{}, (*Server).agents},
	{"GET /v1/agents/{name}", "What is known of an agent, and what its wrapper says.", nil, nil, AgentStatus{}, (*Server).agent},
	{"GET /v1/agents/{name}/queue", "What waits for a name, what goes first at the top.", nil, nil, Messages{}, (*Server).queue},
	{"GET /v1/agents/{name}/screen", "What an agent shows.", nil, nil, protocol.ScreenAnswer{}, (*Server).screen},
	{"GET /v1/agents/{name}/explain", "Why an agent's state is what it is: each sign, and which one decided.", nil, nil, protocol.ExplainAnswer{}, (*Server).explain},
	{"POST /v1/agents/{name}/pause", "Lets no message begin to be typed into an agent, for so long or until a resume.", nil, Pause{}, Agent{}, (*Server).pause},
	{"POST /v1/agents/{name}/resume", "Ends a pause.", nil, nil, Agent{}, (*Server).resume},
	{"POST /v1/agents/{name}/keys", "Presses keys in an agent whose wrapper allows commands.", nil, Keys{}, Pressed{}, (*Server).keys},
	{"POST /v1/agents/{name}/pull", "Takes messages to a name that no wrapper types for; they come again unless they are acknowledged within 30 s.", nil, Pull{}, Messages{}, (*Server).pull},
	{"POST /v1/agents/{name}/pull_ack", "Says that messages were read: they are delivered.", nil, PullAck{}, struct{}{}, (*Server).pullAck},
	{"GET /healthz", "Whether the router is well.", nil, nil, Health{}, (*Server).healthy},
}, append(channelEndpoints, deadEndpoints...)...)

// eventsQuery are the parameters of the events.
var eventsQuery = append([]parameter{afterEvent, waiting, {"event", text, "only these types, separated by commas"}}, whose...)

func (s *Server) healthy(*http.Request) (any, error) {
	is := Health{OK: true, PID: os.Getpid(), Version: s.Version}
	if err := s.Hub.Trouble(); err != nil {
		is.Degraded, is.Problem = true, err.Error()
	}
	if s.Log != nil {
		is.Damaged = s.Log.Faults()
	}
	return is, nil
}
