package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/relay/internal/api"
)

// TestAgentsThatRunComeFirst: among those that are gone nobody would find them.
func TestAgentsThatRunComeFirst(t *testing.T) {
	list := make([]api.Agent, 4)
	list[0].Name, list[1].Name, list[2].Name, list[3].Name = "alice", "bob", "carol", "dave"
	list[1].Running, list[3].Running = true, true
	var out bytes.Buffer
	if err := showAgents(streams{out: &out}, list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		names = append(names, strings.Fields(line)[0])
	}
	if want := []string{"NAME", "bob", "dave", "alice", "carol"}; !slices.Equal(names, want) {
		t.Errorf("shown are %v, want %v", names, want)
	}
}
