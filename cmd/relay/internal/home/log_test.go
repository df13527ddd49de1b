package home

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
)

// TestTheRoutersLogStaysSmall: its end is kept, what was before that goes, and a router that has it
// open writes behind its end.
func TestTheRoutersLogStaysSmall(t *testing.T) {
	h := Home{Store: t.TempDir()}
	f, err := h.openLog()
	must(t, err)
	defer f.Close()
	fill := func(with string) {
		t.Helper()
		_, err := f.Write(bytes.Repeat([]byte(with), logMost+1))
		must(t, err)
	}
	size := func(file string) int64 {
		t.Helper()
		info, err := os.Stat(file)
		must(t, err)
		return info.Size()
	}
	fill("a")
	next, err := h.openLog() // the next router
	must(t, err)
	next.Close()
	if now, was := size(h.Log()), size(h.Log()+".old"); now != 0 || was != logMost {
		t.Errorf("it has %d bytes, and %d of before, want 0 and %d", now, was, logMost)
	}
	fill("b")
	must(t, h.cutLog())
	_, err = f.WriteString("relay: last words\n")
	must(t, err)
	if text, err := h.Told(); text != "relay: last words\n" || err != nil {
		t.Errorf("it says %q, %v", text, err)
	}
	if b, err := os.ReadFile(h.Log() + ".old"); len(b) != logMost || b[0] != 'b' || err != nil {
		t.Errorf("of before there are %d bytes, %v", len(b), err)
	}
}

// TestARunningRoutersLogStaysSmall: it is looked at again and again.
func TestARunningRoutersLogStaysSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Home{Store: t.TempDir()}
		must(t, os.WriteFile(h.Log(), make([]byte, logMost+1), 0o600))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.CutLog(ctx) }()
		<-time.After(logLook + time.Second)
		if info, err := os.Stat(h.Log()); err != nil || info.Size() != 0 {
			t.Errorf("after %v it is %+v, %v", logLook, info, err)
		}
		cancel()
		<-ended
	})
}

// TestTheRoutersLogIsAFileOfOurs: no link is followed, and what others can write is not used.
func TestTheRoutersLogIsAFileOfOurs(t *testing.T) {
	for name, put := range map[string]func(h Home) error{
		"a link":                    func(h Home) error { return os.Symlink(filepath.Join(h.Store, "else"), h.Log()) },
		"a link in its older place": func(h Home) error { return os.Symlink(filepath.Join(h.Store, "else"), h.Log()+".old") },
		"a fifo":                    func(h Home) error { return unix.Mkfifo(h.Log(), 0o600) },
		"a directory":               func(h Home) error { return os.Mkdir(h.Log(), 0o700) },
		"a store of all":            func(h Home) error { return os.Chmod(h.Store, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			h := Home{Store: t.TempDir()}
			must(t, put(h))
			if name == "a link in its older place" {
				must(t, os.WriteFile(h.Log(), make([]byte, logMost+1), 0o600))
			}
			f, err := h.openLog()
			var way *own.PathError
			if name == "a link in its older place" {
				must(t, err)
				f.Close()
			} else if !errors.As(err, &way) || way.Hint() == "" {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(filepath.Join(h.Store, "else")); err == nil {
				t.Error("the link was followed")
			}
		})
	}
}
