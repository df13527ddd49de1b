// Package hub is the running router: it owns the state, writes the log, and tells those who wait of
// what happened. What an event means and what is let in is decided in package router.
//
// One goroutine at a time decides, in memory, so a decision is never older than the one before.
// What was decided while a batch of events was written to the disk is the next batch, with the rows
// that it changed, and nobody is answered, told or handed anything before all that this rests on is
// on disk. A batch that cannot be written is taken back, with what was decided since: the state is
// read anew. After a write of which nobody knows whether it happened the router ends; the next one
// reads what is there. A full disk refuses senders, who can ask again, and makes wrappers wait:
// what a wrapper tells has happened, and is tried each second. The last MiB of the disk is left
// alone.
//
// In memory is what has not ended; of all else the store is asked. So a start, and the memory that
// the router needs, do not grow with the log.
//
// A reader (the human, scripts, tools) leases messages for 30 s, in memory, shows them, and
// acknowledges them; only the acknowledgement is an event (delivered, pulled), so what was shown by
// a reader that died is shown again.
//
// Who is away has left, after a while: that a wrapper ends is told at once, that its agent left
// five seconds later, and not when the agent is back by then. "left" is said only when the wrapper
// told how the agent ended, or took its listing back, which it does before its socket goes; else
// "inactive". A new router tells nobody's leave before it has looked
// who runs. A pause is in the log, and the wrapper is told before the request is answered, again
// when either begins anew, and before it gets another message.
package hub
