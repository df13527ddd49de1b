package fleet

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// uptime is how long the machine has run.
func uptime() (time.Duration, error) {
	began, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0, fmt.Errorf("read the machine's uptime: %w", err)
	}
	return time.Since(time.Unix(began.Unix())), nil
}
