// Package dirwatch tells of changes in directories, by the system's own notification: nothing
// is asked for while nothing happens. The goroutines of a [Dir] end with Close.
//
// A user has few notifiers (128 on Linux: fs.inotify.max_user_instances, inotify(7)), which editors
// and agents use, too. Where none is left the directory is looked at ten times a second.
package dirwatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Dir is a watched directory, or several.
type Dir struct {
	changed chan struct{}
	close   func()
	ended   chan struct{}

	mu      sync.Mutex
	watcher *fsnotify.Watcher      // nil: nothing is left that tells
	paths   map[string]os.FileInfo // what is watched, as it was then
}

// notifier and mounts are the system's; tests take them away.
var notifier, mounts = fsnotify.NewWatcher, Mounts

// Watch begins to watch the directory at path for files whose name cares is true for: their
// coming, going and changing, and the going of the directory itself. A change of what is mounted
// is told, too: it may have put another directory in its place.
func Watch(path string, cares func(name string) bool) (*Dir, error) {
	d := &Dir{changed: make(chan struct{}, 1), ended: make(chan struct{}), paths: map[string]os.FileInfo{}}
	w, err := notifier()
	if err == nil {
		d.watcher = w
		if err = d.Add(path); err != nil {
			w.Close() // it watches nothing
		}
	}
	unmounts := mounts(d.tell)
	switch {
	case err == nil:
		d.close = func() { w.Close(); unmounts() } // a watch that is over has nothing to tell
		go d.run(w, cares)
		return d, nil
	case spent(err):
		_, err = os.Stat(path)
	}
	if err != nil {
		unmounts()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	d.watcher = nil
	over := make(chan struct{})
	d.close = func() { close(over); unmounts() }
	go d.poll(over)
	return d, nil
}

// Add has the directory at path watched, too. One that is watched already costs a look at whether
// it is still the same directory.
func (d *Dir) Add(path string) error {
	path = filepath.Clean(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := os.Stat(path)
	if err != nil || d.watcher == nil {
		return err
	}
	if was := d.paths[path]; was != nil {
		if os.SameFile(was, now) {
			return nil
		}
		d.watcher.Remove(path) // fails where the system has ended the watch
	}
	d.paths[path] = now
	err = d.watcher.Add(path)
	if err != nil {
		delete(d.paths, path)
	}
	return err
}

// watches reports whether a path is that of a watched directory itself.
func (d *Dir) watches(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paths[path] != nil
}

// Left is nil if the system has a notifier left, else why there is none.
func Left() error {
	w, err := notifier()
	if err == nil {
		w.Close() // nothing is watched
	}
	return err
}

// spent reports whether an error is that the system has no notifier left, or no room in one.
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

func (d *Dir) run(w *fsnotify.Watcher, cares func(string) bool) {
	defer close(d.ended)
	for events, errs := w.Events, w.Errors; ; {
		select {
		case ev, open := <-events:
			if !open {
				return
			}
			if !cares(filepath.Base(ev.Name)) && !d.watches(ev.Name) {
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
