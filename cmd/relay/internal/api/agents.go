package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

func (s *Server) agents(r *http.Request) (any, error) {
	s.Hub.Looked(r.Context())
	var answer Agents
	var pids []int
	s.Hub.View(func(state *router.State, running func(string) bool) {
		answer.Agents, pids = []Agent{}, nil
		for _, a := range state.Agents() {
			if a.Wrapped {
				answer.Agents, pids = append(answer.Agents, agentOf(state, a, running)), append(pids, a.PID)
			} // else it is a script
		}
	})
	for i, pid := range pids {
		answer.Agents[i].look(pid)
	}
	return answer, nil
}

func agentOf(state *router.State, a router.Agent, running func(string) bool) Agent {
	return Agent{
		Name: a.Name, Running: running(a.Name), State: a.State, Profile: a.Profile, Waiting: state.Unended(a.Name), SeenAt: a.Seen,
		BlockedBy: a.BlockedBy, Reason: a.Reason, Paused: a.Pause.On, PausedUntil: a.Pause.Until,
	}
}

// agent answers with what is known of an agent, and with what its wrapper says when it runs.
func (s *Server) agent(r *http.Request) (any, error) {
	known, err := s.known(r)
	if err != nil || !known.Running {
		return AgentStatus{Agent: known}, err
	}
	answer, err := s.ask(r.Context(), known.Name, &protocol.Status{})
	if err != nil && known.WrapperStopped {
		return AgentStatus{Agent: known}, nil
	}
	if err != nil {
		return nil, err
	}
	status, _ := answer.(*protocol.StatusAnswer) // else nothing is said of it
	return AgentStatus{Agent: known, Wrapper: status}, nil
}

// known is the agent of the path.
func (s *Server) known(r *http.Request) (known Agent, err error) {
	name, pid := r.PathValue("name"), 0
	s.Hub.Looked(r.Context())
	s.Hub.Meets(r.Context(), name) // else it is refused
	s.Hub.View(func(state *router.State, running func(string) bool) {
		if a, ok := state.Agent(name); ok && a.Wrapped {
			known, pid = agentOf(state, a, running), a.PID
		} else {
			err = state.Unknown(name)
		}
	})
	known.look(pid)
	return known, err
}

// ask asks a wrapper. Its refusals are told as they are.
func (s *Server) ask(ctx context.Context, name string, request protocol.Request) (protocol.Frame, error) {
	return s.askWithin(ctx, wrapperWait, name, request)
}

func (s *Server) askWithin(ctx context.Context, wait time.Duration, name string, request protocol.Request) (protocol.Frame, error) {
	r, running, err := s.Agents.Find(name)
	if err != nil {
		return nil, err
	}
	if !running {
		return nil, router.Refusal(NotRunning, "%s does not run", name)
	}
	silent := func(how string) error {
		return router.Refusal(protocol.Degraded, "the wrapper of %s %s", name, how)
	}
	wait, says := patienceWith(r, wait)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, silent(says))
	defer cancel()
	client, err := sock.Dial(ctx, r.Socket)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), silent("takes no connection: relay doctor tells more"))
	}
	defer client.Close()
	answer, err := client.Ask(ctx, request)
	var refused *protocol.Error
	if errors.As(err, &refused) {
		return nil, router.Refusal(string(refused.Code), "%s", refused.Message)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, silent("went away before it answered: relay doctor tells more")
	}
	if tagged, ok := answer.(interface{ SetTag(req string) }); ok {
		tagged.SetTag("") // it was between us and the wrapper
	}
	return answer, nil
}

// wrapperWait is how long a wrapper may take to answer a question, which takes it milliseconds.
const wrapperWait = 5 * time.Second

// keysWait is how long keys may take, which wait for a message that is being typed, and to be read.
const keysWait = time.Minute

// queue answers with what waits for a name, what goes first at the top: first what the wrapper has,
// in its order, then what waits here.
func (s *Server) queue(r *http.Request) (any, error) {
	name, err := s.named(r, r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if err := s.heardOf(r.Context(), name); err != nil {
		return nil, err
	}
	var answer Messages
	runs := false
	s.Hub.View(func(state *router.State, running func(string) bool) {
		answer.Messages, err = []Message{}, nil
		runs = running(name)
		if _, known := state.Agent(name); !known && name != router.Human && !router.Group(name) {
			err = state.Unknown(name)
		}
		for k := range state.Inbox(name) {
			answer.Messages = append(answer.Messages, messageOf(state, k.Copy(), running))
		}
		answer.Cursor = state.Last
	})
	if err != nil {
		return nil, err
	}
	if !runs {
		return answer, nil
	}
	told, err := s.ask(r.Context(), name, &protocol.Queue{})
	if err != nil {
		return nil, err
	}
	if q, ok := told.(*protocol.QueueAnswer); ok {
		place(answer.Messages, q.Messages)
	}
	return answer, nil
}

// place brings messages into the order of the wrapper's queue, and notes what each waits for there.
func place(list []Message, queue []protocol.Pending) {
	at := func(m Message) int {
		return slices.IndexFunc(queue, func(p protocol.Pending) bool { return p.ID == m.ID })
	}
	for i := range list {
		m := &list[i]
		if m.QueuePosition = 0; m.Status != router.StatusAccepted {
			m.WaitingFor = nil
		}
		if n := at(*m); n >= 0 {
			waits := string(queue[n].WaitingFor)
			m.QueuePosition, m.WaitingFor = n+1, &waits
		}
	}
	slices.SortStableFunc(list, func(a, b Message) int { return rank(a) - rank(b) })
}

// rank orders what is being typed before what a wrapper has, and that before what waits here.
func rank(m Message) int {
	switch {
	case m.Status == protocol.StatusInjecting:
		return 0
	case m.QueuePosition > 0:
		return m.QueuePosition
	}
	return 1 << 30
}

func (s *Server) screen(r *http.Request) (any, error) {
	known, err := s.known(r)
	if err != nil {
		return nil, err
	}
	return s.ask(r.Context(), known.Name, &protocol.Screen{})
}

func (s *Server) explain(r *http.Request) (any, error) {
	known, err := s.known(r)
	if err != nil {
		return nil, err
	}
	answer, err := s.ask(r.Context(), known.Name, &protocol.Explain{})
	return answer, older(err, known.Name, "explain")
}

// pullMost is how many messages one reader takes at a time.
const pullMost = 100

// pull gives messages to whoever reads for a name that no wrapper types for.
func (s *Server) pull(r *http.Request) (any, error) {
	var ask Pull
	name, err := s.reader(r, &ask)
	if err != nil {
		return nil, err
	}
	most := pullMost
	if ask.Max > 0 {
		most = min(most, ask.Max)
	}
	ctx, cancel := within(r.Context(), ask.WaitMS)
	defer cancel()
	for {
		changed := s.Hub.ChangedFor(name)
		list := s.Hub.Lease(r.Context(), name, most)
		if len(list) == 0 && ctx.Err() == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
			}
		}
		var answer Messages
		s.Hub.View(func(state *router.State, running func(string) bool) {
			answer.Messages = []Message{}
			for _, k := range list {
				answer.Messages = append(answer.Messages, messageOf(state, k, running))
			}
		})
		return answer, nil
	}
}

func (s *Server) pullAck(r *http.Request) (any, error) {
	var ask PullAck
	name, err := s.reader(r, &ask)
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.Hub.Acknowledge(r.Context(), name, ask.IDs)
}

// reader reads a request of whoever reads for a name: the agent itself, or somebody outside of all
// agents.
func (s *Server) reader(r *http.Request, ask any) (name string, err error) {
	if err := decode(r, ask); err != nil {
		return "", err
	}
	return s.sender(r, r.PathValue("name"))
}
