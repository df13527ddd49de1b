// Package fleet is the router's side of the wrappers: it finds those that run, follows what they
// tell, and hands them what waits for them. One goroutine follows each wrapper and one hands over;
// all end when Run does.
//
// Wrappers do not need a router. They announce themselves in a directory, and the fleet follows the
// events of each from the number that the router's log has last seen. An event of a wrapper is in
// the log once, known by epoch and number; a command that was emitted without a router is routed
// when there is one, unless the log knows nothing of that name and an earlier wrapper of it emitted
// the command. Before a message is handed over it is claimed, so that it cannot expire here
// while it is typed there; after a crash the wrapper is asked for it before it gets it again. A
// wrapper that ends is read to the end of its connection before its end counts, and an answer is
// given up (abandoned) only then. What a killed wrapper has in its journal comes with its next run,
// and counts as ever.
package fleet
