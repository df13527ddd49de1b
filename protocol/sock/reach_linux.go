package sock

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// reach returns a name that bind and connect take for the socket at path: one that is too long is
// reached through its directory, which is open until done is called.
func reach(path string) (name string, done func(), err error) {
	if err := CheckPath(path); err == nil || len(path) <= MaxPath {
		return path, func() {}, err
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
	if err := CheckPath(name); err != nil || !isDir(filepath.Dir(name)) {
		dir.Close() // nothing is in use
		return "", nil, CheckPath(path)
	}
	return name, func() { dir.Close() }, nil
}

// isDir reports whether there is such a directory: a system may have no /proc.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
