package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/api"
)

// TestAges: no age is negative, or as old as the clock.
func TestAges(t *testing.T) {
	for at, want := range map[int64]string{
		0:                            "-",
		time.Now().UnixMilli():       "0s ago",
		time.Now().UnixMilli() + 1e9: "0s ago",
		time.Now().Add(-3 * time.Hour).UnixMilli():     "3h ago",
		time.Now().Add(-3e6 * time.Second).UnixMilli(): "34d ago",
	} {
		if got := ago(at); got != want {
			t.Errorf("%d: %q, want %q", at, got, want)
		}
	}
}

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
