package router

import (
	"cmp"
	"iter"
	"slices"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/cmd/relay/internal/rate"
	"relay-pty/protocol"
)

// Known is all that is known of one message.
type Known struct {
	Message
	Result
	Accepted int64    // Unix milliseconds; of what is scheduled: when that was
	EndedAt  int64    // when the wrapper said how it ended, Unix milliseconds; 0: it has not
	Seq      int64    // of the event that accepted it
	Events   []int64  // of all events about it
	Replies  []string // ids of the messages that answer it
	Words    string   // the last of the turn that took it, where that wrote no message
	SetAt    int64    // when it was scheduled, Unix milliseconds; 0: it was sent at once
	DueAt    int64    // and for when; 0: at once
	Reminder string   // id of the notice that its sender gets unless it is answered
	Again    bool     // superseded by a redelivery, whose outcome is shown instead
	Sent     bool     // it was accepted; else it is for later, or was cancelled before

	Course chain.Course `json:",omitzero"` // of the chain that it began
	Held   chain.Held   `json:",omitzero"` // it waits for its chain, see Status; 0: it does not
	Turned bool         `json:",omitzero"` // the turn has ended that took it
	Worked bool         `json:",omitzero"` // and did more than talk

	CancelAsked bool // it is cancelled as soon as a wrapper runs in whose queue it is

	Redeliveries []string // ids of the messages by which it was sent again

	Deliveries []*Known `json:"-"`                    // what each recipient got of it, where it went to several
	Copies     []string `json:"Deliveries,omitempty"` // their ids, as they are kept
	Group      string   `json:",omitempty"`           // id of the message to several that it is of, as it is kept
	group      *Known   // that message
	kin        []*Known // those that it is the group of, also such that were sent again since
	at         int64    // number of the event by which it is kept, 0 where it is not
}

// Outcome is the event by which the router itself says what has become of a message.
func (k Known) Outcome(r Result) Event {
	return Event{Type: protocol.TypeInjectResult, Agent: k.To, Message: Message{ID: k.ID}, Result: r}
}

// Agent is what is known of an agent, running or not, or of a script that has sent something: it
// can be answered.
type Agent struct {
	Name      string
	Wrapped   bool // a wrapper ran under this name
	Awaited   bool // nobody has heard of it: it is what messages wait for
	Profile   string
	PID       int // of its wrapper
	State     string
	BlockedBy string // what stands in the way of messages; "": nothing
	Waits     string // what the messages in its wrapper's queue wait for, "" for nothing
	Started   int64  // of its newest wrapper, Unix milliseconds
	Heard     int64  // the time of the newest event of a wrapper of its, Unix milliseconds
	Spoke     int64  // when it wrote last by itself, and not by a marker, Unix milliseconds
	Seen      int64  // Unix milliseconds
	Running   bool   // as far as the log says
	Cursor    Origin // the newest event of its wrapper that is in the log
	Pause     Pause
	Turn      chain.Turn
	Refused   []rate.Told // of the last hour
	presence
}

// Rules are what the user decides; they are not in the log.
type Rules struct {
	Host             string   // this machine; names with it are our own
	DefaultTimeoutMS int64    // of what agents write; 0: none
	DirectExpiryMS   int64    // of a message without a timeout to an agent that does not run; 0: none
	NoDirect         bool     // agents may not write to agents
	Urgent           []string // who may interrupt an agent
	PairMost         int      // messages a minute from one sender to one recipient; 0: 30
	KeepMS           int64    // how long the log keeps an event; 0: for ever
	Chains           chain.Rules
}

// State is what the log adds up to. It is for one goroutine at a time.
type State struct {
	Rules    Rules
	Last     int64               // number of the newest event
	messages map[string]*Known   // those at hand
	short    map[string]string   // ids of those that have a short one, by that
	inboxes  map[string][]*Known // messages that have not ended, by recipient, as they came
	watched  map[string]*Known   // those of them whose time or chain may end them, see watch
	later    []*Known            // messages that are scheduled, the next one first
	agents   map[string]*Agent
	channels map[string]map[string]bool // members, by channel
	rates    rate.Sending

	shelf   Shelf    // has the messages that are not at hand; nil: all are
	freed   []string // recipients of messages that no longer wait for their chain, see Freed
	absent  string   // id that no message has, as was just found out
	fresh   []string // ids that no message has, for those to come
	changed changes
}

// changes are what has changed since the last Take.
type changes struct {
	messages map[string]*Known
	order    []*Known // the same, as they came
	agents   map[string]bool
	members  map[Member]bool // false: it has left
}

func noChanges() changes {
	return changes{messages: map[string]*Known{}, agents: map[string]bool{}, members: map[Member]bool{}}
}

// NewState is the state of an empty log.
func NewState() *State {
	return &State{
		messages: map[string]*Known{}, short: map[string]string{}, inboxes: map[string][]*Known{}, watched: map[string]*Known{},
		agents: map[string]*Agent{}, channels: map[string]map[string]bool{}, changed: noChanges(),
	}
}

// Find returns the message of that id, or short id.
func (s *State) Find(id string) (Known, bool) {
	if m := s.look(id); m != nil {
		return m.Copy(), true
	}
	return Known{}, false
}

// Copy is a message as it is now, which the state does not change.
func (m *Known) Copy() Known {
	c := *m
	c.Events, c.Replies = slices.Clone(m.Events), slices.Clone(m.Replies)
	c.Redeliveries = slices.Clone(m.Redeliveries)
	c.Deliveries, c.Copies, c.Group, c.group, c.kin, c.at = nil, nil, "", nil, nil, 0
	for _, one := range m.Deliveries {
		o := one.Copy()
		c.Deliveries = append(c.Deliveries, &o)
	}
	if len(c.Deliveries) > 0 {
		c.Result = together(m.Result, c.Deliveries)
	}
	return c
}

// Inbox is the messages to an agent that have not ended, in the order in which they came. There may
// be very many, so they are not copied: nobody changes or keeps them.
func (s *State) Inbox(agent string) iter.Seq[*Known] { return slices.Values(s.inboxes[agent]) }

// Unended counts them.
func (s *State) Unended(agent string) int { return len(s.inboxes[agent]) }

// Waiting reports whether anything is to be done about messages while nobody runs: those to agents
// that no wrapper has yet end some time, and others are to be sent later. Messages to the human and
// to scripts wait for whoever reads them, those in the queue of a wrapper that has ended for the
// next one, and need no router for it.
func (s *State) Waiting() bool {
	if len(s.later) > 0 {
		return true
	}
	for name, inbox := range s.inboxes {
		ours := func(m *Known) bool { return m.Status == StatusAccepted }
		if (s.Wrapped(name) || s.Awaited(name)) && slices.ContainsFunc(inbox, ours) {
			return true
		}
	}
	return false
}

// Wrapped reports whether messages to that name are typed; else it reads them.
func (s *State) Wrapped(name string) bool {
	a := s.agents[name]
	return a != nil && a.Wrapped
}

// Agent returns what is known of an agent.
func (s *State) Agent(name string) (Agent, bool) {
	a, ok := s.agents[name]
	if !ok {
		return Agent{}, false
	}
	return *a, true
}

// Agents returns all known agents, by name.
func (s *State) Agents() []Agent {
	list := make([]Agent, 0, len(s.agents))
	for _, a := range s.agents {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// New reports whether an event of a wrapper is not in the log yet.
func (s *State) New(agent string, o Origin) bool {
	a, ok := s.agents[agent]
	return !ok || a.Cursor.Epoch != o.Epoch || a.Cursor.Seq < o.Seq
}

// Apply adds the next event.
func (s *State) Apply(e Event) {
	s.Last = e.Seq
	switch e.Type { // no signs of life
	case TypeMemberJoined, TypeMemberLeft:
		s.attendance(e)
		return
	case TypePaused, TypeResumed:
		s.paused(e)
		return
	case TypeChainPaused, TypeChainResumed, TypeChainEnded:
		s.course(e)
		return
	case TypeCancelAsked:
		if m := s.find(e.ID); m != nil {
			m.note(e.Seq)
			m.CancelAsked = true
		}
		return
	case TypeKeys:
		return
	}
	if e.Agent != "" {
		s.meet(e)
	}
	s.forget(e.Timestamp)
	switch e.Type {
	case TypeMessage:
		s.accept(e)
	case TypeReminder:
		s.schedule(Known{
			Message: e.Message, SetAt: e.Timestamp, DueAt: e.DueAt, Seq: e.Seq, Events: []int64{e.Seq},
		})
	case protocol.TypeInjectResult:
		s.result(e)
	case protocol.TypeTurnEnd:
		s.turnEnd(e)
	case TypeJoined, TypeLeft:
		s.sit(Member{e.To, e.Agent}, e.Type == TypeJoined)
	case TypeRefused:
		s.refused(e)
	case protocol.TypeMarkerInvalid:
		s.invalid(e)
	}
}

// named is the agent of that name, which is known from now on, for whoever is about to change it.
func (s *State) named(name string) *Agent {
	if s.agents[name] == nil {
		s.agents[name] = &Agent{Name: name}
	}
	return s.agent(name)
}

// agent is the one of that name, for whoever is about to change it; nil: nobody knows it.
func (s *State) agent(name string) *Agent {
	if s.shelf != nil {
		s.changed.agents[name] = true
	}
	return s.agents[name]
}

// meet keeps what an event says of the agent whose wrapper told it.
func (s *State) meet(e Event) {
	a := s.named(e.Agent)
	if a.Awaited && e.unheard() {
		return
	}
	a.Awaited = false
	a.Seen = max(a.Seen, e.Timestamp) // what a wrapper told while no router heard it comes late
	a.note(e)
	if e.Origin != nil {
		a.Cursor, a.Heard = *e.Origin, e.Timestamp
	}
	switch e.Type {
	case TypeUp:
		if again := a.Running && a.PID == e.PID; !again { // else it is known to be of another kind now
			a.State, a.BlockedBy, a.Waits, a.Turn = "", "", "", chain.Turn{}
		}
		a.Wrapped, a.Running, a.Profile, a.PID, a.Started = true, true, e.Profile, e.PID, e.StartedAt
	case TypeDown:
		a.Running, a.State, a.BlockedBy, a.Waits, a.Turn = false, "", "", "", chain.Turn{}
	case protocol.TypeState:
		a.State, a.BlockedBy = e.State, e.BlockedBy
	case protocol.TypeWaiting:
		a.Waits = e.WaitingFor
	case protocol.TypeInjectResult:
		if e.Status == protocol.StatusQueued { // one that is typed may pass others, which wait on
			a.Waits = e.WaitingFor
		}
	}
}

func (s *State) accept(e Event) {
	m := s.find(e.ID)
	if m == nil {
		m = &Known{}
	}
	s.unschedule(m)
	m.Message, m.Result = e.Message, Result{Status: StatusAccepted, Error: e.Error}
	m.Accepted, m.Seq = e.Timestamp, e.Seq
	m.Events = append(m.Events, e.Seq)
	s.enter(m)
	if m.From != Human && m.From != Relay {
		from := s.named(m.From)
		from.Seen, from.Awaited = max(from.Seen, e.Timestamp), false
		if e.Origin == nil && m.Redelivers == "" {
			from.Spoke = e.Timestamp
		}
		if m.Redelivers == "" {
			s.wrote(from, m, e)
		}
	}
	if len(e.Recipients) > 0 {
		s.fanOut(m, e.Recipients)
	} else {
		s.deliver(m)
	}
	if about := s.find(m.About); about != nil {
		about.note(e.Seq)
	}
	s.sentAgain(m)
	if asked := s.find(m.ReplyTo); asked != nil {
		asked.note(e.Seq)
		if answers(m.Message, asked, e.Recipients) && m.Redelivers == "" {
			s.reply(asked, m)
		}
	}
}

// enter makes a message known.
func (s *State) enter(m *Known) {
	m.Sent = true
	s.know(m)
	s.touch(m)
}

// deliver puts a message into its recipient's inbox.
func (s *State) deliver(m *Known) {
	s.rates.Count(rate.Sent{At: m.Accepted, From: m.From, To: m.To})
	s.count(m)
	if m.To != Human {
		_, known := s.agents[m.To]
		if a := s.named(m.To); a.Seen == 0 {
			a.Seen, a.Awaited = m.Accepted, !known // it is not forgotten before it was heard of
		}
	}
	s.await(m)
}

// await puts a message where it waits for its end.
func (s *State) await(m *Known) {
	s.inboxes[m.To] = append(s.inboxes[m.To], m)
	s.watch(m)
}

// reply notes an answer. An answer proves that a message arrived which was being typed, or of which
// that was not known, or which its recipient reads without a wrapper; one that has not been typed
// yet is typed all the same.
func (s *State) reply(asked, m *Known) {
	asked.Replies = append(asked.Replies, m.ID)
	asked.unended()
	s.takeBack(asked.Reminder)
	s.settled(asked)
	was := asked.Status
	switch was {
	case StatusAccepted:
		if s.Wrapped(asked.To) {
			return
		}
	case protocol.StatusInjecting, protocol.StatusDelivered, protocol.StatusUnknown:
	default:
		return
	}
	asked.Status, asked.Error = StatusReplied, nil
	s.leave(asked)
	if was != protocol.StatusDelivered {
		s.arrived(asked, m.Accepted)
	}
}

// answers reports whether m, which says so, answers asked: only its recipient can, and only to
// whoever asked, alone or among others. What goes to somebody else passes the question on.
func answers(m Message, asked *Known, recipients []string) bool {
	return m.From == asked.To && (m.To == asked.From || slices.Contains(recipients, asked.From))
}

// result keeps what a wrapper said of a message. A message that ended stays ended.
func (s *State) result(e Event) {
	m := s.find(e.ID)
	if m == nil || e.Agent != m.To {
		return
	}
	m.note(e.Seq)
	s.given(m, e)
	if m.Status == StatusReplied && m.Evidence == "" {
		m.Evidence, m.Attempt = e.Evidence, e.Attempt // the answer was there first
	}
	if Ended(m.Status) {
		return
	}
	ended := m.Result // its turn may have, before the wrapper knew that it was delivered
	m.Result = e.Result
	m.Result.Outcome, m.Refusal, m.RetryAt = ended.Outcome, ended.Refusal, ended.RetryAt
	if !protocol.Terminal(m.Status) {
		return
	}
	m.EndedAt = e.Timestamp
	s.leave(m)
	if m.Status != protocol.StatusDelivered {
		return
	}
	if len(m.Replies) > 0 {
		m.Status = StatusReplied
	}
	s.arrived(m, e.Timestamp)
}

// Abandoned reports whether the run of the agent that was given a message has ended, and all that
// was said in it is known, without an answer.
func (s *State) Abandoned(m *Known) bool {
	a := s.agents[m.To]
	given := m.Status == protocol.StatusDelivered || m.Status == protocol.StatusUnknown
	if !given || len(m.Replies) > 0 || m.Words != "" || a == nil || !a.Wrapped {
		return false
	}
	return !a.Running || m.EndedAt < a.Started && a.Heard >= a.Started
}

// Speaks reports whether an agent has written by itself in its present run: by relay reply, or by
// the tools. Then it can answer so.
func (s *State) Speaks(name string) bool {
	a := s.agents[name]
	return a != nil && a.Spoke > 0 && a.Spoke >= a.Started
}

// turnEnd keeps how the turn ended that took messages.
func (s *State) turnEnd(e Event) {
	s.judge(s.named(e.Agent), e)
	for _, id := range e.IDs {
		if m := s.find(id); m != nil && m.To == e.Agent {
			m.note(e.Seq)
			m.ended(e)
			if m.Words != "" {
				s.settled(m)
			}
			s.retry(m, e)
		}
	}
}

// ended keeps how a turn ended that took the message. Its words are an answer only if it was
// answered; wrappers that say no outcome tell of no other turns.
func (k *Known) ended(e Event) {
	switch {
	case e.Background || len(k.Replies) > 0: // nothing is an answer yet, or there is a better one
	case e.Outcome == "" || e.Outcome == protocol.OutcomeAnswered:
		k.unended()
		k.Words = cmp.Or(k.Words, e.Body)
	case k.Words == "":
		k.unended()
		k.Result.Outcome, k.RetryAt = e.Outcome, e.RetryAt
		if e.Outcome == protocol.OutcomeRefused {
			k.Refusal = &ErrorValue{Code: e.Reason, Message: e.Body}
		}
	}
}

// unended forgets how a turn ended: there is an answer, or another turn took the message.
func (k *Known) unended() { k.Result.Outcome, k.Refusal, k.RetryAt = "", nil, 0 }

// leave takes a message out of its inbox, or out of what is scheduled.
func (s *State) leave(m *Known) {
	s.unschedule(m)
	delete(s.watched, m.ID)
	inbox := s.inboxes[m.To]
	if n := slices.Index(inbox, m); n >= 0 {
		inbox = slices.Delete(inbox, n, n+1)
	}
	if s.inboxes[m.To] = inbox; len(inbox) == 0 {
		delete(s.inboxes, m.To)
	}
}

// Sooner is the earlier one of two times, where 0 is never.
func Sooner(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
