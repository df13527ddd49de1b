package protocol

// The words of "mode", from the one that goes last to the one that goes first.
const (
	ModeSequential = "sequential" // waits until the agent is ready
	ModeImportant  = "important"  // is handed to a busy agent for its next opportunity
	ModeUrgent     = "urgent"     // interrupts
)

// The words of "kind".
const (
	KindMessage = "message"
	KindNotice  = "notice"  // has no reply footer
	KindCommand = "command" // its body alone is typed, to run
)

// The words of "redelivery": what becomes of a message in whose attempt the wrapper died.
const (
	RedeliverNever = "never" // it ends as unknown
	RedeliverOnce  = "once"  // it is tried once more, marked
	// RedeliverMarked is the word of a message that was sent before under another id, which may
	// have arrived: it is marked from its first attempt on, and ends as unknown.
	RedeliverMarked = "marked"
)

// The words of a signal's "event".
const (
	SignalReady     = "ready"
	SignalBusy      = "busy"
	SignalBlocked   = "blocked"
	SignalTurnStart = "turn_start"
	SignalTurnEnd   = "turn_end"
)

// The words of an inject_result's "status". The last five are terminal.
const (
	StatusQueued    = "queued"
	StatusInjecting = "injecting"
	StatusDelivered = "delivered"
	StatusFailed    = "failed"    // it did not arrive and will not
	StatusExpired   = "expired"   // it waited longer than its timeout
	StatusCancelled = "cancelled" // its sender took it back
	StatusUnknown   = "unknown"   // it may have arrived; nobody types it again
)

// The words of an inject_result's "evidence": what proves a delivery.
const (
	EvidenceTurn      = "turn"      // the agent's own log shows the message in a turn
	EvidenceSubmitted = "submitted" // an idle agent's composer held it, and after Enter no longer did
	EvidencePulled    = "pulled"    // the agent asked for it and acknowledged it
	EvidenceEcho      = "echo"      // a line program echoed and consumed it
	EvidenceConsumed  = "consumed"  // a program that does not echo read every byte of it
)

// ViaPull is the "via" of an attempt in which the agent pulled the message. One that is
// typed has none.
const ViaPull = "pull"

// The words of "waiting_for"; null says that a message waits for nothing but its turn.
const (
	WaitsForReady   = "ready"  // the agent is not known to be, or the API of its model refuses
	WaitsForHuman   = "human"  // keys were just typed
	WaitsForDraft   = "draft"  // the human's unsent text stands in the composer
	WaitsForDialog  = "dialog" // a question stands on the screen
	WaitsForTurn    = "turn"   // the agent is busy
	WaitsForStopped = "stopped"
	WaitsForPaused  = "paused" // somebody wants nothing typed for now
)

// BlockedByForeground is the "blocked_by" of an agent that has started a program which reads the
// terminal for now, as a shell does with an editor. All other reasons are sentences for people.
const BlockedByForeground = "another program has the terminal"

// The words of an agent's "state".
const (
	StateStarting = "starting" // it has not been ready yet
	StateReady    = "ready"
	StateBusy     = "busy"
	StateBlocked  = "blocked" // a question stands on its screen, or the API of its model refused its last turn
	StateUnknown  = "unknown" // nothing is known; it never counts as ready
	StateStopped  = "stopped" // by a job-control signal
	StateExited   = "exited"
)

// The words of a state's "confidence": what it stands on, strongest first.
const (
	BySignal = "signal" // the agent's own word: a status file, its title, a hook, ->pty:ready
	ByScreen = "screen" // what it shows: composer, prompt, dialog
	ByGuess  = "guess"  // silence
)

// The names of signs, of an explain's "signs": what an agent's state may stand on.
const (
	SignProcess  = "process"  // whether it runs
	SignTerminal = "terminal" // who reads it, and whether it is large enough
	SignDialog   = "dialog"   // a question on the screen
	SignBusyRow  = "busy_row" // what the screen shows while the agent works
	SignSession  = "session"  // the agent's own word: in the files of its session …
	SignHook     = "hook"     // … by a signal of a hook, or by a marker …
	SignOSC      = "osc"      // … by an OSC …
	SignTitle    = "title"    // … in the window title
	SignComposer = "composer" // the composer on the screen
	SignPrompt   = "prompt"   // the pattern of the row up to the cursor
	SignTurn     = "turn"     // text that was submitted, and work that has just ended
	SignSilence  = "silence"  // since when it has printed nothing
	SignProfile  = "profile"  // whether anybody has described the program
	SignLog      = "log"      // the agent's own log, which proves deliveries, and tells that the API of its model refuses
	SignMarkers  = "markers"  // why nobody reads what the agent writes to others
)

// The words of a relay_command's "source".
const (
	SourceLog    = "log"    // the agent's own log
	SourceStream = "stream" // what it printed
	SourceEmit   = "emit"   // its own request
)

// The words of a turn_end's "outcome". Only of a turn that was answered the text is an answer.
const (
	OutcomeAnswered    = "answered"
	OutcomeSilent      = "silent"      // it ended well, without a word
	OutcomeInterrupted = "interrupted" // somebody did, at the agent or by us
	OutcomeRefused     = "refused"     // the model's API took a request of it no more
)

// The words of a turn_end's "reason": why a turn was refused.
const (
	ReasonLimit      = "limit"      // the account has used up what it may, or does not pay
	ReasonAuth       = "auth"       // nobody is signed in, or with a wrong key
	ReasonOverloaded = "overloaded" // the API cannot at present
	ReasonError      = "error"      // anything else
)

// The codes of an inject_result's "error", a set that grows.
const (
	FaultStranded       = "stranded"        // the text was typed and did not get on its way
	FaultNoConsume      = "no_consume"      // the agent did not take what it was given
	FaultAgentExited    = "agent_exited"    // the agent ended
	FaultDialog         = "dialog"          // a question came in between, or what was to be typed might answer one
	FaultDraftUncertain = "draft_uncertain" // it stands mixed with other text
	FaultReturned       = "returned"        // what the agent had queued came back into its composer
	FaultCrashed        = "crashed"         // the wrapper ended in the middle of an attempt
	FaultLineTooLong    = "line_too_long"   // the terminal's line mode would cut it
	FaultUnacknowledged = "unacknowledged"  // it was pulled, and nothing says that the agent got it
	FaultShuttingDown   = "shutting_down"   // the wrapper ended before it was confirmed
)

// Modes lists the modes, the default first.
func Modes() []string { return []string{ModeSequential, ModeImportant, ModeUrgent} }

// States lists the states of an agent, in the order in which a run may go through them.
func States() []string {
	return []string{StateStarting, StateReady, StateBusy, StateBlocked, StateUnknown, StateStopped, StateExited}
}

// Signals lists what an agent may signal.
func Signals() []string {
	return []string{SignalReady, SignalBusy, SignalBlocked, SignalTurnStart, SignalTurnEnd}
}

// Terminal reports whether a message with this status is done with.
func Terminal(status string) bool {
	switch status {
	case StatusDelivered, StatusFailed, StatusExpired, StatusCancelled, StatusUnknown:
		return true
	}
	return false
}
