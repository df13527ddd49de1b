package main

import (
	"bytes"
	"errors"
	"testing"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestWaitsAreTold: whoever is about to wait hears of what may take long.
func TestWaitsAreTold(t *testing.T) {
	draft, turn := "draft", "turn"
	for _, c := range []struct {
		m    router.Delivery
		json bool
		want string
	}{
		{router.Delivery{ID: "m", To: "bob", Status: "accepted"}, false, "relay: m: bob does not run; the message waits\n"},
		{router.Delivery{ID: "m", To: "ci", Status: "accepted", Reads: true}, false, "relay: m: relay recv --as ci shows it; the message waits\n"},
		{router.Delivery{ID: "m", To: "bob", Status: "queued", WaitingFor: &draft}, false, "relay: m: the message waits for: draft\n"},
		{router.Delivery{ID: "m", To: "bob", Status: "queued", WaitingFor: &turn}, false, ""},
		{router.Delivery{ID: "m", To: "bob", Status: "queued"}, false, ""},
		{router.Delivery{ID: "m", To: "bob", Status: "injecting"}, false, ""},
		{router.Delivery{ID: "m", To: "bob", Status: "accepted"}, true, ""},
	} {
		var errs bytes.Buffer
		f := sending{json: c.json}
		f.sayWaits(streams{err: &errs}, message(c.m))
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
		f.sayMode(streams{err: &errs}, api.Message{Standing: message(router.Delivery{ID: "m"}).Standing, From: "alice", Mode: c.mode})
		if got := errs.String(); got != c.want {
			t.Errorf("urgent %v, goes as %s: %q, want %q", c.urgent, c.mode, got, c.want)
		}
	}
}

// TestWaitTellsHowTheTurnEnded: a wait for an answer is over when the turn has ended without one,
// with status 1 and one line. An answer counts more, and whoever waits for less hears nothing.
func TestWaitTellsHowTheTurnEnded(t *testing.T) {
	limit := &router.ErrorValue{Code: protocol.ReasonLimit, Message: "You've hit your limit\n\x1b[2Jresets 7pm"}
	silent := router.Delivery{Outcome: protocol.OutcomeSilent}
	answer := []router.Reply{{From: "bob", Body: "yes"}}
	for _, c := range []struct {
		m     router.Standing
		until string
		code  int
		want  string
	}{
		{router.Standing{Delivery: silent}, router.Replied, exitFailed, "relay: m: bob ended its turn without a word\n"},
		{router.Standing{Delivery: router.Delivery{Outcome: protocol.OutcomeInterrupted}}, router.Replied, exitFailed, "relay: m: bob was interrupted in its turn\n"},
		{
			router.Standing{Delivery: router.Delivery{Outcome: protocol.OutcomeRefused, Refusal: limit}}, router.Replied, exitFailed,
			"relay: m: the API of bob refused its turn (limit): You've hit your limit [2Jresets 7pm\n",
		},
		{
			router.Standing{Recipients: []router.Delivery{{To: "eve", Outcome: protocol.OutcomeRefused, Refusal: limit}}}, router.Replied, exitFailed,
			"relay: m: the API of eve refused its turn (limit): You've hit your limit [2Jresets 7pm\n",
		},
		{
			router.Standing{Recipients: []router.Delivery{{To: "eve", Outcome: protocol.OutcomeRefused}}}, router.Replied, exitFailed,
			"relay: m: the API of eve refused its turn\n",
		},
		{router.Standing{Delivery: silent, Replies: answer}, router.Replied, 0, ""},
		{router.Standing{Delivery: silent}, router.Delivered, 0, ""},
	} {
		c.m.ID, c.m.To, c.m.Status = "m", "bob", protocol.StatusDelivered
		if !c.m.Reached(c.until) {
			t.Errorf("%+v: the wait goes on", c.m)
		}
		var errs bytes.Buffer
		f := sending{until: c.until}
		err := f.verdict(streams{err: &errs}, api.Message{Standing: c.m}, true)
		code := 0
		if status := exit(0); errors.As(err, &status) {
			code = int(status)
		}
		if got := errs.String(); got != c.want || code != c.code {
			t.Errorf("%+v: %q and %d, want %q and %d", c.m, got, code, c.want, c.code)
		}
	}
}
