package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNothingButFilesIsRead, and nobody waits for the other end of a fifo, or for a device's end.
func TestNothingButFilesIsRead(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket's path is to be short
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(unix.Mkfifo("fifo", 0o600))
	must(os.Mkdir("dir", 0o700))
	must(os.Symlink("/dev/zero", "zero"))
	must(os.Symlink("fifo", "link to a fifo"))
	must(os.Symlink("none", "link to nothing"))
	must(os.WriteFile("file", []byte("12345"), 0o600))
	must(os.Symlink("file", "link"))
	l, err := net.Listen("unix", "sock")
	must(err)
	defer l.Close()
	for path, want := range map[string]string{
		"fifo": "fifo is a fifo, not a file", "dir": "dir is a directory, not a file", "zero": "zero is a device, not a file", "sock": "sock is a socket, not a file",
		"link to a fifo": "link to a fifo is a fifo, not a file", "link to nothing": "no such file", "none": "no such file", "file": "", "link": "",
	} {
		told := make(chan error, 1)
		go func() {
			text, err := Read(path, 5)
			if err == nil && string(text) != "12345" {
				err = errors.New("it reads " + string(text))
			}
			told <- err
		}()
		select {
		case err := <-told:
			switch {
			case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %v, want %q", path, err, want)
			case want == "no such file" && !errors.Is(err, fs.ErrNotExist):
				t.Errorf("%s: %v is not that it is missing", path, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is not read, nor refused, within a minute", path)
		}
	}
	if text, err := Read(os.DevNull, 5); err != nil || len(text) > 0 {
		t.Errorf("the null device: %q, %v", text, err)
	}
	if _, err := Read("file", 4); err == nil || err.Error() != "file has over 4 bytes" {
		t.Errorf("too long a file: %v", err)
	}
}
