// Package handover hands messages of the queue over: to the injector, as turns that may be typed as
// one, and to the agent's hooks and tools, which get them on lease. It decides which messages go
// together, in what form the agent reads them, and when a lease has ended. It starts no goroutine.
package handover

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"relay-pty/inject"
	"relay-pty/inject/draft"
	"relay-pty/inject/refusal"
	"relay-pty/inject/turn"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// Turns shows the queue to the injector, turn by turn as it is typed.
type Turns struct {
	Queue  *queue.Mailbox
	Log    zerolog.Logger
	Chips  draft.Chips                    // of the agent's composer
	Batch  func() int                     // most messages of one turn
	Halted func() bool                    // nothing may begin that could not be recorded
	Begun  func(turn.Turn)                // called before anything of a turn is typed
	Ended  func(turn.Turn, inject.Status) // called when an attempt is over
	Leases *Leases
	Unread func() bool // nobody reads the agent's markers now

	Refused *refusal.Gate // shut while the API of the agent's model takes no requests
	Look    func()        // reads the agent's log, which may shut it

	next   *turn.Batch // what goes next, framed; the injector's loop alone uses it
	ids    []string    // its messages
	until  time.Time   // the header shows the age in minutes: it is framed anew after this time
	unread bool        // how its footers say to answer
}

// maxTurn is how many bytes of bodies may be typed as one turn, unless a single
// message has more.
const maxTurn = protocol.MaxBody

// Next expires what is over its time, ends leases, and returns what goes next.
func (m *Turns) Next(now time.Time) (*turn.Batch, time.Time) {
	lease := m.Leases.Settle(now)
	expiry, err := m.Queue.Expire(now)
	m.note(err, "")
	expiry = sooner(expiry, lease)
	most := m.Batch()
	refused, until := m.Refused.State(now)
	switch refused {
	case refusal.Shut:
		expiry = sooner(expiry, until)
	case refusal.Trial:
		most = 1
	}
	heads := m.oneTurn(m.Queue.Heads(most))
	if len(heads) == 0 || refused == refusal.Shut || m.Halted() {
		m.next = nil
		return nil, expiry
	}
	unread := m.Unread()
	same := slices.EqualFunc(heads, m.ids, func(q queue.Message, id string) bool { return q.ID == id })
	if m.next == nil || !same || unread != m.unread || !now.Before(m.until) {
		m.unread = unread
		m.frame(heads, now)
	}
	return m.next, expiry
}

// sooner is the earlier of two times; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// oneTurn is the beginning of msgs that may be typed as one turn. It ends before a message
//   - of another mode than the first,
//   - that is a command, or behind one,
//   - with which the bodies are longer than maxTurn,
//   - whose body, if it may be shown as a chip, an earlier one has, too: an agent may take the second
//     paste of a text for the wish to see the first one in full,
//   - behind a body that makes the agent misplace the chip of the next.
func (m *Turns) oneTurn(msgs []queue.Message) []queue.Message {
	size := 0
	for i, q := range msgs {
		size += len(q.Body)
		alone := q.Kind == protocol.KindCommand || msgs[0].Kind == protocol.KindCommand
		if i > 0 && (alone || q.Mode != msgs[0].Mode || size > maxTurn || m.repeats(msgs[:i], q) || m.Chips.Misplaces(msgs[i-1].Body)) {
			return msgs[:i]
		}
	}
	return msgs
}

// repeats reports whether the agent may take the body of q, as it is typed, for one of msgs.
func (m *Turns) repeats(msgs []queue.Message, q queue.Message) bool {
	typed := func(q queue.Message) string { return parser.Envelope{Body: q.Body}.Content() }
	body := typed(q)
	return m.Chips.May(body) && slices.ContainsFunc(msgs, func(other queue.Message) bool {
		return strings.TrimSpace(typed(other)) == strings.TrimSpace(body)
	})
}

// frame prepares the messages for the agent.
func (m *Turns) frame(heads []queue.Message, now time.Time) {
	m.next, m.ids = &turn.Batch{Mode: turn.Mode(heads[0].Mode)}, nil
	for i, q := range heads {
		age := now.Sub(q.QueuedAt)
		m.next.Turn = append(m.next.Turn, framed(q, age, m.unread))
		m.ids = append(m.ids, q.ID)
		if until := q.QueuedAt.Add(age.Truncate(time.Minute) + time.Minute); i == 0 || until.Before(m.until) {
			m.until = until
		}
	}
}

// framed is the message in the form in which the agent reads it; a command has
// neither header nor footer.
func framed(q queue.Message, age time.Duration, unread bool) turn.Message {
	if q.Kind == protocol.KindCommand {
		return turn.Message{ID: q.ID, Body: q.Body, Command: true}
	}
	header, body, footer := Envelope(q, age, unread).Typed()
	return turn.Message{ID: q.ID, Shown: q.ShortID, Header: header, Body: body, Footer: footer}
}

// Envelope is the form in which an agent, whose markers may be unread, reads a message of that age.
func Envelope(m queue.Message, age time.Duration, unread bool) parser.Envelope {
	again := m.Again || m.Redelivery == protocol.RedeliverMarked
	return parser.Envelope{
		ID: m.ShownID(), From: m.From, Body: m.Body, ReplyTo: cmp.Or(m.ReplyShortID, m.ReplyTo), Quote: m.ReplyQuote, Thread: m.Thread,
		Notice: m.Kind == protocol.KindNotice, Unread: unread, Redelivery: again, Age: age,
	}
}

// Wanted reports whether somebody asked for a message of the turn to be cancelled.
func (m *Turns) Wanted(t turn.Turn) bool {
	return slices.ContainsFunc(t, func(msg turn.Message) bool { return m.Queue.Wanted(msg.ID) })
}

// Entering says that Enter is about to be pressed; when it is false, it must not be.
func (m *Turns) Entering(t turn.Turn) bool { return m.Queue.Entering(t.IDs()...) }

// Take begins an attempt with all of the turn, or with none of it. The log may only now tell that
// the turn before was refused.
func (m *Turns) Take(t turn.Turn) bool {
	m.Look()
	now := time.Now()
	if !m.Refused.Try(now, len(t)) {
		return false
	}
	if err := m.Queue.Take(now, t.IDs()...); err != nil {
		m.Refused.Failed(now)
		m.note(err, t.IDs()[0])
		return false
	}
	m.Begun(t)
	return true
}

// End ends an attempt.
func (m *Turns) End(t turn.Turn, r inject.Result) {
	r.Cause = parser.OneLine(r.Cause)
	if r.Status == inject.Withdrawn || r.Status == inject.Failed {
		m.Refused.Failed(time.Now())
	}
	m.Ended(t, r.Status)
	for _, id := range t.IDs() {
		m.end(id, r)
	}
}

func (m *Turns) end(id string, r inject.Result) {
	if r.Status == inject.Withdrawn {
		m.Log.Warn().Str("id", id).Str("err", r.Cause).Msg("attempt withdrawn")
		m.note(m.Queue.Return(id, time.Now()), id)
		return
	}
	out := queue.Outcome{Status: string(r.Status), Evidence: string(r.Evidence)}
	if r.Status != inject.Delivered {
		out.Fault = &protocol.Fault{Code: r.Code, Message: r.Cause}
	}
	m.Log.Info().Str("id", id).Str("state", out.Status).Str("evidence", out.Evidence).Str("err", r.Cause).Msg("message ended")
	m.note(m.Queue.Finish(id, out, time.Now()), id)
}

func (m *Turns) note(err error, id string) {
	if err != nil {
		m.Log.Error().Err(err).Str("id", id).Msg("mailbox")
	}
}
