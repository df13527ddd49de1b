//go:build !failpoint

package failpoint

// Built reports whether the failpoints are in this build.
const Built = false

// On reports whether a failpoint is on: none is.
func On(Name) bool { return false }
