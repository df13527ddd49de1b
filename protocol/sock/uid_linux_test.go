package sock

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOtherUID: the mode keeps others out, and without it the peer's uid does.
func TestOtherUID(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("NOT RUN: only root can become another uid")
		return
	}
	path := in(dir(t), "s")
	serve(t, listen(t, path), answer)
	if _, err := connectAs(t, 65534, path); err != unix.EACCES {
		t.Errorf("connect: got %v, want %v", err, unix.EACCES)
	}
	must(t, os.Chmod(path, 0o777))
	text, err := connectAs(t, 65534, path)
	if err != nil || !strings.Contains(text, `"not_authorized"`) || strings.Contains(text, `"hello"`) {
		t.Errorf("open socket: got %q, %v", text, err)
	}
	if text, err := connectAs(t, 0, path); err != nil || !strings.Contains(text, `"hello"`) {
		t.Errorf("ourselves: got %q, %v", text, err)
	}
}

// connectAs says hello on a thread of another uid and returns all that it is told. The
// thread ends with its goroutine, as it stays locked to it.
func connectAs(t *testing.T, uid int, path string) (text string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var fd int
		if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
			return
		}
		defer unix.Close(fd)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			err = errno
			return
		}
		if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
			return
		}
		unix.Write(fd, []byte(`{"type":"hello"}`+"\n")) // may come too late
		unix.Shutdown(fd, unix.SHUT_WR)
		buf := make([]byte, 4096)
		for {
			n, rerr := unix.Read(fd, buf)
			if n <= 0 || rerr != nil {
				return
			}
			text += string(buf[:n])
		}
	}()
	soon(t, fmt.Sprintf("the end of a connection of uid %d", uid), done)
	return text, err
}
