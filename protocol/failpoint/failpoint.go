// Package failpoint names the places at which a build with the tag failpoint breaks a promise of
// relay-pty on purpose, so that tests can show that the breach is found. $RELAY_FAILPOINT names
// the one failpoint that is on. Without the tag [Built] is false, so the compiler drops each guard:
//
//	if failpoint.Built && failpoint.On(failpoint.LastFirst) {
//
// testdata/cases.md lists the test that finds each failpoint.
package failpoint

// Name is the name of a failpoint.
type Name string

// What a sender is told.
const (
	// QueuedUnrecorded: a message that is told as queued is not on disk.
	QueuedUnrecorded Name = "queued-unrecorded"
	// IDsForgotten: a waiting message that is sent once more is accepted once more.
	IDsForgotten Name = "ids-forgotten"
	// LastFirst: the message that goes last by mode, priority and arrival goes first.
	LastFirst Name = "last-first"
	// CancelledTyped: a message that was told as cancelled goes on waiting and is typed.
	CancelledTyped Name = "cancelled-typed"
	// ExpiredTyped: a message that was told as expired goes on waiting and is typed.
	ExpiredTyped Name = "expired-typed"
	// FewEvents: the journal keeps 40 events for later readers, not 20,000.
	FewEvents Name = "few-events"
)

// What a wrapper does after one that was killed.
const (
	// WaitingDropped: messages that waited are gone after a restart.
	WaitingDropped Name = "waiting-dropped"
	// Unmarked: a message that is typed once more after a crash has no mark.
	Unmarked Name = "unmarked"
	// RedeliveredUnasked: a message in doubt is typed once more although its sender wants it once.
	RedeliveredUnasked Name = "redelivered-unasked"
	// DoubtDelivered: a message in doubt is told as delivered.
	DoubtDelivered Name = "doubt-delivered"
	// AttemptUnrecorded: the begin of an attempt is not on disk, so a crash leaves no doubt.
	AttemptUnrecorded Name = "attempt-unrecorded"
	// EventToldAgain: a restart tells again that a message is queued.
	EventToldAgain Name = "event-told-again"
	// Unsynced: commits of the journal are not synced to the disk.
	Unsynced Name = "unsynced"
)

// What an agent reads.
const (
	// KeysThrough: the human's keys do not wait for the end of a message.
	KeysThrough Name = "keys-through"
	// EnterApart: the human's keys may come between a message and its Enter.
	EnterApart Name = "enter-apart"
	// DraftIgnored: a message is typed into the human's draft.
	DraftIgnored Name = "draft-ignored"
	// WrittenDelivered: a message that was written is told as delivered.
	WrittenDelivered Name = "written-delivered"
	// FirstAlone: of several messages of one turn the first alone is typed.
	FirstAlone Name = "first-alone"
	// ControlsKept: control characters of a body are typed.
	ControlsKept Name = "controls-kept"
	// FooterForged: a line of a body may read like a header or a footer.
	FooterForged Name = "footer-forged"
)
