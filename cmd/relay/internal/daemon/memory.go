package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryLeast is what the router may have before its garbage is collected more often than else:
	// with half of it, a look at twenty thousand events took four times the work.
	memoryLeast = 40 << 20
	// memoryLook is how often it is looked whether much was done since.
	memoryLook = 10 * time.Second
	// memoryFreed is after how much work what is free goes back to the system.
	memoryFreed = 4 << 20
)

// staySmall keeps the router's memory near what it needs: after a start, and after much was asked,
// most of it would be garbage for as long as nothing happens. What the log's server has read it
// keeps for some seconds, so all is looked through twice. A router that needs more may have half as
// much more, or it would do nothing but collect.
func staySmall(ctx context.Context) error {
	now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	var was uint64
	for frees := 0; ; {
		if metrics.Read(now); now[1].Value.Uint64()-was > memoryFreed {
			frees = 2
		}
		if frees > 0 {
			frees--
			debug.FreeOSMemory()
			metrics.Read(now)
			was = now[1].Value.Uint64()
		}
		debug.SetMemoryLimit(max(memoryLeast, int64(now[0].Value.Uint64()*3/2)))
		select {
		case <-time.After(memoryLook):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
