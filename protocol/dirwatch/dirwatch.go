// Package dirwatch tells of changes in a directory, by the system's own notification: nothing
// is asked for while nothing happens. Each [Dir] has one goroutine, which Close ends.
package dirwatch

import (
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Dir is a watched directory.
type Dir struct {
	watcher *fsnotify.Watcher
	changed chan struct{}
	ended   chan struct{}
}

// Watch begins to watch the directory at path for files whose name cares is true for: their
// coming, going and changing, and the going of the directory itself.
func Watch(path string, cares func(name string) bool) (*Dir, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if err := w.Add(path); err != nil {
		w.Close() // it watches nothing
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	d := &Dir{watcher: w, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	go d.run(filepath.Clean(path), cares)
	return d, nil
}

// Changed receives after a change. It means "look again", never how often.
func (d *Dir) Changed() <-chan struct{} { return d.changed }

// Close ends the watch; Changed receives no more.
func (d *Dir) Close() {
	d.watcher.Close() // a watch that is over has nothing to tell
	<-d.ended
}

func (d *Dir) run(path string, cares func(string) bool) {
	defer close(d.ended)
	for events, errs := d.watcher.Events, d.watcher.Errors; ; {
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
		select {
		case d.changed <- struct{}{}:
		default: // nobody has looked yet
		}
	}
}
