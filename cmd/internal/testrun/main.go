// Command testrun runs go test through gotestsum and does what gotestsum cannot do.
//
//	testrun STEP 'PACKAGE...' [FLAGS OF go test]
//
// The end of a red log has a line for each test that failed or hung, with the first lines of its
// output. A test that failed only because a wait ran out runs once more, alone. With
// RELAY_E2E=require a skipped test fails. RELAY_TEST_JSON=DIR keeps the events in DIR/STEP.json.
// Each package runs under a supervisor: this program, as go test's -exec. A package fails when the
// package leaves a process, or a file in the TMPDIR of its own.
//
// Every wait of a test has a deadline, and its failure says "not within" and what did not come. No
// test runs again after lost, doubled, mixed or torn messages, a panic or a race. Tests assert what
// noise cannot move: counts, hashes, order, states, allocations, coarse bounds of memory.
// `make prove` asserts times, rates and wake-ups, with nothing beside them.
package main

import (
	"cmp"
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

const gotestsum = "gotest.tools/gotestsum@v1.13.0"

// dying is how long processes may take to end after the program that started them.
const dying = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	err := start(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Println("testrun:", err)
		os.Exit(1)
	}
}

// start gives the process a TMPDIR of its own, with a short name: the paths of sockets are bounded.
func start(ctx context.Context, args []string) (err error) {
	if len(args) < 2 {
		return errors.New("usage: testrun STEP 'PACKAGE...' [FLAGS OF go test]")
	}
	var tmp string
	for n := 0; tmp == "" || errors.Is(err, os.ErrExist); n++ {
		tmp = filepath.Join(os.TempDir(), strconv.Itoa(n))
		err = os.Mkdir(tmp, 0o700)
	}
	if err := errors.Join(err, os.Setenv("TMPDIR", tmp), adopt()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if args[0] == "supervise" {
		return supervise(ctx, args[1:], tmp)
	}
	defer orphans() // after a signal, go test and the tests are left
	return run(ctx, filepath.Join(cmp.Or(os.Getenv("RELAY_TEST_JSON"), tmp), args[0]), args[1], args[2:])
}

// supervise runs a test binary, and fails when the binary fails or leaves a process or a file.
func supervise(ctx context.Context, argv []string, tmp string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The race detector would end each package, and each program of a test's, a second later.
	cmd.Env = append(os.Environ(), strings.TrimSpace("GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // prints all goroutines
	cmd.WaitDelay = dying
	err := cmd.Run()
	for _, process := range orphans() {
		err = errors.Join(err, errors.New(leftBehind+process))
	}
	files, derr := os.ReadDir(tmp)
	for _, f := range files {
		err = errors.Join(err, errors.New(leftBehind+f.Name()+" in TMPDIR"))
	}
	return errors.Join(err, derr)
}

// run runs the tests, runs some again, and reports; name begins the names of the files of events.
func run(ctx context.Context, name, packages string, flags []string) error {
	// go run passes on neither signals nor exit statuses. So go run only prints the program's path.
	find := exec.CommandContext(ctx, "go", "run", "-exec=echo", gotestsum)
	find.Stderr = os.Stderr
	path, err := find.Output()
	self, serr := os.Executable()
	if err := errors.Join(err, serr); err != nil {
		return fmt.Errorf("find %s: %w", gotestsum, err)
	}
	tool := func(args ...string) error {
		cmd := exec.CommandContext(ctx, strings.TrimSpace(string(path)), args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		return cmd.Run()
	}
	test := func(name string, args ...string) error {
		all := []string{"--format-icons=text", "--format-hide-empty-pkg", "--hide-summary=skipped", "--jsonfile=" + name + ".json", "--"}
		return tool(append(append(append(all, "-count=1", "-vet=off", "-exec="+self+" supervise"), flags...), args...)...)
	}
	failure := test(name, strings.Fields(packages)...)
	r, err := read(name + ".json")
	if err != nil {
		return err
	}
	if exit, ok := errors.AsType[*exec.ExitError](failure); ok && exit.ExitCode() == 1 { // of go test
		for _, t := range r.late() {
			top, _, _ := strings.Cut(t.name, "/")
			fmt.Println("\nagain, alone:", t.pkg, top)
			if test(name+"-"+top, "-run=^"+top+"$", t.pkg) == nil {
				t.state, failure = "flaky", nil
			}
		}
	}
	fmt.Println("\nslowest:")
	if err := tool("tool", "slowest", "--num=10", "--jsonfile="+name+".json"); err != nil {
		fmt.Println(err) // after a signal
	}
	return r.report(failure)
}
