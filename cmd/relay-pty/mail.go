package main

import (
	"time"

	"github.com/rs/zerolog"

	"relay-pty/inject"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// mail shows the mailbox to the injector, message by message as it is typed.
type mail struct {
	box   *queue.Mailbox
	log   zerolog.Logger
	begun func(inject.Message) // called before anything of the message is typed
	ended func(id string)      // called when an attempt is over

	next  *inject.Message // the head, framed; the injector's loop alone uses it
	until time.Time       // from when on its header would tell another age
}

// Next expires what is over its time and returns the message that goes next.
func (m *mail) Next(now time.Time) (*inject.Message, time.Time) {
	expiry, err := m.box.Expire(now)
	m.note(err, "")
	head, ok := m.box.Head()
	if !ok {
		m.next = nil
		return nil, expiry
	}
	if m.next == nil || m.next.ID != head.ID || !now.Before(m.until) {
		age := now.Sub(head.QueuedAt)
		m.next, m.until = framed(head, age), head.QueuedAt.Add(age.Truncate(time.Minute)+time.Minute)
	}
	return m.next, expiry
}

// framed is the message in the form in which the agent reads it; a command has
// neither header nor footer.
func framed(q queue.Message, age time.Duration) *inject.Message {
	if q.Kind == protocol.KindCommand {
		return &inject.Message{ID: q.ID, Body: q.Body, Command: true}
	}
	e := parser.Envelope{ID: q.ID, From: q.From, Body: q.Body, Notice: q.Kind == protocol.KindNotice, Age: age}
	return &inject.Message{ID: q.ID, Header: e.Header(), Body: e.Content(), Footer: e.Footer()}
}

// Wanted says whether somebody asked for the message to be cancelled.
func (m *mail) Wanted(id string) bool { return m.box.Wanted(id) }

// Commit says that Enter is about to be pressed; when it is false, it must not be.
func (m *mail) Commit(id string) bool { return m.box.Commit(id) }

// Take begins an attempt.
func (m *mail) Take(id string) bool {
	_, err := m.box.Take(id, time.Now())
	m.note(err, id)
	if err != nil {
		return false
	}
	m.begun(*m.next)
	return true
}

// End ends an attempt.
func (m *mail) End(id string, r inject.Result) {
	m.ended(id)
	r.Cause = oneLine(r.Cause)
	if r.Status == inject.Withdrawn {
		m.log.Warn().Str("id", id).Str("err", r.Cause).Msg("attempt withdrawn")
		m.note(m.box.Return(id, time.Now()), id)
		return
	}
	out := queue.Outcome{Status: string(r.Status), Evidence: string(r.Evidence)}
	if r.Status != inject.Delivered {
		out.Fault = &protocol.Fault{Code: r.Code, Message: r.Cause}
	}
	m.log.Info().Str("id", id).Str("state", out.Status).Str("evidence", out.Evidence).Str("err", r.Cause).Msg("message ended")
	m.note(m.box.Finish(id, out, time.Now()), id)
}

func (m *mail) note(err error, id string) {
	if err != nil {
		m.log.Error().Err(err).Str("id", id).Msg("mailbox")
	}
}
