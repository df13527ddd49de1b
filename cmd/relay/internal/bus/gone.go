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

// notePlaces notes which directories the open store consists of, from the store's own down.
func (l *Log) notePlaces() error {
	path, below := l.dir, strings.Split(blocks, "/")
	for n := 0; ; n++ {
		place, err := own.At(path)
		if err != nil {
			return err
		}
		l.places = append(l.places, place)
		if n == len(below) {
			return nil
		}
		path = filepath.Join(path, below[n])
	}
}

// Files are the directories of the store, and its lock.
func (l *Log) Files() []string {
	list := []string{l.lock.Path()}
	for _, p := range l.places {
		list = append(list, p.Path)
	}
	return list
}

// Keep makes the lock anew where it was removed. A store that is gone is an error.
func (l *Log) Keep() (anew bool, err error) {
	if err := l.Gone(); err != nil {
		return false, err
	}
	return l.lock.Keep()
}

// Gone says, with ErrGone, that what is open is no longer at its place. The innermost directory is at
// its path only if all others are.
func (l *Log) Gone() error {
	if l.places[len(l.places)-1].Gone() == nil {
		return nil
	}
	for _, p := range l.places {
		if err := p.Gone(); err != nil {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
	return nil
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
		return fmt.Errorf("%w: %w", ErrGone, &fs.PathError{Op: "look for", Path: l.block(was), Err: fs.ErrNotExist})
	}
	return nil
}

// block is the file of the server that has that number.
func (l *Log) block(n int) string {
	return filepath.Join(l.dir, blocks, strconv.Itoa(n)+".blk")
}
