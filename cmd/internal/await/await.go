// Package await lets goroutines wait for a change that others make.
package await

import (
	"context"
	"sync"
)

// State is a lock of something that changes. The zero State is ready for use.
type State struct {
	sync.Mutex
	changed chan struct{} // closed at the next change; nil: nobody waits
}

// ChangedLocked wakes all that wait. The caller holds the lock.
func (s *State) ChangedLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Change makes a change with the lock held and wakes all that wait.
func (s *State) Change(change func()) {
	s.Lock()
	defer s.Unlock()
	change()
	s.ChangedLocked()
}

// Next is closed at the next change.
func (s *State) Next() <-chan struct{} {
	s.Lock()
	defer s.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Until waits until met returns true or an error; it is called without the lock, again after each
// change. The error is that one, or the cause of ctx's end.
func (s *State) Until(ctx context.Context, met func() (bool, error)) error {
	for {
		changed := s.Next()
		if ok, err := met(); ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
