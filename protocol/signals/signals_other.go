//go:build !linux

package signals

import "syscall"

// What the kernel does; here nothing can be said to it behind the runtime's back.
const (
	Default Action = 0
	Ignore  Action = 1
)

// Act does nothing.
func Act(Action, ...syscall.Signal) (undo func()) { return func() {} }

// Settle does nothing.
func Settle() error { return nil }
