package daemon

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryLeast is what the router may have before its garbage is collected more often than else.
	memoryLeast = 16 << 20
	// memoryLook is how often it is looked whether that is enough.
	memoryLook = time.Minute
)

// staySmall keeps the router's memory near what it needs: after a start, and after much was asked,
// most of it would be garbage for as long as nothing happens. A router that needs more may have half
// as much more, or it would do nothing but collect.
func staySmall(ctx context.Context) error {
	now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	var was uint64
	for {
		if metrics.Read(now); now[1].Value.Uint64()-was > memoryLeast/4 {
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
