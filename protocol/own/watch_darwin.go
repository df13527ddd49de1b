package own

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// watch wakes when a name in the directory of one of some files came or went: a socket cannot be
// opened, so not itself be watched.
type watch struct {
	queue  int
	dirs   map[string]int // open directories
	ending *os.File       // the read end of a pipe, whose other end end closes
	ended  *os.File
}

func newWatch() (*watch, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("watch: %w", os.NewSyscallError("kqueue", err))
	}
	unix.CloseOnExec(queue)
	w := &watch{queue: queue, dirs: map[string]int{}}
	if w.ending, w.ended, err = os.Pipe(); err != nil {
		unix.Close(queue) // nothing is in it
		return nil, fmt.Errorf("watch: %w", err)
	}
	err = Control(w.ending, func(fd int) error { return w.register(fd, unix.EVFILT_READ, 0) })
	if err != nil {
		w.close()
		return nil, fmt.Errorf("watch: %w", err)
	}
	return w, nil
}

func (w *watch) register(fd int, filter int16, notes uint32) error {
	var change [1]unix.Kevent_t
	unix.SetKevent(&change[0], fd, int(filter), unix.EV_ADD|unix.EV_CLEAR)
	change[0].Fflags = notes
	_, err := unix.Kevent(w.queue, change[:], nil, nil)
	return os.NewSyscallError("kevent", err)
}

// add watches the directory of path, too, if there is one.
func (w *watch) add(path string) {
	dir := filepath.Dir(path)
	if fd, known := w.dirs[dir]; known {
		var open, named unix.Stat_t
		if unix.Fstat(fd, &open) == nil && unix.Stat(dir, &named) == nil && open.Dev == named.Dev && open.Ino == named.Ino {
			return
		}
		unix.Close(fd) // of a directory that lost its name
		delete(w.dirs, dir)
	}
	fd, err := unix.Open(dir, unix.O_EVTONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	w.dirs[dir] = fd
	w.register(fd, unix.EVFILT_VNODE, unix.NOTE_WRITE|unix.NOTE_DELETE|unix.NOTE_RENAME) // else only a failure to keep is tried again
}

// wait waits for a change, for most at most unless it is zero, or for the end.
func (w *watch) wait(most time.Duration) error {
	var until *unix.Timespec
	if most > 0 {
		ts := unix.NsecToTimespec(int64(most))
		until = &ts
	}
	var events [8]unix.Kevent_t
	_, err := unix.Kevent(w.queue, nil, events[:], until)
	if err == unix.EINTR {
		return nil
	}
	return os.NewSyscallError("kevent", err)
}

// end ends a wait and all that follow.
func (w *watch) end() { w.ended.Close() }

func (w *watch) close() {
	unix.Close(w.queue)
	for _, fd := range w.dirs {
		unix.Close(fd)
	}
	w.ending.Close()
	w.ended.Close() // closed already: well
}
