package fleet

import (
	"context"
	"fmt"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// logged are the events of a wrapper that are worth the log.
var logged = []string{
	protocol.TypeInjectResult, protocol.TypeRelayCommand, protocol.TypeState, protocol.TypeMarkerInvalid,
	protocol.TypeTurnEnd, protocol.TypeExit, protocol.TypeWaiting, protocol.TypeBackpressure,
}

// follow puts what a wrapper tells into the log. room hears when its queue takes messages again,
// missed when it keeps some events no longer that were not heard.
func (f *Fleet) follow(ctx context.Context, r registry.Record, room, missed chan<- struct{}) error {
	var known bool
	var cursor router.Origin
	f.Hub.View(func(s *router.State, _ func(string) bool) {
		a, ok := s.Agent(r.Name)
		cursor, known = a.Cursor, ok && a.Cursor.Epoch != ""
	})
	events := sock.Follow(r.Socket, cursor.Seq, cursor.Epoch, logged...)
	events.UntilGone()
	defer events.Close()
	for {
		frame, err := events.Next(ctx)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("%w: %w", errGone, err) // waiting does not mend it
		}
		if err != nil {
			return err
		}
		told, ok := frame.(protocol.Event)
		if !ok {
			poke(missed)
			continue
		}
		if b, ok := told.(*protocol.Backpressure); ok {
			if b.Accept {
				poke(room)
			}
			continue
		}
		seq, epoch := events.Cursor()
		e := eventOf(r.Name, router.Origin{Epoch: epoch, Seq: seq}, told)
		if told.Type() != protocol.TypeRelayCommand {
			err = f.Hub.Record(ctx, e)
		} else if known || e.Timestamp >= r.StartedAt {
			err = f.Hub.Command(ctx, e)
		} // else: a name new to us, and an earlier wrapper's words, which were said to no router of ours
		if err != nil {
			return errLog{err}
		}
	}
}

func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// eventOf is what a wrapper told, as the log has it.
func eventOf(name string, at router.Origin, told protocol.Event) router.Event {
	e := router.Event{Type: told.Type(), Agent: name, Origin: &at, Timestamp: told.Stamped().Timestamp}
	switch t := told.(type) {
	case *protocol.InjectResult:
		e.ID, e.Result = t.ID, resultOf(t)
	case *protocol.RelayCommand:
		e.IDs, e.Tools = t.TurnOf, t.Tools
		e.Message = router.Message{
			ID: t.ID, From: name, To: t.To, Body: t.Body, Mode: t.Mode, ReplyTo: t.ReplyTo, Thread: t.Thread, Source: t.Source,
		}
	case *protocol.State:
		e.State, e.Confidence, e.BlockedBy = t.State, t.Confidence, string(t.BlockedBy)
	case *protocol.Waiting:
		e.ID, e.WaitingFor = t.ID, string(t.WaitingFor)
	case *protocol.MarkerInvalid:
		e.Raw, e.Reason, e.Source = t.Raw, t.Reason, t.Source
	case *protocol.TurnEnd:
		e.IDs, e.Body, e.Tools, e.Background = t.IDs, t.Text, t.Tools, t.Background
		e.Outcome, e.Reason, e.RetryAt = t.Outcome, t.Reason, t.RetryAt
	case *protocol.Exit:
		e.Code = &t.Code
	}
	return e
}

func resultOf(t *protocol.InjectResult) router.Result {
	r := router.Result{Status: t.Status, Evidence: t.Evidence, Attempt: t.Attempt, Via: t.Via}
	if t.Queued != nil {
		r.QueuePosition, r.WaitingFor = t.Queued.Position, string(t.Queued.WaitingFor)
	}
	if t.Fault != nil {
		r.Error = &router.ErrorValue{Code: t.Fault.Code, Message: t.Fault.Message}
	}
	return r
}
