// Package disk is a hostile disk for tests. Watch runs processes whose system calls under
// a directory can be counted, recorded, refused, cut short, or made the moment of a kill;
// it needs Linux. [Disk] replays what was recorded and tells what a power cut may leave
// of it. [Told] collects what a wrapper said to its clients, and holds a journal against it.
package disk

import "syscall"

// What a call does.
type What string

// Kinds of calls. All but Tell change what lies under the watched directory.
const (
	Create   What = "create"
	Write    What = "write"
	Truncate What = "truncate"
	Sync     What = "sync" // of a file or a directory
	Rename   What = "rename"
	Link     What = "link"
	Remove   What = "remove"
	Mkdir    What = "mkdir"
	Tell     What = "tell" // bytes written to a socket
)

// Call is one system call. Which fields count depends on What.
type Call struct {
	What     What
	Path, To string // as they were when it was called; To: of Rename and Link
	File     uint64 // the inode, of what is done to an open file
	Offset   int64  // bytes, of Write
	Size     int64  // bytes, of Truncate
	Data     []byte // of Write and Tell
	Conn     string // of Tell: which socket
	PID      int    // of the process

	Err syscall.Errno // it was made to fail, and did nothing; 0: it was done
}
