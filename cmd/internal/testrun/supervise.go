package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dying is how long what a package started may take to end once the package
// has: signals that were sent are still on their way.
const dying = 3 * time.Second

// supervise runs a test binary: LIMITS BINARY ARGUMENTS. The binary gets a
// TMPDIR of its own. What is left of its processes and files when it has ended
// is told, and removed.
func supervise(ctx context.Context, argv []string) int {
	var limit limits
	for _, l := range strings.Split(argv[0], ",") {
		if err := limit.Set(l); err != nil {
			return complain(err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return complain(err)
	}
	adopt()
	tmp, err := shortDir(os.TempDir())
	if err != nil {
		return complain(err)
	}
	code := supervised(ctx, argv[1:], limit.of(dir), tmp)
	gone := append(orphans(dying), files(tmp)...)
	for _, l := range gone {
		fmt.Println(l)
	}
	if err := os.RemoveAll(tmp); err != nil {
		return complain(err)
	}
	if len(gone) > 0 && code == 0 {
		code = 1
	}
	return code
}

func complain(err error) int {
	fmt.Println("testrun:", err)
	return 1
}

// shortDir makes a directory with the shortest free name, for the paths of
// sockets below it are bounded.
func shortDir(parent string) (string, error) {
	for n := 0; ; n++ {
		dir := filepath.Join(parent, strconv.Itoa(n))
		err := os.Mkdir(dir, 0o700)
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
	}
}

// supervised runs argv and returns its exit status. The test binary itself
// says which tests ran when the limit was reached; one that cannot is killed.
func supervised(ctx context.Context, argv []string, limit time.Duration, tmp string) int {
	ctx, cancel := context.WithTimeout(ctx, limit+30*time.Second)
	defer cancel()
	argv = append(argv, "-test.timeout="+limit.String())
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return complain(err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-quit:
			cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
		case <-ended:
		}
	}()
	err := cmd.Wait()
	close(ended)
	if ctx.Err() != nil {
		fmt.Printf("testrun: killed: not ended 30 s after its limit of %v\n", limit)
		return 1
	}
	if err != nil && cmd.ProcessState.ExitCode() < 0 {
		fmt.Println("testrun:", err) // a signal
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// files are what stands in the directory that a package had for its own.
func files(tmp string) []leaving {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return []leaving{{what: err.Error()}}
	}
	var out []leaving
	for _, e := range entries {
		out = append(out, leaving{what: "file " + e.Name() + " in TMPDIR"})
	}
	return out
}
