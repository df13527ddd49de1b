package api

import (
	"net/http"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// keys presses keys in an agent, and puts into the log who did that, and how many the agent has read.
func (s *Server) keys(r *http.Request) (any, error) {
	var ask Keys
	known, err := s.known(r)
	if err == nil {
		err = decode(r, &ask)
	}
	if err != nil {
		return nil, err
	}
	from, err := s.sender(r, ask.From)
	if err != nil {
		return nil, err
	}
	told, err := s.askWithin(r.Context(), keysWait, known.Name, &protocol.Keys{Keys: ask.Keys})
	if err != nil {
		return nil, err
	}
	answer, ok := told.(*protocol.KeysAnswer)
	if !ok {
		return nil, fault(string(protocol.Degraded), "the wrapper of %s answers keys by %s", known.Name, told.Type())
	}
	e := router.Event{Type: router.TypeKeys, Agent: known.Name, Keys: ask.Keys[:min(answer.Pressed, len(ask.Keys))]}
	e.From = from
	if answer.Fault != nil {
		e.Error = &router.ErrorValue{Code: answer.Fault.Code, Message: answer.Fault.Message}
	}
	if err := s.Hub.Record(r.Context(), e); err != nil {
		return nil, err
	}
	return Pressed{Pressed: answer.Pressed, Error: e.Error}, nil
}
