package own

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// named is a file that is made anew while fault is nil.
type named struct {
	path  string
	fault chan error // of the next tries, one each
	kept  chan bool  // what Keep said
}

func (n *named) Files() []string { return []string{n.path} }

func (n *named) Keep() (anew bool, err error) {
	defer func() { n.kept <- anew }()
	select {
	case err := <-n.fault:
		return false, err
	default:
	}
	if _, err := os.Lstat(n.path); err == nil {
		return false, nil
	}
	return true, os.WriteFile(n.path, nil, 0o600)
}

func receive[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
	}
	return v
}

// TestGuard: a file that goes is made anew as soon as it went, again and again; one that cannot be
// made is tried again, and told of once.
func TestGuard(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	n := &named{path: filepath.Join(t.TempDir(), "name"), fault: make(chan error, 2), kept: make(chan bool, 100)}
	told, done := make(chan error, 10), make(chan error, 1)
	go func() { done <- Guard(ctx, func(err error) { told <- err }, n) }()
	times := 0
	made := func() { // the system may tell of one end in several parts, and have it looked for in vain
		t.Helper()
		for !receive(t, n.kept, "making the file") {
		}
		times++
	}
	made()
	for range 3 {
		must(t, os.Remove(n.path))
		made()
	}
	if len(told) != 0 {
		t.Errorf("told %v", <-told)
	}
	cannot := errors.New("cannot")
	n.fault <- cannot
	n.fault <- cannot
	must(t, os.Rename(n.path, n.path+".away"))
	if err := receive(t, told, "the fault"); !errors.Is(err, cannot) {
		t.Errorf("told %v", err)
	}
	if err := receive(t, told, "its end"); err != nil {
		t.Errorf("told %v", err)
	}
	end := errors.New("end")
	cancel(end)
	if err := receive(t, done, "the guard's end"); err != end {
		t.Errorf("it ended with %v", err)
	}
	for len(n.kept) > 0 {
		if <-n.kept {
			times++
		}
	}
	if times != 5 {
		t.Errorf("it was made %d times, want 5", times)
	}
}

// TestGuardWithoutAWatcher: other programs have used up what the system lets a user have.
func TestGuardWithoutAWatcher(t *testing.T) {
	before := system
	system = func() (watcher, error) { return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE) }
	defer func() { system = before }()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := &named{path: filepath.Join(dir, "name"), fault: make(chan error), kept: make(chan bool, 100)}
		done := make(chan error, 1)
		go func() { done <- Guard(ctx, func(err error) { t.Error(err) }, n) }()
		synctest.Wait()
		if err := os.Remove(n.path); err != nil { // it was made
			t.Fatal(err)
		}
		<-time.After(blindRest + time.Second)
		if _, err := os.Stat(n.path); err != nil {
			t.Errorf("it was not made anew: %v", err)
		}
		ended := errors.New("ended")
		cancel(ended)
		if err := <-done; !errors.Is(err, ended) {
			t.Errorf("it ends with %v", err)
		}
	})
}
