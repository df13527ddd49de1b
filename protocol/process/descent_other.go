//go:build !linux

package process

// Born is not known.
func Born(int) int64 { return 0 }

// Descent is not known.
func Descent(pid, end int) []Process { return nil }

// Environ is not known.
func Environ(int) []string { return nil }
