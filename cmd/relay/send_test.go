package main

import (
	"bytes"
	"testing"

	"relay-pty/cmd/relay/internal/api"
)

// TestWaitsAreTold: whoever is about to wait hears of what may take long.
func TestWaitsAreTold(t *testing.T) {
	draft, turn := "draft", "turn"
	for _, c := range []struct {
		m    api.Message
		json bool
		want string
	}{
		{api.Message{ID: "m", To: "bob", Status: "accepted"}, false, "relay: m: bob does not run; the message waits\n"},
		{api.Message{ID: "m", To: "ci", Status: "accepted", Reads: true}, false, "relay: m: relay recv --as ci shows it; the message waits\n"},
		{api.Message{ID: "m", To: "bob", Status: "queued", WaitingFor: &draft}, false, "relay: m: the message waits for: draft\n"},
		{api.Message{ID: "m", To: "bob", Status: "queued", WaitingFor: &turn}, false, ""},
		{api.Message{ID: "m", To: "bob", Status: "queued"}, false, ""},
		{api.Message{ID: "m", To: "bob", Status: "injecting"}, false, ""},
		{api.Message{ID: "m", To: "bob", Status: "accepted"}, true, ""},
	} {
		var errs bytes.Buffer
		f := sending{json: c.json}
		f.sayWaits(streams{err: &errs}, c.m)
		if got := errs.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}

// TestModesAreTold to those alone who asked for more than they may have.
func TestModesAreTold(t *testing.T) {
	const told = "relay: m: alice may not interrupt (the setting allow_urgent), so it goes as important\n"
	for _, c := range []struct {
		urgent     bool
		mode, want string
	}{
		{true, "important", told},
		{true, "urgent", ""},
		{false, "important", ""},
	} {
		var errs bytes.Buffer
		f := sending{urgent: c.urgent}
		f.sayMode(streams{err: &errs}, api.Message{ID: "m", From: "alice", Mode: c.mode})
		if got := errs.String(); got != c.want {
			t.Errorf("urgent %v, goes as %s: %q, want %q", c.urgent, c.mode, got, c.want)
		}
	}
}
