package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

func (s *Server) send(r *http.Request) (any, error) {
	var ask Send
	if err := decode(r, &ask); err != nil {
		return nil, err
	}
	from, err := s.sender(r, ask.From)
	if err != nil {
		return nil, err
	}
	m := router.Message{
		ID: ask.ID, From: from, To: ask.To, Body: ask.Body, Kind: ask.Kind, Mode: ask.Mode, Priority: ask.Priority, TimeoutMS: ask.TimeoutMS,
		Redelivery: ask.Redelivery, ReplyTo: ask.ReplyTo, Thread: ask.Thread, Confirmed: ask.Yes, Ahead: ask.Ahead,
		Retry: ask.Retry, NotifyOnDelivery: ask.NotifyOnDelivery, NotifyAfterMS: ask.NotifyAfterMS,
	}
	if ask.ReplyWithinMS > 0 {
		m.ReplyBy = time.Now().UnixMilli() + ask.ReplyWithinMS
	}
	return s.accept(r.Context(), m, ask.Until, ask.WaitMS)
}

func (s *Server) accept(ctx context.Context, m router.Message, level string, millis int64) (any, error) {
	sent, err := s.Hub.Send(ctx, m)
	if err != nil {
		return nil, err
	}
	got, err := s.until(ctx, sent.ID, level, millis)
	if err == nil && got.Error == nil {
		got.Error = sent.Error // that it comes too late is said when it is accepted alone
	}
	return got, err
}

// WaitsSince is when the wait of a sender begins, who asked at began for the message to be sent:
// when the router accepted the message, since the router counts from there, too; or began, where
// the message had been accepted before.
func (m Message) WaitsSince(began time.Time) time.Time {
	late := time.UnixMilli(m.AcceptedAt + 1).Sub(began)
	return began.Add(max(0, late))
}

// reply sends an answer to whoever sent the message. Only its recipient can answer.
func (s *Server) reply(r *http.Request) (any, error) {
	var ask Answer
	if err := decode(r, &ask); err != nil {
		return nil, err
	}
	from, err := s.sender(r, ask.From)
	if err != nil {
		return nil, err
	}
	asked, ok := s.look(r.PathValue("id"))
	switch {
	case !ok:
		return nil, router.NoMessage(r.PathValue("id"))
	case !asked.Reaches(from):
		return nil, router.Refusal(protocol.NotAuthorized, "%s was sent to %s, and %s cannot answer it", asked.ID, asked.To, from)
	}
	m := router.Message{ID: ask.ID, From: from, To: asked.From, Body: ask.Body, Mode: ask.Mode, ReplyTo: asked.ID}
	return s.accept(r.Context(), m, ask.Until, ask.WaitMS)
}

// message answers with a message, as soon as it has come that far, and with its life if asked.
func (s *Server) message(r *http.Request) (any, error) {
	wait, err := number(r, "wait")
	if err != nil {
		return nil, err
	}
	id, err := s.which(r)
	if err != nil {
		return nil, err
	}
	m, err := s.until(r.Context(), id, r.URL.Query().Get("until"), wait)
	if err != nil || r.URL.Query().Get("life") != "true" {
		return m, err
	}
	var known router.Known
	s.Hub.View(func(state *router.State, _ func(string) bool) { known, _ = state.Find(m.ID) })
	m.Life, err = s.Hub.Life(r.Context(), known)
	return m, err
}

// messages answers with the newest messages, as they came; where there are none, with those that
// come within the time.
func (s *Server) messages(r *http.Request) (any, error) {
	q, wait, err := s.query(r)
	if err == nil {
		err = s.kept(r.Context(), q.After)
	}
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("past") == "true" {
		s.Hub.View(func(state *router.State, _ func(string) bool) { q.Missed = state.ChannelsOf(q.To) })
	}
	ctx, cancel := within(r.Context(), wait)
	defer cancel()
	for {
		changed := s.Hub.Changed()
		answer, err := s.list(r.Context(), q)
		if err != nil || len(answer.Messages) > 0 {
			return answer, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return answer, nil
		}
	}
}

// query is which messages are asked for, and how many milliseconds may be waited for one.
func (s *Server) query(r *http.Request) (q router.Query, wait int64, err error) {
	q, err = s.filter(r)
	last := int64(0)
	for name, into := range map[string]*int64{"last": &last, "after": &q.After, "wait": &wait} {
		if err == nil {
			*into, err = number(r, name)
		}
	}
	q.Last = int(last)
	return q, wait, err
}

// which is the id of the message that is looked at. To look, its beginning will do, or last; what
// changes something takes a whole id, since what begins so may be another one by the next try.
func (s *Server) which(r *http.Request) (id string, err error) {
	me := ""
	if r.PathValue("id") == router.LastID {
		if me, err = s.sender(r, r.URL.Query().Get("as")); err != nil {
			return "", err
		}
	}
	return s.Hub.Which(r.Context(), r.PathValue("id"), me)
}

// viewMost is how many messages are looked at before others have their turn.
const viewMost = 200

// list answers with the messages that somebody wants to see.
func (s *Server) list(ctx context.Context, q router.Query) (answer Messages, err error) {
	answer.Messages = []Message{}
	ids, older, upTo, err := s.Hub.Messages(ctx, q)
	if err != nil {
		return answer, err
	}
	answer.Older, answer.Cursor = older, upTo
	for some := range slices.Chunk(ids, viewMost) {
		var list []Message
		s.Hub.View(func(state *router.State, running func(string) bool) {
			list = nil
			for _, id := range some {
				if k, ok := state.Find(id); ok {
					list = append(list, messageOf(state, k, running))
				}
			}
		})
		answer.Messages = append(answer.Messages, list...)
	}
	return answer, nil
}

// cancelWait is how long the log may take to hear from a wrapper of what it has answered.
const cancelWait = 5 * time.Second

// cancel ends a message that was not typed yet.
func (s *Server) cancel(r *http.Request) (any, error) {
	m, err := s.each(r, func(id string) error { return s.cancelOne(r.Context(), id) })
	if err != nil {
		return nil, err
	}
	m, _ = s.look(m.ID) // it is known
	return m, nil
}

// each does something with the message of the path, of one to several with each copy. It fails
// where it does so for all of them; that it is too late is the least of reasons.
func (s *Server) each(r *http.Request, do func(id string) error) (m Message, why error) {
	m, ok := s.look(r.PathValue("id"))
	if !ok {
		return m, router.NoMessage(r.PathValue("id"))
	}
	if _, err := s.own(r, m.ShownID(), m.of); err != nil {
		return m, err
	}
	done := false
	for _, d := range m.Copies() {
		if err := do(d.ID); err == nil {
			done = true
		} else if why == nil || asFault(why).Code == string(protocol.TooLate) {
			why = err
		}
	}
	if done {
		why = nil
	}
	return m, why
}

// of reports whether a message is somebody's own: sent, or a reminder that was set.
func (m Message) of(name string) bool {
	return m.From == name || m.From == router.Relay && m.To == name && m.About == ""
}

// cancelOne asks the wrapper that has the message, and waits for what becomes of it.
func (s *Server) cancelOne(ctx context.Context, id string) error {
	holder, err := s.Hub.Cancel(ctx, id)
	if err != nil || holder == "" {
		return err
	}
	var refused *router.ErrorValue
	_, err = s.ask(ctx, holder, &protocol.Cancel{ID: id})
	if errors.As(err, &refused) && refused.Code == string(protocol.UnknownID) {
		return router.Refusal(protocol.TooLate, "%s is being handed over or read at this moment: try again", id)
	}
	if err == nil {
		_, err = s.until(ctx, id, router.Delivered, cancelWait.Milliseconds())
	}
	return err
}

// until answers as soon as a message has come that far, or will not any more, or the time is over.
// A recipient that does not run can take nothing into a queue: then that is not waited for.
func (s *Server) until(ctx context.Context, id, level string, millis int64) (Message, error) {
	if !slices.Contains([]string{"", router.Queued, router.Delivered, router.Replied}, level) {
		return Message{}, router.Refusal(protocol.BadField, "until: %q is not queued, delivered or replied", level)
	}
	ctx, cancel := within(ctx, millis)
	defer cancel()
	ears := s.ears()
	for {
		changed := s.Hub.Changed()
		m, ok := s.look(id)
		if !ok {
			return Message{}, router.NoMessage(id)
		}
		if level == router.Replied {
			ears.listen(ctx, &m)
		}
		if level == "" || m.Reached(level) || level == router.Queued && !m.Running {
			return m, nil
		}
		select {
		case <-changed:
		case t := <-ears.told:
			ears.hears(t)
		case <-ctx.Done():
			return m, nil
		}
	}
}

// LongWait is how long one request waits at the router; whoever waits longer asks again.
const LongWait = 30 * time.Second

// Await asks for a message until it has reached a level, or limit is over since began; 0 is for
// ever. ask waits at the router so long at most. With an error it returns what it knew before.
func (m Message) Await(level string, limit time.Duration, began time.Time, ask func(wait time.Duration) (Message, error)) (Message, error) {
	for !m.Reached(level) {
		wait := LongWait
		if limit > 0 {
			wait = min(wait, limit-time.Since(began))
		}
		if wait <= 0 {
			return m, nil
		}
		next, err := ask(wait)
		if err != nil {
			return m, err
		}
		m = next
	}
	return m, nil
}

func (s *Server) look(id string) (m Message, ok bool) {
	s.Hub.View(func(state *router.State, running func(string) bool) {
		var k router.Known
		if k, ok = state.Find(id); !ok {
			return
		}
		m = messageOf(state, k, running)
		m.Standing = state.Standing(&k, running)
	})
	return m, ok
}

func messageOf(state *router.State, k router.Known, running func(string) bool) Message {
	m := Message{
		Standing: router.Standing{Delivery: state.Delivery(&k, running), Replies: []router.Reply{}},
		ShortID:  k.ShortID, QueuePosition: k.QueuePosition, Mode: k.Mode, From: k.From, Body: k.Body, Priority: k.Priority,
		TimeoutMS: k.TimeoutMS, ReplyTo: k.ReplyTo, Thread: k.Thread, Attempt: k.Attempt, About: k.About, DueAt: k.DueAt, AcceptedAt: k.Accepted, Seq: k.Seq,
		CancelAsked: k.CancelAsked && !router.Ended(k.Status), Channel: k.Channel, Redelivers: k.Redelivers, Redeliveries: k.Redeliveries,
	}
	if !m.Running && len(k.Deliveries) == 0 {
		m.QueuePosition = 0 // what its wrapper said of that is over: it waits for its recipient to run
	}
	return m
}
