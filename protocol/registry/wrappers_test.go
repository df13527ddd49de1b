package registry_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"relay-pty/protocol/registry"
)

// wrapper is a relay-pty that wraps cat.
type wrapper struct {
	ctx  context.Context
	dir  string
	name string
	cmd  *exec.Cmd
}

// stage is what the example runs on: wrappers in a directory of their own.
var stage struct {
	stop     context.CancelFunc
	dir      string
	wrappers []*wrapper
}

// begin builds relay-pty and starts a wrapper by each name; the first is returned.
func begin(names ...string) (context.Context, string, *wrapper) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	top, err := os.MkdirTemp("/tmp", "ex")
	check(err)
	stage.stop, stage.dir = stop, top
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(top, "relay-pty"), "relay-pty/cmd/relay-pty")
	build.Stderr = os.Stderr
	check(build.Run())
	os.Setenv("XDG_RUNTIME_DIR", top)
	dir, err := registry.Dir()
	check(err)
	for _, name := range names {
		w := &wrapper{ctx: ctx, dir: dir, name: name}
		stage.wrappers = append(stage.wrappers, w)
		w.start()
	}
	return ctx, dir, stage.wrappers[0]
}

// end ends all of it.
func end() {
	stage.stop()
	for _, w := range stage.wrappers {
		w.stop()
	}
	os.RemoveAll(stage.dir)
}

// start starts the wrapper and waits until it is listed.
func (w *wrapper) start() {
	w.cmd = exec.Command(filepath.Join(stage.dir, "relay-pty"), "--name", w.name, "--socket", filepath.Join(stage.dir, w.name+".sock"),
		"--state-dir", filepath.Join(stage.dir, "state"), "--headless", "--idle-timeout", "50", "--", "cat")
	check(w.cmd.Start())
	for records, err := range registry.At(w.dir).Watch(w.ctx) {
		check(err)
		for _, r := range records {
			if r.Name == w.name {
				return
			}
		}
	}
	panic(fmt.Sprintf("%s is not listed: not within 2m0s", w.name))
}

func (w *wrapper) stop() {
	w.cmd.Process.Signal(syscall.SIGTERM) // ended already: well
	w.cmd.Wait()                          // it says that a signal ended it
}

func (w *wrapper) restart() { w.stop(); w.start() }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
