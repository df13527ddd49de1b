package own

import (
	"fmt"
	"io/fs"
	"os"
)

// Place is a file or directory that this process has open, and the path that it had when it was
// opened. What is written to it without that path nobody finds again.
type Place struct {
	Path string
	is   fs.FileInfo
}

// At is what is at path now.
func At(path string) (Place, error) {
	is, err := os.Lstat(path)
	return Place{path, is}, err
}

// Gone says that nothing, or something else, has the path by now: a *[PathError]. What cannot be
// looked at is an error, too.
func (p Place) Gone() error {
	now, err := os.Lstat(p.Path)
	switch {
	case err == nil && os.SameFile(p.is, now):
		return nil
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("look at what is open: %w", err)
	}
	const advice = "run the command again: it begins with what is there now"
	return &PathError{Path: p.Path, Problem: "was removed, or moved away, while it was in use", Advice: advice}
}

// Files is the path.
func (p Place) Files() []string { return []string{p.Path} }

// Keep makes nothing anew: what is gone cannot be brought back by its path alone.
func (p Place) Keep() (anew bool, err error) { return false, p.Gone() }
