package main

import (
	"slices"
	"testing"

	"relay-pty/inject"
	"relay-pty/inject/ready"
	"relay-pty/queue"
)

// A state that could not be told while the disk failed is told with the first look at which it
// can be, and what was over by then is not told at all.
func TestStateOfATimeWhenNothingCouldBeToldIsToldLater(t *testing.T) {
	var b board
	var told []ready.State
	var fault error
	look := func(s ready.State) {
		changed := b.put(inject.Report{Verdict: ready.Verdict{State: s}})
		b.tell(changed, func(v ready.Verdict) error {
			if fault == nil {
				told = append(told, v.State)
			}
			return fault
		})
	}
	look(ready.Ready)
	look(ready.Ready)
	fault = queue.ErrDegraded
	look(ready.Busy)
	look(ready.Blocked)
	look(ready.Blocked)
	fault = nil
	look(ready.Blocked)
	look(ready.Blocked)
	if want := []ready.State{ready.Ready, ready.Blocked}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
