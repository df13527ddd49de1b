package router

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// Relay is the sender of what the router itself has to say: reminders and notices.
const Relay = "relay"

const (
	reminderOpening = "[relay] Scheduled reminder: "
	absentMS        = 60 * minute // how long a notice waits for a recipient that does not run
	remindMost      = 100         // reminders that one name may have before it
	quoteMost       = 80          // characters of a message that a notice quotes
	hearAgain       = 1000        // how soon an agent that was still heard is looked at again
)

// Remind decides about a reminder that is to be set now, a message to oneself, and returns the
// event that sets it. Of m the id, the recipient and the body count. known is the one of the same
// id that was set before, when there is one. A refusal is an *ErrorValue.
func (s *State) Remind(m Message, delayMS, now int64) (e Event, known *Known, err error) {
	text := m.Body
	m = notice(m.ID, s.here(m.To), reminderOpening+text)
	if err := s.checkReminder(text, delayMS, m); err != nil {
		return e, nil, err
	}
	if was := s.look(m.ID); was != nil {
		if m.ShortID = was.ShortID; was.Message != m || was.DueAt-was.SetAt != delayMS {
			return e, nil, Refusal(protocol.DuplicateID, "another message has the id %s", m.ID)
		}
		c := was.Copy()
		return e, &c, nil
	}
	if n := s.reminders(m.To); n >= remindMost {
		return e, nil, Refusal(RateLimited, "%s has %d reminders before it, and more are not kept", m.To, n)
	}
	return Event{Type: TypeReminder, Timestamp: now, Message: m, DueAt: now + delayMS}, nil, nil
}

func (s *State) checkReminder(text string, delayMS int64, m Message) error {
	const most = protocol.MaxBody - len(reminderOpening)
	if err := parser.ValidBody(text); err != nil {
		return Refusal(protocol.BadField, "message: %v", err)
	}
	if len(text) > most {
		return Refusal(protocol.MessageTooLarge,
			"the reminder has %d bytes, and %d are the most", len(text), most)
	}
	if delayMS <= 0 {
		return Refusal(protocol.BadField, "delay_ms: %d is not later than now", delayMS)
	}
	if err := s.kept("delay_ms", delayMS); err != nil {
		return err
	}
	return m.check()
}

// kept refuses a time after which the log would no longer know what was to be done.
func (s *State) kept(field string, millis int64) error {
	if keep := s.Rules.KeepMS; keep > 0 && millis > keep {
		return Refusal(protocol.BadField,
			"%s: %s is too far off: the log keeps an event for %s (retain)", field, clock.Exact(millis), clock.Exact(keep))
	}
	return nil
}

// reminders counts those that a name has before it.
func (s *State) reminders(to string) (n int) {
	for _, k := range s.later {
		if k.To == to && k.About == "" {
			n++
		}
	}
	return n
}

func notice(id, to, body string) Message {
	m := Message{ID: id, From: Relay, To: to, Body: body, Kind: protocol.KindNotice, Place: chain.Place{Chain: id}}
	_, m.Mode, m.Redelivery = orDefaults(m)
	return m
}

// arrived schedules what the sender of a message that has just arrived wants to be told.
func (s *State) arrived(m *Known, at int64) {
	if m.NotifyOnDelivery {
		s.notify(m, ":delivered", at, 0, fmt.Sprintf("[relay] Message %s delivered to %s.", m.ShownID(), m.To))
	}
	if m.NotifyAfterMS > 0 && len(m.Replies) == 0 {
		m.Reminder = s.notify(m, ":reminder", at, m.NotifyAfterMS, fmt.Sprintf(
			`[relay] Reminder: %s since message %s was delivered to %s: "%s" (relay screen %s)`,
			clock.Exact(m.NotifyAfterMS), m.ShownID(), m.To, parser.Quote(m.Body, quoteMost), m.To))
	}
}

// notify schedules a notice about a message to its sender. Its id is that of the message and what
// it is: whoever reads the log again comes to the same one.
func (s *State) notify(m *Known, what string, now, delay int64, text string) (id string) {
	id = m.ID + what
	for protocol.ValidID(id) != nil || s.has(id) { // too long, or somebody else's
		sum := sha256.Sum256([]byte(id))
		id = "n-" + hex.EncodeToString(sum[:12])
	}
	n := notice(id, m.From, text)
	n.About = m.ID
	if m.Chain != "" { // an answer to it goes on there
		n.Place = m.Place
	}
	n.ShortID = m.behind(id)
	k := Known{Message: n, SetAt: now, Seq: s.Last}
	if delay > 0 {
		k.DueAt = now + delay
	} // else it is due whatever the clock says next
	s.schedule(k)
	return id
}

// takeBack cancels what is scheduled under an id.
func (s *State) takeBack(id string) {
	if k := s.find(id); k != nil && k.Status == StatusScheduled {
		k.Status = protocol.StatusCancelled
		s.unschedule(k)
	}
}

// schedule keeps a message for later.
func (s *State) schedule(k Known) {
	k.Status, k.Accepted = StatusScheduled, k.SetAt
	s.know(&k)
	s.touch(&k)
	s.wait(&k)
}

// wait puts a message among those that are sent later.
func (s *State) wait(k *Known) {
	after := func(o *Known, due int64) int { return cmp.Compare(o.DueAt, due) }
	at, _ := slices.BinarySearchFunc(s.later, k.DueAt+1, after)
	s.later = slices.Insert(s.later, at, k)
}

func (s *State) unschedule(k *Known) {
	if at := slices.Index(s.later, k); at >= 0 {
		s.later = slices.Delete(s.later, at, at+1)
	}
}

// Scheduled returns what is to be sent later, the next one first.
func (s *State) Scheduled() []Known {
	list := make([]Known, 0, len(s.later))
	for _, k := range s.later {
		list = append(list, k.Copy())
	}
	return list
}

// Due returns the messages whose time has come, and when to look again, in Unix milliseconds; 0:
// not before something happens. hears reports whether events of an agent are still coming in: after
// a time without a router an answer may be among them.
func (s *State) Due(now int64, hears func(agent string) bool) (due []Message, next int64) {
	for _, k := range s.later {
		switch {
		case k.DueAt > now:
			return due, Sooner(next, k.DueAt)
		case s.unheard(k) && hears(s.look(k.About).To):
			next = Sooner(next, now+hearAgain)
		default:
			due = append(due, k.Message)
		}
	}
	return due, next
}

// unheard reports whether a notice is sent only to whoever got no answer, and not all is known that
// the agent said before it is due.
func (s *State) unheard(k *Known) bool {
	asked := s.look(k.About)
	if asked == nil || asked.Reminder != k.ID {
		return false
	}
	a := s.agents[asked.To]
	return a != nil && a.Heard < k.DueAt
}
