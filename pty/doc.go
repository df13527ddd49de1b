// Package pty runs one program, the agent, on a pseudo-terminal of its own. Package term has the
// terminal of the human in front of it.
//
// It passes bytes in both directions unchanged, keeps a model of the agent's screen up to date, and
// lets one writer at a time type: human keys, or a transaction that keeps the keys back until it is
// over. It knows nothing of messages, sockets or agents' brands.
//
// Ownership of goroutines: [Start] starts one that owns the agent's process status; [Session.Run]
// starts the output loop; both, and the short-lived ones for replaying keys and hanging up, are
// joined when Run returns. Two things cannot be joined, since nothing ends a
// blocked read or write of a terminal that must stay in blocking mode: the terminal's CopyKeys, and
// an output that is still stuck when Run was told to stop.
//
// # Output
//
// One goroutine reads the PTY, writes to the user and feeds the screen and the tap in line: handing
// bytes to another goroutine would cost more than parsing them. Everybody else is woken by a
// channel of capacity one that means "look again", when there is nothing more to read, or every 10
// ms of a flood. While nothing happens, nothing wakes up.
//
// A sign that the wrapper shows to the human (a bell, a notification, a title) is written by the
// output loop between two sequences of the agent's, for only that loop knows where characters,
// sequences and synchronized frames end. A title is written anew after each title that the agent
// sets, and given back.
//
// # The master side
//
// Writes have deadlines, because a blocked write to a stopped agent could not be ended. So the
// master is non-blocking, and outside of Go's poller: in the poller each piece of output would wake
// a second thread for nothing, a fifth of the throughput. Who has to wait calls poll(2), with a
// pipe that wakes him. Calling Fd() would make the master blocking again, so resizes go through
// SyscallConn.
//
// A write to a PTY succeeds with nobody reading, and even when the program has gone.
//
// # Taking back
//
// The wrapper holds the agent's side of the tty open, too, and reads there what the agent has not
// read. Each byte is read either by the agent or by the wrapper: when all that was typed comes
// back, nothing arrived, and that is certain. FIONREAD alone is not, for bytes are on their way to
// the line discipline for a while after the write; polling the tty first makes the kernel deliver
// them.
//
// A program can throw its unread input away (TCSAFLUSH, as a shell does after an editor). Only
// packet mode tells the master so; text that was typed and not seen before that is in doubt.
//
// # Keys that were kept
//
// Keys of the time of a transaction are typed after it, in order. The second of rest after a
// human's key counts from when the key reached the agent. A kept Enter follows after the human's
// own pause (150 ms at most), and only once the keys before it were read: agents take an Enter that
// comes in one read with text for a part of a paste. The terminal's answers to the agent's queries
// are not kept: they pass between two writes of a transaction, since an agent may paint nothing
// before it has them.
package pty
