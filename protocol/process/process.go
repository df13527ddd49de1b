// Package process tells what the system knows of other processes of this machine: on Linux from
// /proc, see proc(5). Where the system does not tell, nothing is known, which each function says.
package process

// Process is one that ran when it was looked at.
type Process struct {
	PID  int
	Argv []string // empty of one that has ended
}
