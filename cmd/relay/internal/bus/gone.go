package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"relay-pty/protocol/own"
)

// ErrGone is that the store lost its place while it was open: the server would go on writing to
// files that nobody finds again. Nothing more is appended, and the event was not kept.
var ErrGone = errors.New("the log is gone")

// blocks is where the server has the events, below the store.
const blocks = "jetstream/$G/streams/" + stream + "/msgs"

// notePlaces notes of what the open store consists: its directories, from its own down, and its
// lock, without which another process could take it.
func (l *Log) notePlaces() error {
	paths := []string{l.dir}
	for name := range strings.SplitSeq(blocks, "/") {
		paths = append(paths, filepath.Join(paths[len(paths)-1], name))
	}
	for _, path := range append(paths, l.lock.Path()) {
		place, err := own.At(path)
		if err != nil {
			return err
		}
		l.places = append(l.places, place)
	}
	return nil
}

// Files are the directories of the store, and its lock.
func (l *Log) Files() (list []string) {
	for _, p := range l.places {
		list = append(list, p.Path)
	}
	return list
}

// Keep makes nothing anew, which would only be in the way of whoever removes the store.
func (l *Log) Keep() (anew bool, err error) { return false, l.Gone() }

// Gone says, with ErrGone, that what is open is no longer at its place. The innermost directory is
// at its path only if all others are.
func (l *Log) Gone() error {
	inner := l.places[len(l.places)-2:] // and the lock
	if inner[0].Gone() == nil && inner[1].Gone() == nil {
		return nil
	}
	for _, p := range l.places {
		if err := p.Gone(); err != nil {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
}

// Abandon leaves a store as it is whose files are being removed: to close it would write some anew.
// The server ends with the process.
func (l *Log) Abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = nil
}

// goneBlock is Gone, and looks for the file to which the newest events are written: that of the
// highest number.
func (l *Log) goneBlock() error {
	if err := l.Gone(); err != nil {
		return err
	}
	if _, err := os.Lstat(l.block(l.newest)); err == nil {
		return nil
	}
	files, err := os.ReadDir(filepath.Join(l.dir, blocks))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	was := l.newest
	for _, f := range files {
		if n, err := strconv.Atoi(strings.TrimSuffix(f.Name(), ".blk")); err == nil {
			l.newest = max(l.newest, n)
		}
	}
	if l.newest == was && was > 0 {
		missing := &fs.PathError{Op: "look for", Path: l.block(was), Err: fs.ErrNotExist}
		return fmt.Errorf("%w: %w", ErrGone, missing)
	}
	return nil
}

// block is the file of the server that has that number.
func (l *Log) block(n int) string {
	return filepath.Join(l.dir, blocks, strconv.Itoa(n)+".blk")
}
