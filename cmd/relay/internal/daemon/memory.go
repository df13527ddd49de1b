package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryLook is how often it is looked whether much was done since.
	memoryLook = 10 * time.Second
	// memoryFreed is after how much work what is free goes back to the system.
	memoryFreed = 4 << 20
)

// staySmall keeps the router's memory near what it needs: after a start, and after much was asked,
// most of it would be garbage for as long as nothing happens. What the log's server has read it
// keeps for some seconds, so all is looked through twice.
func staySmall(ctx context.Context) error {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	was, frees := uint64(0), 0
	for {
		metrics.Read(allocated)
		if now := allocated[0].Value.Uint64(); now-was > memoryFreed {
			was, frees = now, 2
		}
		if frees > 0 {
			frees--
			debug.FreeOSMemory()
		}
		select {
		case <-time.After(memoryLook):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
