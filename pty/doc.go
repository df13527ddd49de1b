// Package pty runs one program, the agent, on a pseudo-terminal of its own. The terminal of the human in front of it is package term's.
//
// It passes bytes in both directions unchanged, keeps a model of the agent's screen up to date, and lets one writer at a time type:
// human keys, or a transaction that keeps the keys back until it is over. It knows nothing of messages, sockets or agents' brands.
//
// Ownership of goroutines: [Start] starts one that owns the agent's process status; [Session.Run] starts the output loop; both, and the
// short-lived ones for replaying keys and hanging up, are joined when Run or [Session.Close] returns. Two things cannot be joined, since nothing
// ends a blocked read or write of a terminal that must stay in blocking mode: the terminal's CopyKeys, and an output that is still stuck
// when Run was told to stop.
package pty
