//go:build !linux

package hook

import (
	"os"
	"time"
)

// watchParent calls gone when the process that started us has ended, until stop is called. It is
// an error if it has ended by now.
func watchParent(pid int, gone func()) (stop func(), err error) {
	if os.Getppid() != pid {
		return nil, os.ErrProcessDone
	}
	tick := time.NewTicker(time.Second)
	go func() {
		for range tick.C {
			if os.Getppid() != pid {
				gone()
				return
			}
		}
	}()
	return tick.Stop, nil
}
