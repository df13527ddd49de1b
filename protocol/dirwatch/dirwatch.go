// Package dirwatch tells of changes in a directory, by the system's own notification: nothing
// is asked for while nothing happens. Each [Dir] has one goroutine, which Close ends.
//
// A user has few notifiers (128 on Linux: fs.inotify.max_user_instances, inotify(7)), which editors
// and agents use, too. Where none is left the directory is looked at ten times a second.
package dirwatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Dir is a watched directory.
type Dir struct {
	changed chan struct{}
	close   func()
	ended   chan struct{}
}

// notifier is the system's; tests take it away.
var notifier = fsnotify.NewWatcher

// Watch begins to watch the directory at path for files whose name cares is true for: their
// coming, going and changing, and the going of the directory itself.
func Watch(path string, cares func(name string) bool) (*Dir, error) {
	d := &Dir{changed: make(chan struct{}, 1), ended: make(chan struct{})}
	w, err := notifier()
	if err == nil {
		d.close = func() { w.Close() } // a watch that is over has nothing to tell
		if err = w.Add(path); err != nil {
			w.Close() // it watches nothing
		}
	}
	switch {
	case err == nil:
		go d.run(w, filepath.Clean(path), cares)
		return d, nil
	case spent(err):
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	over := make(chan struct{})
	d.close = func() { close(over) }
	go d.poll(over)
	return d, nil
}

// Left is nil if the system has a notifier left, else why there is none.
func Left() error {
	w, err := notifier()
	if err == nil {
		w.Close() // nothing is watched
	}
	return err
}

// spent says whether an error is that the system has no notifier left, or no room in one.
func spent(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOSPC)
}

// Changed receives after a change. It means "look again", never how often.
func (d *Dir) Changed() <-chan struct{} { return d.changed }

// Close ends the watch; Changed receives no more.
func (d *Dir) Close() {
	d.close()
	<-d.ended
}

func (d *Dir) run(w *fsnotify.Watcher, path string, cares func(string) bool) {
	defer close(d.ended)
	for events, errs := w.Events, w.Errors; ; {
		select {
		case ev, open := <-events:
			if !open {
				return
			}
			if ev.Name != path && !cares(filepath.Base(ev.Name)) {
				continue
			}
		case _, open := <-errs: // some changes were not told
			if !open {
				return
			}
		}
		d.tell()
	}
}

// pollEvery is how often a directory is looked at that nothing watches.
const pollEvery = 100 * time.Millisecond

// poll says "look again" all the time.
func (d *Dir) poll(over <-chan struct{}) {
	defer close(d.ended)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.tell()
		case <-over:
			return
		}
	}
}

func (d *Dir) tell() {
	select {
	case d.changed <- struct{}{}:
	default: // nobody has looked yet
	}
}
