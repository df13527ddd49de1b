//go:build !linux

package process

import "syscall"

// Born is not known.
func Born(int) int64 { return 0 }

// Descent is not known.
func Descent(pid, end int) []Process { return nil }

// Start is not known.
func Start(int) string { return "" }

// Argv is not known.
func Argv(int) []string { return nil }

// Below is the process alone: nothing tells of those below it.
func Below(pid, most int, belongs func(pid int) bool) []int { return []int{pid} }

// Masks is not known.
func Masks(pid int, mask string, sig syscall.Signal) bool { return false }

// Environ is not known.
func Environ(int) []string { return nil }
