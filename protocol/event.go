package protocol

// events are those of the contract, so also those that only later versions emit: a client
// may already ask for them.
var events = []Event{(*InjectResult)(nil), (*RelayCommand)(nil), (*State)(nil), (*Backpressure)(nil), (*Waiting)(nil),
	(*DraftStashed)(nil), (*DraftRestored)(nil), (*MarkerInvalid)(nil), (*TurnEnd)(nil), (*Lagged)(nil), (*Exit)(nil)}

// EventTypes lists the event types.
func EventTypes() []string { return types(events) }

// Event is a frame of the event log.
type Event interface {
	Frame
	// About is the id of the message that the event tells of, empty when of none.
	About() string
	// SetStamp is for the log, once, before the event is encoded.
	SetStamp(seq, timestamp int64)
	// Stamped is the event's place in the log.
	Stamped() Stamp
}

// Stamp is what the log adds to an event.
type Stamp struct {
	Seq       int64 `json:"seq"`
	Timestamp int64 `json:"timestamp"` // Unix milliseconds
}

// SetStamp gives the event its place in the log.
func (s *Stamp) SetStamp(seq, timestamp int64) { s.Seq, s.Timestamp = seq, timestamp }

// Stamped is the event's place in the log.
func (s *Stamp) Stamped() Stamp { return *s }

// About is empty: most events are about no message.
func (s *Stamp) About() string { return "" }

// InjectResult is a step of a message's life. Queued is there with StatusQueued only, Via with
// StatusInjecting where the message is not typed, Attempt from StatusInjecting on, Evidence with
// StatusDelivered, Fault with StatusFailed and StatusUnknown.
type InjectResult struct {
	Stamp
	ID     string `json:"id"`
	Status string `json:"status"`
	*Queued
	Attempt  int    `json:"attempt,omitzero"`
	Via      string `json:"via,omitzero"`
	Evidence string `json:"evidence,omitzero"`
	Fault    *Fault `json:"error,omitzero"`
	Req      string `json:"req,omitzero"`
}

// Queued is what a waiting message's result says besides.
type Queued struct {
	Position   int    `json:"queue_position"` // 1 goes next
	Durable    bool   `json:"durable"`        // on disk
	WaitingFor OrNull `json:"waiting_for"`
}

// Fault says why a message failed or what left it in doubt.
type Fault struct {
	Code    string `json:"code"` // FaultStranded …, a set that grows
	Message string `json:"message"`
}

// About is the message's id.
func (r *InjectResult) About() string { return r.ID }

// Tag is the "req" of the request that the result answers.
func (r *InjectResult) Tag() string { return r.Req }

// RelayCommand is a message that the agent wants sent. Its ID is the command's own. TurnOf are the
// messages that the turn which wrote it was given by then. Tools is how many tools it has used by
// then that do something else than talk; nil where the agent keeps no log that tells.
type RelayCommand struct {
	Stamp
	From    string `json:"from"`
	To      string `json:"to"`
	Body    string `json:"body"`
	Raw     string `json:"raw"`
	ID      string `json:"id"`
	ReplyTo string `json:"reply_to,omitzero"`
	Thread  string `json:"thread,omitzero"`
	Mode    string `json:"mode,omitzero"`
	Source  string `json:"source"`

	TurnOf []string `json:"turn_of,omitzero"`
	Tools  *int     `json:"tools"`
}

// State is a change of the agent's state.
type State struct {
	Stamp
	State      string `json:"state"`
	Confidence string `json:"confidence"`
	BlockedBy  OrNull `json:"blocked_by"`
}

// Backpressure says that the queue reached its high mark (Accept false) or came down
// to its low one (Accept true).
type Backpressure struct {
	Stamp
	QueueLength int  `json:"queue_length"`
	Accept      bool `json:"accept"`
}

// Waiting is a change of what the messages wait for; ID is the one that goes next, or
// the one whose attempt was withdrawn.
type Waiting struct {
	Stamp
	ID         string `json:"id"`
	WaitingFor OrNull `json:"waiting_for"`
}

// About is the message's id.
func (w *Waiting) About() string { return w.ID }

// DraftStashed says that the human's draft was set aside for a message, whose ID it
// tells; a DraftRestored follows when it was seen to be back.
type DraftStashed struct {
	Stamp
	ID string `json:"id"`
}

// DraftRestored says that the draft stands in the composer again.
type DraftRestored struct {
	Stamp
	ID string `json:"id"`
}

// MarkerInvalid is output that looked like a command and is none.
type MarkerInvalid struct {
	Stamp
	Raw    string `json:"raw"`
	Reason string `json:"reason"`
	Source string `json:"source"`
}

// TurnEnd says that a turn is over, and how. It is told where the agent keeps a log. Reason and
// RetryAt are of OutcomeRefused.
type TurnEnd struct {
	Stamp
	IDs        []string `json:"ids"` // of the messages that it was given
	Outcome    string   `json:"outcome"`
	Text       string   `json:"text"`  // at most MaxBody bytes, see doc.go
	Tools      *int     `json:"tools"` // as a RelayCommand's, of the whole turn
	Reason     string   `json:"reason,omitzero"`
	RetryAt    int64    `json:"retry_at,omitzero"`   // when the API takes requests again, as the agent says; Unix milliseconds
	Background bool     `json:"background,omitzero"` // work that it began goes on
}

// Lagged is the last line of a connection that read too slowly. It is never in the
// log: Seq repeats the last event that the connection was sent in full.
type Lagged struct {
	Stamp
	Dropped int `json:"dropped"` // frames not sent
}

// Exit is the last event: the agent ended, with this exit status.
type Exit struct {
	Stamp
	Code int `json:"code"`
}

// The types of events.
const (
	TypeInjectResult  = "inject_result"
	TypeRelayCommand  = "relay_command"
	TypeState         = "state"
	TypeBackpressure  = "backpressure"
	TypeWaiting       = "waiting"
	TypeDraftStashed  = "draft_stashed"
	TypeDraftRestored = "draft_restored"
	TypeMarkerInvalid = "marker_invalid"
	TypeTurnEnd       = "turn_end"
	TypeLagged        = "lagged"
	TypeExit          = "exit"
)

// Type is the frame's "type".
func (*InjectResult) Type() string  { return TypeInjectResult }
func (*RelayCommand) Type() string  { return TypeRelayCommand }
func (*State) Type() string         { return TypeState }
func (*Backpressure) Type() string  { return TypeBackpressure }
func (*Waiting) Type() string       { return TypeWaiting }
func (*DraftStashed) Type() string  { return TypeDraftStashed }
func (*DraftRestored) Type() string { return TypeDraftRestored }
func (*MarkerInvalid) Type() string { return TypeMarkerInvalid }
func (*TurnEnd) Type() string       { return TypeTurnEnd }
func (*Lagged) Type() string        { return TypeLagged }
func (*Exit) Type() string          { return TypeExit }
