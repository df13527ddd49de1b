// Package regular reads files that others have made or named: settings, profiles, records, agents'
// logs. Such a name may be that of a fifo, on which a reader waits for ever, or of a device, which
// never ends. Here no open waits, and nothing is read but regular files and the null device, by
// which people say that there is nothing.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Open opens a regular file, or what a link leads to, for reading.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		if info, bad := os.Stat(path); bad == nil && !info.Mode().IsRegular() { // a socket, for one
			err = wrong(path, info)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !null(info) {
		err = wrong(path, info)
	}
	if err != nil {
		f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

func null(info fs.FileInfo) bool {
	device, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, device)
}

func wrong(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %s, not a file", path, Kind(info.Mode()))
}

// Read reads a regular file, of so many bytes at most.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has over %d bytes", path, most)
	}
	return text, err
}

// Kind says in words what a file is: "a socket", "a symbolic link" …
func Kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a fifo"
	}
	return "a device"
}
