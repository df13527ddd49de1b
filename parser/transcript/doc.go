// Package transcript reads the logs that agents keep of their own sessions: what the agent said,
// byte for byte, and what it was told. It looks when it is asked to and waits for nothing; it
// starts no goroutine and owns no timer.
//
// A [Format] is what is known about one agent's files. A [Log] finds those of a child process and
// returns what they tell as it is written, [Commands] finds the markers in what the agent said and
// [Accepted] the proof that a message of ours reached a turn.
//
// Whose log it is, is known by the files that the agent's processes hold open for writing, or by
// the session that took our message; never by the newest file of a directory, which may be another
// agent's.
// Logs are looked at when the PTY speaks, at most every 100 ms, and ten times in the 25 s after its
// last byte, then not at all. A look costs half a millisecond; in between the log's size is glanced
// at, which costs microseconds, and a log that has grown is looked at at once.
package transcript
