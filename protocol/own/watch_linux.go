package own

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/dirwatch"
)

// watch wakes when one of some files may have lost its name. It watches the files themselves, for
// in the directory of a socket, often /tmp, much goes on that would wake us for nothing. A name
// that is removed shows as a change of the file's attributes. Of a file system that is unmounted
// below an open file inotify tells nothing, so mounts are watched, too.
type watch struct {
	file    *os.File
	mounted atomic.Bool // what is mounted has changed since the last wait
	stop    func()      // ends the watch of mounts
}

func newWatch() (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", os.NewSyscallError("inotify_init1", err))
	}
	w := &watch{file: os.NewFile(uintptr(fd), "inotify")}
	w.stop = dirwatch.Mounts(func() {
		w.mounted.Store(true)
		w.file.SetReadDeadline(time.Unix(1, 0)) // fails only at the end
	})
	return w, nil
}

// add watches the file at path, too, if there is one; again and again does no harm.
func (w *watch) add(path string) {
	Control(w.file, func(fd int) error { // fails where there is none
		_, err := unix.InotifyAddWatch(fd, path, unix.IN_ATTRIB|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_DONT_FOLLOW)
		return err
	})
}

// wait waits for a change, for most at most unless it is zero, or for the end.
func (w *watch) wait(most time.Duration) error {
	var until time.Time
	if most > 0 {
		until = time.Now().Add(most)
	}
	w.file.SetReadDeadline(until) // fails only at the end
	if w.mounted.Swap(false) {
		return nil // looked at after the deadline was set, so that no change is lost
	}
	var events [1024]byte
	_, err := w.file.Read(events[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		w.mounted.Store(false)
		return nil
	}
	return err
}

// end ends a wait and all that follow.
func (w *watch) end() { w.file.Close() }

func (w *watch) close() {
	w.stop()
	w.file.Close() // closed already: well
}
