package own

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relay-pty/protocol/regular"
)

// Dir makes and checks base and base/sub, and returns the latter: directories of our uid, no
// links, closed to all others. One that is not is refused with a *[PathError] and left alone.
// Once base has passed, nobody else can change what is in it.
func Dir(base, sub string) (string, error) {
	dir := filepath.Join(base, sub)
	for _, d := range []string{base, dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("own directory: %w", err)
		}
		if err := Private(d); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// Private says why something is no directory of our uid that is closed to all others.
func Private(d string) error {
	info, err := os.Lstat(d)
	if err != nil {
		return fmt.Errorf("own directory: %w", err)
	}
	const advice = "look who made it, then remove it"
	switch {
	case !info.IsDir():
		return &PathError{Path: d, Problem: "is " + regular.Kind(info.Mode()) + ", not a directory", Advice: advice}
	case UID(info) != os.Geteuid():
		return &PathError{Path: d, Problem: fmt.Sprintf("belongs to uid %d", UID(info)), Advice: advice, Foreign: true}
	case info.Mode().Perm()&0o077 != 0:
		return &PathError{Path: d, Problem: fmt.Sprintf("is open to others (mode %04o)", info.Mode().Perm()), Advice: "chmod 700 " + d}
	}
	return nil
}
