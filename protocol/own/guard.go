package own

import (
	"context"
	"errors"
	"time"
)

// Name is what has a name in the file system that others may remove.
type Name interface {
	// Files are the paths that have to be there.
	Files() []string
	// Keep makes anew what is not there, and reports whether it did.
	Keep() (anew bool, err error)
}

// watcher waits for changes of files.
type watcher interface {
	add(path string)
	wait(most time.Duration) error // 0: until something changes
	end()
	close()
}

// system makes the system's watcher; tests take it away.
var system = func() (watcher, error) { return newWatch() }

// Guard keeps names until ctx ends, and returns why. It waits for the system to tell of a change
// of the files; only while a name cannot be kept it tries again by itself, ever more rarely. Where
// the system has no watcher left for this user (Linux: fs.inotify.max_user_instances, 128) it looks
// every ten seconds. Each failure that is a new one is told, and nil when all are kept again.
func Guard(ctx context.Context, tell func(error), names ...Name) error {
	w, err := system()
	if err != nil {
		w = blind{make(chan struct{})}
	}
	defer w.close()
	defer context.AfterFunc(ctx, w.end)()
	const shortest, longest = time.Second, time.Minute
	for pause, told := shortest, ""; ; {
		anew, err := keep(w, names)
		now := ""
		if err != nil {
			now = err.Error()
		}
		if now != told {
			tell(err)
			told = now
		}
		switch {
		case anew: // the watch is yet to see the new files
			continue
		case err == nil:
			pause = shortest
			err = w.wait(0)
		default:
			err = w.wait(pause)
			pause = min(2*pause, longest)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// keep has files watched before it looks whether they are there.
func keep(w watcher, names []Name) (anew bool, err error) {
	for _, n := range names {
		for _, path := range n.Files() {
			w.add(path) // one that is not there is made anew, and then watched
		}
		made, kept := n.Keep()
		anew, err = anew || made, errors.Join(err, kept)
	}
	return anew, err
}

// blind is a watcher that is told nothing.
type blind struct{ over chan struct{} }

// blindRest is how long it looks away.
const blindRest = 10 * time.Second

func (b blind) add(string) {}

func (b blind) wait(most time.Duration) error {
	if most == 0 {
		most = blindRest
	}
	select {
	case <-time.After(most):
	case <-b.over: // the caller knows why
	}
	return nil
}

func (b blind) end() { close(b.over) }

func (b blind) close() {}
