package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// pageMost is how many events one answer holds.
const pageMost = 1000

// events answers with what came after a cursor, or with what comes next; to whoever accepts a
// stream of events with all that comes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		s.stream(w, r)
		return
	}
	after, wants, err := s.asked(r, r.URL.Query().Get("after"))
	if err != nil {
		respond(w, nil, err)
		return
	}
	wait, err := number(r, "wait")
	if err != nil {
		respond(w, nil, err)
		return
	}
	ctx, cancel := within(r.Context(), wait)
	defer cancel()
	answer, err := s.next(ctx, after, wants)
	respond(w, stamped{answer, s.Hub.Epoch()}, err)
}

// asked is where a reader of events begins, by default behind all that has happened, and what it
// wants.
func (s *Server) asked(r *http.Request, cursor string) (after int64, wants router.Query, err error) {
	if after = s.last(); cursor != "" {
		if after, err = natural("after", cursor); err == nil {
			err = s.reached(after)
		}
	}
	if err == nil {
		wants, err = s.filter(r)
	}
	return after, wants, err
}

// last is the number of the newest event.
func (s *Server) last() (last int64) {
	s.Hub.View(func(state *router.State, _ func(string) bool) { last = state.Last })
	return last
}

// reached refuses a cursor that no event has reached: whoever waited for what comes after it would
// wait in vain.
func (s *Server) reached(after int64) error {
	if last := s.last(); after > last {
		return router.Refusal(protocol.CursorGone,
			"there is no event %d yet: the number is of another log; the newest is %d; "+
				"begin anew with 0 for all that is kept", after, last)
	}
	return nil
}

// next returns the events after a cursor; where there are none, those that come before ctx ends.
func (s *Server) next(ctx context.Context, after int64, wants router.Query) (Events, error) {
	for {
		changed := s.Hub.Changed()
		list, upTo, oldest, err := s.Hub.Events(context.WithoutCancel(ctx), after, pageMost, wants.Wants)
		switch {
		case err != nil:
			return Events{}, err
		case gone(after, oldest) != nil:
			return Events{}, gone(after, oldest)
		case len(list) > 0:
			return Events{list, upTo}, nil
		}
		after = upTo
		select {
		case <-changed:
		case <-ctx.Done():
			return Events{[]router.Event{}, upTo}, nil
		}
	}
}

// gone refuses a cursor behind which events are no longer kept.
func gone(after, oldest int64) error {
	if after == 0 || after+1 >= oldest {
		return nil
	}
	return router.Refusal(protocol.CursorGone,
		"the events up to %d are no longer kept; begin anew with 0 for all that is", oldest-1)
}

// kept reports whether all is kept that came after a cursor, which is one of this log.
func (s *Server) kept(ctx context.Context, after int64) error {
	if err := s.reached(after); err != nil {
		return err
	}
	oldest, err := s.Hub.Oldest(ctx)
	if err != nil {
		return err
	}
	return gone(after, oldest)
}

// keepAlive is how often a stream with nothing to tell says that it is there.
const keepAlive = 15 * time.Second

// stream tells events as they come (text/event-stream of the HTML standard) until the reader
// leaves. One that comes back says with Last-Event-ID where it was.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	cursor := r.Header.Get("Last-Event-ID")
	if cursor == "" {
		cursor = r.URL.Query().Get("after")
	}
	after, wants, err := s.asked(r, cursor)
	if err != nil {
		respond(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for fmt.Fprint(w, ": relay\n\n"); out.Flush() == nil && r.Context().Err() == nil; {
		ctx, cancel := context.WithTimeout(r.Context(), keepAlive)
		page, err := s.next(ctx, after, wants)
		cancel()
		if err != nil {
			tell(w, "error", 0, asFault(err))
			return
		}
		for _, e := range page.Events {
			tell(w, e.Type, e.Seq, e)
		}
		if len(page.Events) == 0 {
			fmt.Fprint(w, ":\n\n") // whether it arrives is seen when it is flushed
		}
		after = page.Cursor
	}
}

// tell writes one event of a stream.
func tell(w http.ResponseWriter, kind string, seq int64, v any) {
	data, err := protocol.JSON(v)
	if err != nil {
		return // not one of ours
	}
	if seq > 0 {
		fmt.Fprintf(w, "id: %d\n", seq)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
}

// filter is what the query says.
func (s *Server) filter(r *http.Request) (f router.Query, err error) {
	q := r.URL.Query()
	if v := q.Get("event"); v != "" {
		if f.Types, err = typesOf(v); err != nil {
			return f, err
		}
	}
	for name, into := range map[string]*string{"target": &f.Target, "from": &f.From, "to": &f.To} {
		if *into, err = s.named(r, q.Get(name)); err != nil {
			return f, err
		}
	}
	if f.Target == "any" {
		f.Target = ""
	}
	asked := map[string]string{"target": f.Target, "from": f.From, "to": f.To}
	for name := range strings.SplitSeq(q.Get("known"), ",") {
		if err := s.heardOf(r.Context(), asked[name]); err != nil {
			return f, err
		}
	}
	return f, nil
}

// typesOf are the types of events in a list with commas. Whoever waited for one that does not exist
// would wait in vain.
func typesOf(list string) ([]string, error) {
	types, known := strings.Split(list, ","), router.EventTypes()
	for _, t := range types {
		if !slices.Contains(known, t) {
			return nil, router.Refusal(protocol.BadField, "event: there is no type %q; there are %s", t, strings.Join(known, ", "))
		}
	}
	return types, nil
}

// heardOf refuses a name that can have nothing. A router that is new may first have to hear of it.
func (s *Server) heardOf(ctx context.Context, name string) (err error) {
	look := func(state *router.State, running func(string) bool) {
		if err = nil; name != "" && !state.Has(name) && !running(name) {
			err = state.Unknown(name)
		}
	}
	if s.Hub.View(look); err != nil {
		s.Hub.Looked(ctx)
		s.Hub.Meets(ctx, name) // else it is refused
		s.Hub.View(look)
	}
	return err
}
