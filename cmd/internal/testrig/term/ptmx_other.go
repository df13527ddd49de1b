//go:build !linux

package term

import (
	"errors"
	"os"
)

func openPTY() (master, slave *os.File, err error) {
	return nil, nil, errors.New("the test terminal needs Linux")
}
