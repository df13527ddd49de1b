// Package sock is the Unix socket of a wrapper: taking its path, serving its clients
// line by line, and calling it. It knows the protocol's lines and errors, but neither
// queues nor terminals. Package registry lists the sockets where routers look.
//
// Who may connect is decided three times over: the socket is 0600 from its first
// instant, the kernel's word on the peer's uid is asked, and the directories that we
// make are 0700. Who owns a path is decided by a lock alone, since a second process
// can unlink and bind over a live listener without its noticing.
//
// Goroutines: [Listener.Serve] starts three for each connection (its reader, its writer,
// its [Handler]) and returns when all have ended. Memory of a connection: a line of at
// most 1 MiB being read, and 1 MiB of frames waiting to be written.
package sock
