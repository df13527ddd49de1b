package api

import (
	"errors"
	"net/http"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// keys presses keys in an agent, and puts into the log who did that, and how many the agent has
// read.
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
	if err := s.Hub.Room(); err != nil {
		return nil, err // nothing is pressed of which nobody could read later
	}
	told, err := s.askWithin(r.Context(), keysWait, known.Name, &protocol.Keys{Keys: ask.Keys})
	if err != nil {
		return nil, err
	}
	answer, ok := told.(*protocol.KeysAnswer)
	if !ok {
		return nil, router.Refusal(protocol.Degraded, "the wrapper of %s answers keys by %s", known.Name, told.Type())
	}
	e := router.Event{Type: router.TypeKeys, Agent: known.Name, Keys: ask.Keys[:min(answer.Pressed, len(ask.Keys))]}
	e.From = from
	if answer.Fault != nil {
		e.Error = &router.ErrorValue{Code: answer.Fault.Code, Message: answer.Fault.Message}
	}
	switch err := s.Hub.RecordNow(r.Context(), e); {
	case errors.Is(err, hub.ErrFull):
		e.Error = router.Refusal(protocol.Degraded, "the keys were pressed, and that is not written down: %v", err)
	case err != nil:
		return nil, err
	}
	return Pressed{Pressed: answer.Pressed, Error: e.Error}, nil
}
