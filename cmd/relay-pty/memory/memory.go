// Package memory keeps a wrapper small: a wrapper stands beside an agent for days and works for
// seconds at a time. A second after work is over the free heap and the pages of files that were
// touched are given back, once; the rest comes back by a minor fault for sixteen pages.
//
// The wrapper's file is its memory, too: the kernel maps large folios of a binary as a whole, so
// 100 KB more of code are 100 KB more of PSS. That is why all but the hot packages are compiled
// without inlining (Makefile), why the socket is bound by hand (package net's own way links a name
// resolver), and why what a start needs and nothing later does stays out.
package memory

import (
	"context"
	"runtime/debug"
	"time"
)

// rest is how long nothing must be asked of the wrapper before it gives memory back.
const rest = time.Second

// percent is how much the heap may grow before it is collected; ours is small.
const percent = 50

// Frugal sets the runtime up for a small program; it is called before anything else.
func Frugal() {
	debug.SetGCPercent(percent)
}

// Keeper gives memory back when work is over.
type Keeper struct {
	used chan struct{}
	free func()
}

// NewKeeper is one to be told of work.
func NewKeeper() *Keeper { return &Keeper{make(chan struct{}, 1), free} }

// Used tells of work that takes memory. It never waits.
func (k *Keeper) Used() {
	select {
	case k.used <- struct{}{}:
	default:
	}
}

// Run gives memory back once after each spell of work, the first of which is the
// start, until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	over := time.NewTimer(rest)
	defer over.Stop()
	for {
		select {
		case <-k.used:
			over.Reset(rest)
		case <-over.C:
			k.free()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// free gives back what is free of the heap, then the pages of files.
func free() {
	debug.FreeOSMemory()
	unmapUnused()
}
