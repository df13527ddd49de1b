package own

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/regular"
)

// Open opens a file of ours: a regular one of our uid that nobody else can write, and no link. It
// waits for nobody, as a fifo's other end. Whatever is not so is refused with a *[PathError] that
// has the advice, and left alone. What others could read is closed to them.
func Open(path string, flag int, advice string) (*os.File, error) {
	return open(path, flag, advice, written, false)
}

// written are the modes with which others may have written a file.
const written = 0o022

// open refuses files with any of those modes, and alone such with a second name: that could make us
// overwrite another file of ours. Nothing is changed before that is known.
func open(path string, flag int, advice string, not fs.FileMode, alone bool) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0o600)
	if err != nil {
		if bad := Check(path, advice); bad != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, bad // which says more than "too many levels of symbolic links"
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = ours(path, info, advice, not)
	}
	if err == nil && alone && links(info) > 1 {
		err = &PathError{Path: path, Problem: "it has a second name", Advice: advice}
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// Check says why what is at path cannot be opened by [Open]; nil where nothing is there.
func Check(path, advice string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return ours(path, info, advice, written)
}

// ours says why a file is not one of ours.
func ours(path string, info fs.FileInfo, advice string, not fs.FileMode) error {
	switch mode := info.Mode(); {
	case UID(info) != os.Geteuid():
		return &PathError{Path: path, Problem: fmt.Sprintf("belongs to uid %d", UID(info)), Advice: advice, Foreign: true}
	case !mode.IsRegular():
		return &PathError{Path: path, Problem: "there is " + regular.Kind(mode) + " in the way", Advice: advice}
	case mode.Perm()&not != 0:
		return &PathError{
			Path: path, Problem: fmt.Sprintf("can be written by others (mode %04o)", mode.Perm()),
			Advice: "look who has written it, then chmod 600 " + path + "; or " + advice,
		}
	}
	return nil
}

// Tail returns the last bytes of a file of ours, so many at most.
func Tail(path, advice string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, advice)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}

// Write puts a new file of ours with that text in the place of path, as a whole or not at all,
// whatever is there. It is on disk then, and its name is when the directory is synced.
func Write(path string, text []byte) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	f, err := Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, "")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // already failing
	}
	return err
}

// Trust says why what is in a directory that is to last may not be ours: it belongs to somebody
// else, or anybody can write it. A link of ours, or of the system's, leads to where we want it.
// Which flag or variable chooses another place is part of the way out.
func Trust(dir, instead string) error {
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if uid := UID(info); uid != os.Geteuid() && uid != 0 {
			return &PathError{
				Path: dir, Problem: fmt.Sprintf("is a symbolic link of uid %d", uid),
				Advice: "look who made it, or choose another place: " + instead, Foreign: true,
			}
		}
		info, err = os.Stat(dir)
	}
	if err != nil {
		return fmt.Errorf("own directory: %w", err)
	}
	switch mode := info.Mode(); {
	case !info.IsDir():
		return &PathError{
			Path: dir, Problem: "is " + regular.Kind(mode) + ", not a directory",
			Advice: "move it away, or choose another place: " + instead,
		}
	case UID(info) != os.Geteuid():
		return &PathError{
			Path: dir, Problem: fmt.Sprintf("belongs to uid %d, and we are uid %d", UID(info), os.Geteuid()),
			Advice: "what is in it is not believed; choose another place: " + instead, Foreign: true,
		}
	case mode.Perm()&0o002 != 0: // a group may be the user's own; whose a file is, is looked at with each
		return &PathError{
			Path: dir, Problem: fmt.Sprintf("can be written by anybody (mode %04o)", mode.Perm()),
			Advice: "look what they have put there, then chmod 700 " + dir + "; or choose another place: " + instead,
		}
	}
	return nil
}
