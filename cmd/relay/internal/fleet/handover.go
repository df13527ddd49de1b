package fleet

import (
	"context"
	"errors"
	"iter"
	"maps"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// again is how soon a wrapper that could not take a message is asked again, when it says nothing.
const again = 5 * time.Second

// handOver gives a wrapper the messages in its agent's inbox, one by one, in order. Where events of
// the wrapper were missed, it is asked about all that have not ended.
func (f *Fleet) handOver(ctx context.Context, r registry.Record, room, missed <-chan struct{}) error {
	handed := map[string]bool{}
	var told router.Pause
	for {
		changed := f.Hub.ChangedFor(r.Name)
		var later <-chan time.Time
		var steered, full bool
		var err error
		if told, steered = f.steer(ctx, r, told); steered {
			full, err = f.batch(ctx, r, handed)
		}
		if err != nil {
			return err
		}
		if full || !steered {
			changed, later = nil, time.After(again) // new messages go behind those that wait
		}
		select {
		case <-changed:
		case <-room:
		case <-missed:
			clear(handed)
		case <-later:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// batch hands over what is in the inbox and was not yet. full: the wrapper takes no more for now.
// Its connection lasts no longer, since nobody reads on it what becomes of the messages.
func (f *Fleet) batch(ctx context.Context, r registry.Record, handed map[string]bool) (full bool, err error) {
	var client *sock.Client
	for m := range f.news(r.Name, handed) {
		if !f.Hub.Claim(m.ID) {
			continue
		}
		if client == nil {
			if client, err = sock.Dial(ctx, r.Socket); err != nil {
				f.Hub.Unclaim(m.ID)
				return true, nil // it is gone, or has no connection to spare
			}
			defer client.Close()
		}
		err := f.hand(ctx, client, m)
		var refused *protocol.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && passing(refused.Code):
			f.Hub.Unclaim(m.ID)
			return true, nil
		case errors.As(err, &refused):
			if err := f.record(ctx, failed(m, refused)); err != nil {
				return false, err
			}
		case errors.As(err, new(errLog)):
			return false, err
		default:
			return true, nil // the connection broke: it is asked for the message when it is back
		}
		handed[m.ID] = true
	}
	return false, nil
}

// some is how many messages of an inbox are looked at in one go: there may be very many.
const some = 50

// news are the messages in an inbox that were not handed over yet, or that are to be cancelled,
// each once. What has ended is taken out of handed.
func (f *Fleet) news(name string, handed map[string]bool) iter.Seq[router.Known] {
	return func(yield func(router.Known) bool) {
		for looked := map[string]bool{}; ; {
			var list []router.Known
			f.Hub.View(func(s *router.State, _ func(string) bool) {
				list = nil
				waits := make(map[string]bool, len(handed))
				for m := range s.Inbox(name) {
					if handed[m.ID] {
						waits[m.ID] = true
					}
					if len(list) < some && !looked[m.ID] && (!handed[m.ID] || m.CancelAsked) {
						list = append(list, m.Copy())
					}
				}
				maps.DeleteFunc(handed, func(id string, _ bool) bool { return !waits[id] })
			})
			for _, m := range list {
				if looked[m.ID] = true; !yield(m) {
					return
				}
			}
			if len(list) < some {
				return
			}
		}
	}
}

// passing reports whether a refusal may not come again.
func passing(c protocol.Code) bool {
	return c == protocol.QueueFull || c == protocol.Degraded || c == protocol.ShuttingDown
}

// hand gives the wrapper one message, unless it has it. What becomes of it is told in its events.
func (f *Fleet) hand(ctx context.Context, client *sock.Client, m router.Known) error {
	if m.Status != router.StatusAccepted {
		known, err := f.ask(ctx, client, m)
		if known && err == nil {
			return f.withdraw(ctx, client, m)
		}
		if err != nil {
			return err
		}
		if m.CancelAsked { // and no wrapper has it
			return f.record(ctx, m.Outcome(router.Result{Status: protocol.StatusCancelled}))
		}
		if m.Status == protocol.StatusInjecting { // by a wrapper that kept no journal
			return &protocol.Error{Code: protocol.UnknownID, Message: "the wrapper that was typing it has gone, and the one that runs now does not know it"}
		}
	}
	request := f.injectOf(m, time.Now().UnixMilli())
	answer, err := client.Ask(ctx, request)
	var refused *protocol.Error
	for errors.As(err, &refused) && older(request, refused.Field, m) {
		refused = nil
		answer, err = client.Ask(ctx, request)
	}
	if errors.As(err, &refused) && refused.Code == protocol.DuplicateID {
		if known, e := f.ask(ctx, client, m); known || e != nil { // ours, with another rest of its time
			return e
		}
	}
	if err == nil {
		err = f.end(ctx, m, answer)
	}
	return err
}

// end puts a message's end into the log, if the wrapper says that it has ended: the event that told
// it may be kept no longer.
func (f *Fleet) end(ctx context.Context, m router.Known, answer protocol.Frame) error {
	if r, ok := answer.(*protocol.InjectResult); ok && protocol.Terminal(r.Status) {
		return f.record(ctx, router.Event{Type: r.Type(), Agent: m.To, Message: router.Message{ID: m.ID}, Result: resultOf(r)})
	}
	return nil
}

// older takes out of a request what an older wrapper does not know, and reports whether that was
// why it refused: its agent reads less, or longer ids.
func older(r *protocol.Inject, field string, m router.Known) bool {
	was := *r
	switch field {
	case "reply_quote", "reply_short_id":
		r.ReplyQuote, r.ReplyShortID = "", ""
	case "short_id":
		r.ShortID = ""
	case "redelivery":
		r.Redelivery = m.Redelivery
	}
	return *r != was
}

// withdraw takes a message back of which somebody wanted that while the wrapper that has it did not
// run, or which has waited there for longer than it may. What is being typed by now goes on.
func (f *Fleet) withdraw(ctx context.Context, client *sock.Client, m router.Known) error {
	if !f.Hub.Unwanted(m) {
		return nil
	}
	_, err := client.Ask(ctx, &protocol.Cancel{ID: m.ID})
	if refused := (*protocol.Error)(nil); errors.As(err, &refused) {
		return nil // it has ended, or is as good as delivered
	}
	return err
}

// ask reports whether the wrapper knows a message. An end that it tells is put into the log.
func (f *Fleet) ask(ctx context.Context, client *sock.Client, m router.Known) (known bool, err error) {
	answer, err := client.Ask(ctx, &protocol.Query{ID: m.ID})
	var refused *protocol.Error
	if errors.As(err, &refused) && refused.Code == protocol.UnknownID {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.end(ctx, m, answer)
}

// record puts an event into the log, without which nothing goes on.
func (f *Fleet) record(ctx context.Context, e router.Event) error {
	if err := f.Hub.Record(ctx, e); err != nil {
		return errLog{err}
	}
	return nil
}

// injectOf is the request that hands a message over. Its time goes on from when it was accepted.
func (f *Fleet) injectOf(m router.Known, now int64) *protocol.Inject {
	rest := m.TimeoutMS
	if rest > 0 {
		rest = max(1, m.Accepted+m.TimeoutMS-now)
	}
	redelivery := m.Redelivery
	if m.Redelivers != "" {
		redelivery = protocol.RedeliverMarked
	}
	r := &protocol.Inject{
		ID: m.ID, From: m.From, Body: m.Body, Priority: m.Priority, Mode: m.Mode, TimeoutMS: rest, Redelivery: redelivery,
		ReplyTo: m.ReplyTo, Thread: m.Thread, Kind: m.Kind, ShortID: m.ShortID,
	}
	if m.ReplyTo == "" {
		return r
	}
	f.Hub.View(func(s *router.State, _ func(string) bool) {
		asked, known := s.Find(m.ReplyTo)
		if known {
			r.ReplyShortID = asked.ShortID
		}
		if known && (asked.From == m.To || asked.To == m.To) { // else its words were not for the recipient
			r.ReplyQuote = parser.Quote(asked.Body, parser.QuoteMost)
		}
	})
	return r
}

// failed is the end of a message that the wrapper will not take.
func failed(m router.Known, why *protocol.Error) router.Event {
	status := protocol.StatusFailed
	if why.Code == protocol.UnknownID {
		status = protocol.StatusUnknown
	}
	return m.Outcome(router.Result{Status: status, Error: &router.ErrorValue{Code: string(why.Code), Message: why.Message}})
}
