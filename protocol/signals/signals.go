// Package signals has the kernel itself act at a signal, behind the back of Go's runtime.
//
// The runtime catches nearly all signals, asked for or not, and what a program becomes by exec
// inherits no handler. A thread that is in the runtime's handler at the moment of an exec ends
// there, and the signal is lost with it. So a program that is about to become another one first
// has the kernel take the signals' default action, by [Act], then waits until no thread is in a
// handler any more, by [Settle], and then looks at what was caught until then. What comes later
// ends the program, or the one that it becomes.
package signals

// Action is what the kernel does at a signal that nobody catches.
type Action uint64
