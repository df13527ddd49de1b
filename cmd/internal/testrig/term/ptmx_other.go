//go:build !linux

package term

import (
	"errors"
	"os"
)

// Modes is a terminal's settings.
type Modes struct{}

var errLinux = errors.New("the test terminal needs Linux")

func openPTY() (master, slave *os.File, err error)    { return nil, nil, errLinux }
func getModes(*os.File) (Modes, error)                { return Modes{}, errLinux }
func isRaw(Modes) bool                                { return false }
func setSize(f *os.File, rows, cols int) error        { return errLinux }
func control(f *os.File, op func(fd int) error) error { return errLinux }
func socketpair() (ours, theirs *os.File, err error)  { return nil, nil, errLinux }
