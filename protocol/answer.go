package protocol

// HelloAnswer answers a hello.
type HelloAnswer struct {
	Head
	Protocol int      `json:"protocol"` // [Version]
	Features []string `json:"features"` // [Features]
	Name     string   `json:"name"`     // the agent's
}

// Subscribed answers a subscribe; the events follow it.
type Subscribed struct {
	Head
	Seq      int64    `json:"seq"`   // the first event comes after this one
	Epoch    string   `json:"epoch"` // differs when sequence numbers began anew
	Protocol int      `json:"protocol"`
	Features []string `json:"features"`
}

// Size is a terminal's size in cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// StatusAnswer answers a status. The _ms are milliseconds, nil (null) where there is
// nothing to measure.
//
// Draft says that the human has something in the composer that keeps messages from being
// typed. While Degraded, the journal cannot be written: messages are refused, so Accept is
// false. WaitingFor is what the oldest waiting message waits for, empty (null) where none
// waits or nothing holds it. Injecting is the id of the message whose attempt began last and
// has not ended: it is being typed or, once Enter was pressed, confirmed; empty (null): none.
type StatusAnswer struct {
	Head
	AgentIdle       bool     `json:"agent_idle"` // State is ready
	QueueLength     int      `json:"queue_length"`
	CursorPosition  [2]int   `json:"cursor_position"` // column, row, from zero
	LastOutputMS    *int64   `json:"last_output_ms"`
	Name            string   `json:"name"`
	PID             int      `json:"pid"`
	Agent           string   `json:"agent"` // the profile
	State           string   `json:"state"`
	Confidence      string   `json:"confidence"`
	BlockedBy       OrNull   `json:"blocked_by"`
	CanAccept       bool     `json:"can_accept"` // the composer
	Accept          bool     `json:"accept"`     // the queue
	Draft           bool     `json:"draft"`
	DraftStays      bool     `json:"draft_stays,omitzero"` // messages wait until the human sends or clears it
	Unheard         string   `json:"unheard,omitzero"`     // why nobody hears what the agent answers; empty: it is heard
	HumanIdleMS     *int64   `json:"human_idle_ms"`
	OldestPendingMS *int64   `json:"oldest_pending_ms"`
	WaitingFor      OrNull   `json:"waiting_for"`
	Injecting       OrNull   `json:"injecting"`
	Size            Size     `json:"size"`
	Protocol        int      `json:"protocol"`
	Features        []string `json:"features"`
	UptimeMS        int64    `json:"uptime_ms"`
	Degraded        bool     `json:"degraded"`
	Paused          bool     `json:"paused"` // no message begins to be typed
}

// QueueAnswer answers a queue: the messages that wait, in the order in which they go.
// One that is being injected does not wait.
type QueueAnswer struct {
	Head
	Messages []Pending `json:"messages"` // never nil
}

// Pending is a waiting message without its body. Times are Unix milliseconds.
type Pending struct {
	ID         string `json:"id"`
	From       string `json:"from"`
	QueuedAt   int64  `json:"queued_at"`
	ExpiresAt  *int64 `json:"expires_at"` // nil (null): never
	Mode       string `json:"mode"`
	Priority   int64  `json:"priority"`
	WaitingFor OrNull `json:"waiting_for"`
	ShortID    string `json:"short_id,omitzero"` // what the agent reads in place of ID
}

// ScreenAnswer answers a screen: what the agent shows now, as text.
type ScreenAnswer struct {
	Head
	Rows           []string `json:"rows"`            // all of them, without blanks at their ends
	CursorPosition [2]int   `json:"cursor_position"` // column, row, from zero
	Size           Size     `json:"size"`
}

// ExplainAnswer answers an explain: why the agent's state is what it is. Exactly one sign wins.
type ExplainAnswer struct {
	Head
	State     string `json:"state"`
	BlockedBy OrNull `json:"blocked_by"`
	Signs     []Sign `json:"signs"` // the strongest first
}

// Sign is one of the things by which a state is known.
type Sign struct {
	Name  string `json:"name"` // [SignComposer] and its like, a set that grows
	Says  string `json:"says"`
	Since *int64 `json:"since"`          // Unix milliseconds; nil (null): not known
	Wins  bool   `json:"wins"`           // this one decided
	Fault bool   `json:"fault,omitzero"` // something is wrong with what it tells of
}

// KeysAnswer answers a keys: so many of them the agent has read, from the first on. Fault says why
// those are not all.
type KeysAnswer struct {
	Head
	Pressed int    `json:"pressed"`
	Fault   *Fault `json:"error,omitzero"`
}

// OK answers a signal, a pull_ack, a pause and a resume, and an emit with the number of its event.
type OK struct {
	Head
	Seq int64 `json:"seq,omitzero"`
}

// Type is the frame's "type".
func (*HelloAnswer) Type() string   { return "hello" }
func (*Subscribed) Type() string    { return "subscribed" }
func (*StatusAnswer) Type() string  { return "status" }
func (*QueueAnswer) Type() string   { return "queue" }
func (*ScreenAnswer) Type() string  { return "screen" }
func (*ExplainAnswer) Type() string { return "explain" }
func (*KeysAnswer) Type() string    { return "keys" }
func (*OK) Type() string            { return "ok" }
