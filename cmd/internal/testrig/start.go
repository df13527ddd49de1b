package testrig

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// KnownStart gives the children of this process the system's own actions for all signals that
// a job runner may have had ignored. A test's main calls it before anything is started.
//
// A process that nohup or a shell's background began ignores SIGHUP or SIGINT, and so would all
// its children: a POSIX shell cannot even trap a signal that was ignored when the shell began.
// A Go program takes over every other ignored signal by itself. A signal that has a handler
// goes back to the system's own action in a new program; here the handler does nothing, so this
// process goes on ignoring the signal. Signals that were not ignored are left alone: Ctrl-C
// still ends go test.
func KnownStart() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads
		}
	}
}

// Within is a context for one test that ends after d, which only a failure may reach. Its cause
// is "not within" and d; every wait of Term, Client and FakeAgent tells what was awaited, and
// that cause.
func Within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("not within %v", d))
	t.Cleanup(cancel)
	return ctx
}
