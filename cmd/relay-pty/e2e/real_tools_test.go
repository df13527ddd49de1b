package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/inject/sight"
	"relay-pty/pty/screen"
)

// TestProveMessagesWaitForAgentsThatStartTheirTools: an agent whose MCP server takes its time may
// put aside what is submitted, and take all of it as one turn later; what it puts aside is not
// delivered. Codex takes nothing before, and Qwen Code does not wait for it.
func TestProveMessagesWaitForAgentsThatStartTheirTools(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		if a.Tools == nil {
			t.Fatalf("package rig of %s has no Tools, so it cannot be given an MCP server", a.Profile)
		}
		answer := filepath.Join(scratch(t), "answer")
		must(t, syscall.Mkfifo(answer, 0o600))
		r := begin(t, a, []agentrig.Change{a.Tools("cat", answer)})
		r.inject("m1", "hello")
		server := opened(t, answer)
		ids := []string{"m1"}
		early, evidence := r.outcome("m1", 8*time.Second), []string{"turn", "submitted"}
		switch {
		case early != "" && r.look.Queued != nil:
			r.turn("m1", "hello") // it does not wait for the server, which has not answered yet
		case r.look.Queued != nil: // it holds prompts back
			must(t, r.WaitScreen(patience(t), func(s *screen.Screen) bool { return sight.Look(r.look, s).Queued }))
			evidence = evidence[:1]
		}
		if r.waitingFor("m1") != "turn" {
			r.inject("m2", "there")
			r.outcome("m2", 3*time.Second)
			ids = append(ids, "m2")
		}
		must(t, server.Close()) // the server ends without an answer
		first := r.turn("m1", "hello")
		r.delivers("m1", evidence...)
		first = r.ended(first.N)
		if len(ids) > 1 {
			if second := r.turn("m2", "there"); second.At.Before(first.Ended) {
				t.Error("the message was typed into a turn")
			}
			r.delivers("m2", "submitted", "turn")
		}
		r.once(ids)
		shown(t, a.Name()+", its MCP server takes its time: each message is a turn of its own, once and whole", "%d of %d", len(ids), len(ids))
	})
}

// opened waits until an agent has started the MCP server that reads from the FIFO at path.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	began := make(chan *os.File, 1)
	go func() {
		f, _ := os.OpenFile(path, os.O_WRONLY, 0)
		began <- f
	}()
	select {
	case f := <-began:
		return f
	case <-patience(t).Done():
		t.Fatal("the agent did not start its MCP server")
		return nil
	}
}
