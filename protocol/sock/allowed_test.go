package sock

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatASandboxAnswers: rules beyond a file's own permissions, and no error that a socket has
// otherwise.
func TestWhatASandboxAnswers(t *testing.T) {
	const usable = "/dev/null"
	for _, c := range []struct {
		path string
		err  error
		want bool
	}{
		{usable, unix.EPERM, true}, {usable, unix.EAFNOSUPPORT, true}, {usable, unix.ENOSYS, true}, {usable, unix.EACCES, true},
		{in(t.TempDir(), "none"), unix.EACCES, false}, {usable, unix.ECONNREFUSED, false}, {usable, unix.ENOENT, false},
		{usable, unix.ENOTDIR, false}, {usable, unix.EAGAIN, false}, {usable, nil, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("dial: %w", err)
		}
		if got := forbids(c.path, err); got != c.want {
			t.Errorf("%v at %s: got %v, want %v", c.err, c.path, got, c.want)
		}
	}
	if err := Allowed(); err != nil {
		t.Errorf("here: %v", err)
	}
}
