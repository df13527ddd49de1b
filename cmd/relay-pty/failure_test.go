package main

import (
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/term"
)

// TestAgentThatBecomesAShellGetsNothing wraps a program that is replaced by a shell.
func TestAgentThatBecomesAShellGetsNothing(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"sh", "-c", "cat; exec bash --norc"}})
	w.inject("m1", "hello")
	w.delivers("m1", "echo")
	must(t, w.Type("\x04"))
	must(t, w.WaitText(patience(t, 20*time.Second), "bash-"))
	w.inject("m2", "touch canary")
	w.waitsFor("m2", "ready")
	w.held("m2", "ready", time.Second)
}
