package router

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"relay-pty/cmd/relay/internal/near"
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
	TooManyHops  = "too_many_hops"
	// AlreadyClosed is no refusal: the answer is let in, and whoever asked waits no longer.
	AlreadyClosed = "already_closed"
	// Unheard is no refusal: the recipient gets the message, and no answer can be expected.
	Unheard = "unheard"
)

const (
	maxHops   = 8
	pairMost  = 30 // messages a minute from one sender to one recipient, unless the user says otherwise
	chainMost = 60 // messages a minute of one chain
	minute    = 60_000
)

// Admit decides about a message that is to be sent now, and completes it. running says which agents
// run. known is the message of the same id that was accepted before, when there is one. A refusal
// is an *ErrorValue.
func (s *State) Admit(m Message, now int64, running func(name string) bool) (admitted Message, known *Known, err error) {
	m.Kind, m.Mode, m.Redelivery = orDefaults(m)
	m.To, m.From = s.here(m.To), s.here(m.From)
	if name, _, _ := strings.Cut(m.From, "@"); name == Relay {
		return m, nil, refuse(string(protocol.BadField), "from: %s is the router itself", Relay)
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
	}
	if m.Chain = m.ID; asked != nil {
		m.Chain, m.Hops = asked.Chain, asked.Hops+1
		m.Thread = cmp.Or(m.Thread, asked.Thread)
	}
	if was := s.look(m.ID); was != nil {
		if m.ID != was.ID || !m.same(was.Message) {
			return m, nil, refuse(string(protocol.DuplicateID), "another message has the id %s", m.ID)
		}
		c := was.copy()
		return m, &c, nil
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
		return refuse(string(protocol.NotAuthorized), "agents may not write to agents here (allow_agent_direct), so %s not to %s", m.From, m.To)
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
		{"to", validTo(m.To)},
		{"mode", protocol.ValidMode(m.Mode)},
		{"body", validBody(m.Body)},
		{"reply_to", optional(m.ReplyTo)},
		{"thread", optional(m.Thread)},
	} {
		if f.err != nil {
			return refuse(string(protocol.BadField), "%s: %v", f.name, f.err)
		}
	}
	switch {
	case len(m.Body) > protocol.MaxBody:
		return refuse(string(protocol.MessageTooLarge), "the body has %d bytes, and %d are the most: send a file's name instead", len(m.Body), protocol.MaxBody)
	case m.TimeoutMS < 0:
		return refuse(string(protocol.BadField), "timeout_ms: %d is negative", m.TimeoutMS)
	case m.NotifyAfterMS < 0:
		return refuse(string(protocol.BadField), "notify_after_ms: %d is negative", m.NotifyAfterMS)
	case m.From == m.To:
		return refuse(SelfSend, "%s cannot send to itself", m.From)
	}
	return nil
}

func validTo(to string) error {
	switch {
	case to == Human:
		return nil
	case Group(to):
		return protocol.ValidTarget(to)
	}
	return protocol.ValidName(to)
}

func validBody(body string) error {
	switch {
	case body == "":
		return fmt.Errorf("it is empty")
	case !utf8.ValidString(body):
		return fmt.Errorf("it is no UTF-8")
	}
	return parser.ValidBody(body)
}

func optional(id string) error {
	if id == "" {
		return nil
	}
	return protocol.ValidID(id)
}

// marked reports whether an agent wrote a message by a marker, which has no word for a timeout.
func (m Message) marked() bool { return m.Source != "" }

// same reports whether two messages of one id are one, sent twice.
func (m Message) same(o Message) bool {
	if m.marked() {
		m.TimeoutMS = o.TimeoutMS
	}
	m.Hops, m.Chain, m.Thread, m.Source, m.ReplyBy = o.Hops, o.Chain, cmp.Or(m.Thread, o.Thread), o.Source, o.ReplyBy
	m.Confirmed, m.Ahead = o.Confirmed, o.Ahead
	return m == o
}

func refuse(code, format string, args ...any) *ErrorValue {
	return &ErrorValue{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Late says of an answer that whoever asked waits no longer, or is nil.
func (s *State) Late(m Message, now int64) *ErrorValue {
	asked := s.look(m.ReplyTo)
	if asked == nil || asked.ReplyBy == 0 || now <= asked.ReplyBy || len(asked.Replies) > 0 || !answers(m, asked, nil) {
		return nil
	}
	return refuse(AlreadyClosed, "%s no longer waits for an answer to %s; relay show %s has it", asked.From, asked.ID, asked.ID)
}

// guard refuses what goes round in circles.
func (s *State) guard(m Message, now int64) error {
	pair, chain := s.rates.recent(m, now)
	switch {
	case m.Hops > maxHops:
		return refuse(TooManyHops, "the chain of %s was passed on %d times, and %d are the most", m.Chain, m.Hops, maxHops)
	case pair >= cmp.Or(s.Rules.PairMost, pairMost):
		return refuse(RateLimited, "%s has sent %d messages to %s within a minute, and more are not let through", m.From, pair, m.To)
	case chain >= chainMost:
		return refuse(RateLimited, "the chain of %s has %d messages within a minute, and more are not let through", m.Chain, chain)
	}
	return nil
}

// rates are the messages of the last minute, and how many of them are of each pair and chain: there
// may be a hundred thousand, and each sender asks.
type rates struct {
	list   []recent // the oldest first
	pairs  map[[2]string]int
	chains map[string]int
}

type recent struct {
	At              int64
	From, To, Chain string
}

func ratesOf(list []recent) (r rates) {
	for _, o := range list {
		r.add(o)
	}
	return r
}

func (r *rates) add(o recent) {
	if r.pairs == nil {
		r.pairs, r.chains = map[[2]string]int{}, map[string]int{}
	}
	r.list = append(r.list, o)
	r.pairs[[2]string{o.From, o.To}]++
	r.chains[o.Chain]++
}

// drop forgets the oldest.
func (r *rates) drop() {
	o := r.list[0]
	r.list = r.list[1:]
	if pair := [2]string{o.From, o.To}; r.pairs[pair] > 1 {
		r.pairs[pair]--
	} else {
		delete(r.pairs, pair)
	}
	if r.chains[o.Chain] > 1 {
		r.chains[o.Chain]--
	} else {
		delete(r.chains, o.Chain)
	}
}

// ahead reports whether the clock was set back since, so that nothing tells how long ago they were
// sent.
func (r *rates) ahead(now int64) bool {
	return len(r.list) > 0 && r.list[len(r.list)-1].At > now+minute
}

// recent counts those of the minute before now that have the message's sender and recipient, and
// those of its chain.
func (r *rates) recent(m Message, now int64) (pair, chain int) {
	if r.ahead(now) {
		return 0, 0
	}
	pair, chain = r.pairs[[2]string{m.From, m.To}], r.chains[m.Chain]
	for _, o := range r.list {
		if o.At > now-minute {
			break // those behind it came later
		}
		if o.From == m.From && o.To == m.To {
			pair--
		}
		if o.Chain == m.Chain {
			chain--
		}
	}
	return pair, chain
}

func (r *rates) count(m *Known) {
	for r.ahead(m.Accepted) || len(r.list) > 0 && r.list[0].At <= m.Accepted-minute {
		r.drop()
	}
	r.add(recent{m.Accepted, m.From, m.To, m.Chain})
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
