package router

import (
	"testing"

	"relay-pty/protocol"
)

// TestWhyAMessageWaits: whoever asks, by command or by tool, is told the same, of several
// recipients of each that has nothing yet.
func TestWhyAMessageWaits(t *testing.T) {
	paused := new(protocol.WaitsForPaused)
	waits := func(d Delivery) Delivery { d.Status = StatusAccepted; return d }
	for _, c := range []struct {
		to     string
		copies []Delivery
		want   string
	}{
		{"bob", []Delivery{waits(Delivery{To: "bob"})}, "bob does not run"},
		{"bob", []Delivery{waits(Delivery{To: "bob", Running: true})}, "bob takes no more messages at present"},
		{"bob", []Delivery{waits(Delivery{ID: "m-1", To: "bob", Running: true, WaitingFor: paused})}, "bob gets messages of this chain only after relay resume m-1"},
		{"ci", []Delivery{waits(Delivery{To: "ci", Reads: true})}, "relay recv --as ci shows it"},
		{Human, []Delivery{waits(Delivery{To: Human, Reads: true})}, "the human reads it with relay recv"},
		{"bop", []Delivery{waits(Delivery{To: "bop", Awaited: true, Like: []string{"bob"}})}, "nobody knows the name bop yet (did you mean bob?)"},
		{"#dev", []Delivery{waits(Delivery{To: "ann"}), waits(Delivery{To: "bob"}), {To: "eve", Status: "queued"}}, "ann, bob do not run"},
		{
			"#dev", []Delivery{waits(Delivery{To: "ci", Reads: true}), waits(Delivery{To: "bob", Running: true})},
			"ci has not read it yet (relay recv); bob takes no more messages at present",
		},
	} {
		if got := (Standing{To: c.to, Status: StatusAccepted, Copies: c.copies}).WhyNot(); got != c.want {
			t.Errorf("to %s: %q, want %q", c.to, got, c.want)
		}
	}
}
