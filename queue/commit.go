package queue

import (
	"context"
	"time"
)

// retryAfter is how long after a failed commit the next is tried.
const retryAfter = 500 * time.Millisecond

// Run writes what comes in to the store until ctx ends, and then what is left. While
// the store fails, tell is called with the reason of each failure that is a new one, and
// with nil when it works again.
func (o *Outbox) Run(ctx context.Context, tell func(error)) error {
	var retry <-chan time.Time
	for {
		ready := o.changed
		if retry != nil {
			ready = nil // what came in waits with the rest
		}
		select {
		case <-ready:
		case <-retry:
		case <-ctx.Done():
			o.commit(tell)
			return context.Cause(ctx)
		}
		if retry = nil; !o.commit(tell) {
			retry = time.After(retryAfter)
		}
	}
}

// commit writes what is pending in one commit and tells it. What was proposed and
// cannot be written did not happen; the rest stays.
func (o *Outbox) commit(tell func(error)) bool {
	o.mu.Lock()
	batch, was := o.pending, o.fault
	o.mu.Unlock()
	if len(batch) == 0 && was == nil {
		return true
	}
	err := o.store.Commit(batch)
	o.mu.Lock()
	o.fault = err
	if err == nil {
		o.pending = append([]Change(nil), o.pending[len(batch):]...)
		o.tellLocked(batch)
	} else {
		o.pending = refuse(o.pending, degraded(err))
	}
	o.mu.Unlock()
	if err == nil {
		answer(batch, nil)
	}
	if err != nil && was == nil || err == nil && was != nil {
		tell(err)
	}
	return err == nil
}

// refuse takes the proposals out of changes and answers them.
func refuse(changes []Change, err error) (rest []Change) {
	answer(changes, err)
	for _, c := range changes {
		if c.settled == nil {
			rest = append(rest, c)
		}
	}
	return rest
}

// answer answers those who proposed changes.
func answer(changes []Change, err error) {
	for _, c := range changes {
		if c.settled != nil {
			c.settled <- err
		}
	}
}
