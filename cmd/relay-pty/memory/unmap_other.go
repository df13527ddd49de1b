//go:build !linux

package memory

// unmapUnused does nothing: here it is not told what is mapped.
func unmapUnused() {}
