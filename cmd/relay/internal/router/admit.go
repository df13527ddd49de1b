package router

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay-pty/cmd/relay/internal/near"
	"relay-pty/cmd/relay/internal/rate"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// Human is the sender and recipient that is no agent: whoever reads and writes by the command line.
const Human = "human"

// Codes of refusals besides those of protocol.
const (
	UnknownAgent = "unknown_agent"
	SelfSend     = "self_send"
	RateLimited  = "rate_limited"
	// AlreadyClosed is no refusal: the answer is let in, and whoever asked waits no longer.
	AlreadyClosed = "already_closed"
	// Unheard is no refusal: the recipient gets the message, and no answer can be expected.
	Unheard = "unheard"
)

const (
	pairMost = 30 // messages a minute from one sender to one recipient, unless the user says otherwise
	minute   = rate.Minute
)

// Admit decides about a message that is to be sent now, and completes it. running says which agents
// run. known is the message of the same id that was accepted before, when there is one. A refusal
// is an *ErrorValue.
func (s *State) Admit(m Message, now int64, running func(name string) bool) (admitted Message, known *Known, err error) {
	m.Kind, m.Mode, m.Redelivery = orDefaults(m)
	m.To, m.From = s.here(m.To), s.here(m.From)
	if name, _, _ := strings.Cut(m.From, "@"); name == Relay {
		return m, nil, Refusal(protocol.BadField, "from: %s is the router itself", Relay)
	}
	if m.To == room {
		m.To = All
	}
	if m.Mode == protocol.ModeUrgent && !slices.Contains(s.Rules.Urgent, m.From) {
		m.Mode = protocol.ModeImportant
	}
	if name, host, far := strings.Cut(m.To, "@"); far && protocol.ValidName(name) == nil {
		return m, nil, s.elsewhere(name, host)
	}
	if err := m.check(); err != nil {
		return m, nil, err
	}
	if err := s.kept("notify_after_ms", m.NotifyAfterMS); err != nil {
		return m, nil, err
	}
	asked := s.look(m.ReplyTo)
	if asked != nil {
		asked = asked.mine(m.From)
		m.ReplyTo = asked.ID
		m.Thread = cmp.Or(m.Thread, asked.Thread)
	}
	if was := s.look(m.ID); was != nil {
		if m.ID != was.ID || !m.same(was.Message) {
			return m, nil, Refusal(protocol.DuplicateID, "another message has the id %s", m.ID)
		}
		c := was.Copy()
		return m, &c, nil
	}
	if o := s.look(m.ID[:max(0, strings.LastIndexByte(m.ID, ':'))]); o != nil && o.From != m.From {
		return m, nil, Refusal(protocol.DuplicateID, "the id %s is kept for what becomes of %s, which %s sent", m.ID, o.ID, o.From)
	}
	if !m.Ahead && !s.met(m.To) && !running(m.To) {
		return m, nil, s.Unknown(m.To)
	}
	if err := s.direct(m); err != nil {
		return m, nil, err
	}
	if m.marked() {
		m.TimeoutMS = s.Rules.DefaultTimeoutMS
	}
	return m, nil, s.guard(m, now)
}

// direct refuses what an agent writes to an agent where the user does not want that.
func (s *State) direct(m Message) error {
	if s.Rules.NoDirect && s.Wrapped(m.From) && (s.Wrapped(m.To) || !s.met(m.To)) {
		return Refusal(protocol.NotAuthorized, "agents may not write to agents here (allow_agent_direct), so %s not to %s", m.From, m.To)
	}
	return nil
}

// here is a name without our own host.
func (s *State) here(name string) string {
	if bare, host, ok := strings.Cut(name, "@"); ok && s.Rules.Host != "" && strings.EqualFold(host, s.Rules.Host) {
		return bare
	}
	return name
}

// elsewhere refuses a name on another machine.
func (s *State) elsewhere(name, host string) error {
	return s.nobody(name, fmt.Sprintf("no agent is named %s@%s, for this machine is %s, and no other is connected", name, host, cmp.Or(s.Rules.Host, "nameless")))
}

func orDefaults(m Message) (kind, mode, redelivery string) {
	return cmp.Or(m.Kind, protocol.KindMessage), cmp.Or(m.Mode, protocol.ModeSequential), cmp.Or(m.Redelivery, protocol.RedeliverNever)
}

// check looks at the message alone.
func (m Message) check() error {
	for _, f := range []struct {
		name string
		err  error
	}{
		{"id", protocol.ValidID(m.ID)},
		{"from", protocol.ValidFrom(m.From)},
		{"to", protocol.ValidRecipient(m.To)},
		{"mode", protocol.ValidMode(m.Mode)},
		{"body", parser.ValidBody(m.Body)},
		{"reply_to", protocol.ValidOptionalID(m.ReplyTo)},
		{"thread", protocol.ValidOptionalID(m.Thread)},
	} {
		if f.err != nil {
			return Refusal(protocol.BadField, "%s: %v", f.name, f.err)
		}
	}
	switch {
	case len(m.Body) > protocol.MaxBody:
		return Refusal(protocol.MessageTooLarge, "the body has %d bytes, and %d are the most: send a file's name instead", len(m.Body), protocol.MaxBody)
	case m.TimeoutMS < 0:
		return Refusal(protocol.BadField, "timeout_ms: %d is negative", m.TimeoutMS)
	case m.NotifyAfterMS < 0:
		return Refusal(protocol.BadField, "notify_after_ms: %d is negative", m.NotifyAfterMS)
	case m.From == m.To:
		return Refusal(SelfSend, "%s cannot send to itself", m.From)
	}
	return nil
}

// marked reports whether an agent wrote a message by a marker, which has no word for a timeout.
func (m Message) marked() bool { return m.Source != "" }

// same reports whether two messages of one id are one, sent twice.
func (m Message) same(o Message) bool {
	if m.marked() {
		m.TimeoutMS = o.TimeoutMS
	}
	m.Place, m.Thread, m.Source, m.ReplyBy = o.Place, cmp.Or(m.Thread, o.Thread), o.Source, o.ReplyBy
	m.Confirmed, m.Ahead = o.Confirmed, o.Ahead
	return m == o
}

// Refusal is a refusal of that code.
func Refusal[C ~string](code C, format string, args ...any) *ErrorValue {
	return &ErrorValue{Code: string(code), Message: fmt.Sprintf(format, args...)}
}

// Late says of an answer that whoever asked waits no longer, or is nil.
func (s *State) Late(m Message, now int64) *ErrorValue {
	asked := s.look(m.ReplyTo)
	if asked == nil || asked.ReplyBy == 0 || now <= asked.ReplyBy || len(asked.Replies) > 0 || !answers(m, asked, nil) {
		return nil
	}
	return Refusal(AlreadyClosed, "%s no longer waits for an answer to %s; relay show %s has it", asked.From, asked.ID, asked.ID)
}

// guard refuses what comes too fast.
func (s *State) guard(m Message, now int64) error {
	if pair := s.rates.Recent(m.From, m.To, now); pair >= cmp.Or(s.Rules.PairMost, pairMost) {
		return Refusal(RateLimited, "%s has sent %d messages to %s within a minute, and more are not let through", m.From, pair, m.To)
	}
	return nil
}

// Unknown refuses a name that nobody has, and names those that are like it.
func (s *State) Unknown(name string) *ErrorValue { return s.nobody(name, "no agent is named "+name) }

// met reports whether messages to a name go to somebody: an agent or a script that was heard of, a
// channel, or the human.
func (s *State) met(name string) bool {
	a := s.agents[name]
	return a != nil && !a.Awaited || Group(name) || name == Human
}

// Awaited reports whether nobody has heard of a name, and messages wait for the first agent of it.
func (s *State) Awaited(name string) bool {
	a := s.agents[name]
	return a != nil && a.Awaited
}

// Has reports whether a name can have sent or got anything: that of an agent or a script that was
// heard of, of a channel, of the human or the router.
func (s *State) Has(name string) bool {
	_, known := s.agents[s.here(name)]
	return known || Group(name) || name == Human || name == Relay
}

// nobody says so, and who may have been meant.
func (s *State) nobody(name, message string) *ErrorValue {
	var names []string
	for _, a := range s.Agents() {
		if !a.Awaited {
			names = append(names, a.Name)
		}
	}
	like := near.Names(name, names)
	e := &ErrorValue{Code: UnknownAgent, Message: message}
	if e.Candidates = like; len(like) > 0 {
		e.Message += ": did you mean " + strings.Join(like, " or ") + "?"
	}
	return e
}
