// Package own takes a path so that one process of ours has it: by a lock file that names its
// owner, and by directories that are closed to all others. It follows no link, waits for
// nothing, and leaves alone what it finds and did not make.
//
// A name can be taken away: cleaners of /tmp remove sockets, records and locks of live processes.
// The files themselves are watched, not their directory, where much goes on that would wake us. A
// file that lost its name is made anew, under a lock that is still, or again, ours; who connected
// before is served on.
package own

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
)

// HeldError says that a live process owns what we want. What we do not know of it is zero.
type HeldError struct {
	What   string // "socket /tmp/…", "name alice" or "store /home/…"
	Flag   string // the flag that chooses another one
	PID    int
	Name   string // the agent's name, or [Router]
	Socket string // where a router that holds its store listens
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return e.What + ": held by another process"
	}
	if e.Name == Router {
		return fmt.Sprintf("%s: held by the router that runs (pid %d)", e.What, e.PID)
	}
	who := fmt.Sprintf("%s: held by relay-pty pid %d", e.What, e.PID)
	if e.Name != "" {
		who += fmt.Sprintf(" (name %s)", e.Name)
	}
	return who
}

// Hint says what to do about it.
func (e *HeldError) Hint() string {
	if e.Name == Router {
		return "use that one, or end it first; a second router needs an XDG_RUNTIME_DIR and a --store of its own"
	}
	return "end that one, or choose another " + e.Flag
}

// Router is the name by which a router holds what it has; no agent may have it.
const Router = "relay"

// PathError says that something in the file system is not as it must be, and is left
// as it is.
type PathError struct {
	Path, Problem, Advice string
	Foreign               bool // it belongs to another user, whom nobody here can move
}

func (e *PathError) Error() string { return e.Path + ": " + e.Problem }

// Hint says what to do about it.
func (e *PathError) Hint() string { return e.Advice }

// Lock is an advisory lock on a file of ours, held as long as the file is open, so at most until
// the process ends, however it ends. The file holds who we are.
type Lock struct {
	path, what, flag, name string

	mu     sync.Mutex
	file   *os.File // nil: given up
	socket string   // what Tell said
}

// Hold takes the lock file at path for the agent of that name until it is released, at most until
// the process ends. What it stands for, and the flag that chooses another one, are said in the
// [HeldError] of the next who wants it.
func Hold(path, what, flag, name string) (*Lock, error) {
	l := &Lock{path: path, what: what, flag: flag, name: name}
	var err error
	if l.file, err = l.take(); err != nil {
		return nil, err
	}
	return l, nil
}

// take creates and locks the file. Whoever gets a lock removes the file before letting it go, so a
// lock counts only if the file still has its name: otherwise another process could hold one on a
// newer file of the same name.
func (l *Lock) take() (*os.File, error) {
	for {
		f, err := openOwn(l.path, l.flag)
		if err != nil {
			return nil, err
		}
		err = Control(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		if errors.Is(err, unix.EWOULDBLOCK) {
			held := holder(f, HeldError{What: l.what, Flag: l.flag})
			f.Close() // only read
			return nil, held
		}
		if err != nil {
			f.Close() // nothing written
			return nil, fmt.Errorf("lock %s: %w", l.path, err)
		}
		if !isAt(f, l.path) {
			f.Close() // its last owner removed it while we waited; nothing written
			continue
		}
		if err := l.sign(f); err != nil {
			giveUp(f, l.path)
			return nil, fmt.Errorf("lock %s: %w", l.path, err)
		}
		return f, nil
	}
}

// Tell writes into the lock's file where its owner listens, for whoever finds the file.
func (l *Lock) Tell(socket string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fmt.Errorf("lock %s: %w", l.path, fs.ErrClosed)
	}
	l.socket = socket
	return l.sign(l.file)
}

// Path is that of the lock's file.
func (l *Lock) Path() string { return l.path }

// Keep sees to it that the lock's file has its name, without which others could take the lock: a
// file that was removed is made anew. A live process that has the lock by now is a [HeldError].
func (l *Lock) Keep() (anew bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.file == nil:
		return false, fmt.Errorf("lock %s: %w", l.path, fs.ErrClosed)
	case isAt(l.file, l.path):
		return false, nil
	}
	f, err := l.take()
	if err != nil {
		return false, err
	}
	l.file.Close() // it has no name, and nothing left to write
	l.file = f
	return true, nil
}

// Release removes the lock file, if it is still the one that we locked, and unlocks.
func (l *Lock) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		giveUp(l.file, l.path)
		l.file = nil
	}
}

// openOwn opens a lock file. What stands in it counts for nothing, so others may have written it.
func openOwn(path, flag string) (*os.File, error) {
	advice := "remove it, or choose another " + flag
	f, err := open(path, os.O_RDWR|os.O_CREATE, advice, 0, true)
	var way *PathError
	switch {
	case errors.As(err, &way):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, &PathError{Path: filepath.Dir(path), Problem: "the directory does not exist", Advice: "make it, or choose another place"}
	case err != nil:
		return nil, fmt.Errorf("lock: %w", err)
	}
	return f, nil
}

// sign writes who has the lock, as one line. A reader may see the line of a dead owner behind it.
func (l *Lock) sign(f *os.File) error {
	line := fmt.Sprintf("pid %d started %d name %s", os.Getpid(), time.Now().UnixMilli(), l.name)
	if l.socket != "" && !strings.Contains(l.socket, "\n") {
		line += " socket " + l.socket // which may have blanks, and so comes last
	}
	line += "\n"
	if _, err := f.WriteAt([]byte(line), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(line)))
}

// Signed returns what stands in the lock file at path, if that is a file of ours alone. Its owner
// may be dead. No link is followed.
func Signed(path string) (by HeldError, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		return by, false
	}
	f, err := Open(path, os.O_RDONLY, "")
	if err != nil {
		return by, false
	}
	defer f.Close() // only read
	by = *holder(f, by)
	return by, by.PID != 0
}

// longestLine is more than a signature may have: names, numbers, and a path of the system's most.
const longestLine = 8 << 10

// holder reads who signed the lock file. It may be empty, if its owner is just about
// to, and the owner's word is trusted only as far as it is well formed.
func holder(f *os.File, e HeldError) *HeldError {
	text := make([]byte, longestLine)
	n, _ := f.ReadAt(text, 0) // what cannot be read stays unknown
	line, _, whole := strings.Cut(string(text[:n]), "\n")
	line, socket, _ := strings.Cut(line, " socket ")
	if whole && filepath.IsAbs(socket) {
		e.Socket = socket
	}
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i += 2 {
		number, err := strconv.ParseInt(words[i+1], 10, 64)
		switch {
		case words[i] == "name" && (words[i+1] == Router || protocol.ValidName(words[i+1]) == nil):
			e.Name = words[i+1]
		case err != nil || number <= 0:
		case words[i] == "pid":
			e.PID = int(number)
		}
	}
	return &e
}

func giveUp(f *os.File, path string) {
	if isAt(f, path) {
		os.Remove(path) // a lock file that stays behind does no harm
	}
	f.Close() // nothing left to write
}

func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

// Control runs do on the descriptor, leaving it in the mode it is in; Fd would make it
// blocking.
func Control(c syscall.Conn, do func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := raw.Control(func(fd uintptr) { result = do(int(fd)) }); err != nil {
		return err
	}
	return result
}

// UID is the owner of a file.
func UID(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }
