package main

import (
	"testing"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestEventsSayWhatIsWaitedFor: a message that waits no longer says so.
func TestEventsSayWhatIsWaitedFor(t *testing.T) {
	for waitingFor, want := range map[string]string{
		protocol.WaitsForDraft: "m-1 waits for draft  (bob)",
		"":                     "m-1 waits no more  (bob)",
	} {
		got := describe(router.Event{
			Type: protocol.TypeWaiting, Agent: "bob",
			Message: router.Message{ID: "m-1"}, Result: router.Result{WaitingFor: waitingFor},
		})
		if got != want {
			t.Errorf("waiting for %q is told as %q, want %q", waitingFor, got, want)
		}
	}
}
