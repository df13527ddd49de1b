package api

import (
	"errors"
	"net/http"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// pauseMost is the longest pause that has an end, in milliseconds: a hundred years.
const pauseMost = 100 * 365 * 24 * 60 * 60 * 1000

// pause lets nothing be typed into an agent. One that runs is paused when that is answered; one
// that does not, as soon as it does.
func (s *Server) pause(r *http.Request) (any, error) {
	var ask Pause
	known, err := s.known(r)
	as := ""
	if err == nil {
		as, err = s.own(r, known.Name, func(as string) bool { return known.Name == as })
	}
	if err == nil && r.ContentLength != 0 {
		err = decode(r, &ask)
	}
	switch {
	case err != nil:
		return nil, err
	case ask.ForMS < 0 || ask.ForMS > pauseMost:
		return nil, router.Refusal(protocol.BadField, "for_ms: %d is not between 0, which is until a resume, and a hundred years", ask.ForMS)
	}
	if err := s.steer(r, known, &protocol.Pause{ForMS: ask.ForMS}); err != nil {
		return nil, err
	}
	if err := s.Hub.Pause(r.Context(), known.Name, as, time.Duration(ask.ForMS)*time.Millisecond); err != nil {
		return nil, err
	}
	return s.known(r)
}

func (s *Server) resume(r *http.Request) (any, error) {
	known, err := s.known(r)
	if err != nil {
		return nil, err
	}
	pause, _ := s.Hub.Paused(known.Name)
	mine := func(as string) bool { return known.Name == as && (!pause.On || pause.By == as) }
	if _, err := s.own(r, "the pause of "+known.Name, mine); err != nil {
		return nil, err
	}
	if err := s.steer(r, known, &protocol.Resume{}); err != nil {
		return nil, err
	}
	if err := s.Hub.Resume(r.Context(), known.Name); err != nil {
		return nil, err
	}
	return s.known(r)
}

// resumeChain lets the chain of a message go on.
func (s *Server) resumeChain(r *http.Request) (any, error) { return s.chain(r, true) }

// endChain ends the chain of a message. What is too late for that ends by itself.
func (s *Server) endChain(r *http.Request) (any, error) { return s.chain(r, false) }

// chain lets a chain go on, or ends it. An agent may do that with what it has part in alone.
func (s *Server) chain(r *http.Request, on bool) (any, error) {
	as, err := s.identity(r)
	if err != nil {
		return nil, err
	}
	first, rest, news, err := s.Hub.Chain(r.Context(), r.PathValue("id"), as, on)
	if err != nil {
		return nil, err
	}
	answer := Chain{ID: first.ID, ShortID: first.ShortID, Changed: news}
	for _, id := range rest {
		if on {
			continue
		}
		if err := s.cancelOne(r.Context(), id); err == nil {
			answer.Cancelled = append(answer.Cancelled, id)
		}
	}
	return answer, nil
}

// steer asks the wrapper, if there is one.
func (s *Server) steer(r *http.Request, known Agent, ask protocol.Request) error {
	if !known.Running {
		return nil
	}
	_, err := s.ask(r.Context(), known.Name, ask)
	var refused *router.ErrorValue
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Code == NotRunning: // by now
		return nil
	}
	return older(err, known.Name, "pause")
}

// older says of a request that a wrapper refused, because it does not know it, why.
func older(err error, name, request string) error {
	var refused *router.ErrorValue
	if errors.As(err, &refused) && refused.Code == string(protocol.UnknownType) {
		return router.Refusal(refused.Code, "the relay-pty that wraps %s is older and knows no %s; end it and start it anew", name, request)
	}
	return err
}
