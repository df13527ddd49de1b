//go:build failpoint

package failpoint

import "os"

// Built reports whether the failpoints are in this build.
const Built = true

var on = Name(os.Getenv("RELAY_FAILPOINT"))

// On reports whether a failpoint is on.
func On(name Name) bool { return name == on }
