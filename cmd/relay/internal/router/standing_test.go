package router

import (
	"reflect"
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
		is := Standing{Delivery: c.copies[0]}
		if Group(c.to) {
			is = Standing{Delivery: Delivery{To: c.to, Status: StatusAccepted}, Recipients: c.copies}
		}
		if got := is.WhyNot(); got != c.want {
			t.Errorf("to %s: %q, want %q", c.to, got, c.want)
		}
	}
}

// TestEachCopyTellsAll: of a message to several, each copy says what one to its recipient alone
// does, also with which words the recipient's API refused the turn.
func TestEachCopyTellsAll(t *testing.T) {
	l := newLog(t)
	l.up("bob", "eve")
	for _, name := range []string{"bob", "eve"} {
		l.add(Event{Type: TypeJoined, Agent: name, Message: Message{To: "#dev"}})
	}
	l.add(Event{Type: TypeMessage, Message: Message{ID: "m", From: "ci", To: "#dev", Body: "hi"}, Recipients: []string{"bob", "eve"}})
	l.result("eve", "m:eve", protocol.StatusDelivered)
	e := Event{Type: protocol.TypeTurnEnd, Agent: "eve", IDs: []string{"m:eve"}, Message: Message{Body: "come back at 7"}}
	e.Outcome, e.Reason = protocol.OutcomeRefused, protocol.ReasonLimit
	l.add(e)
	m, _ := l.Find("m")
	got := l.Standing(&m, func(name string) bool { return name == "bob" })
	if got.Status != StatusAccepted || !got.Running || got.Reads || got.Abandoned || len(got.Recipients) != 2 {
		t.Fatalf("as a whole: %+v", got)
	}
	if want := "the API of eve refused its turn (limit): come back at 7"; got.Ended() != want {
		t.Errorf("eve's: %q, want %q", got.Ended(), want)
	}
	alone, _ := l.Find("m:eve")
	if one := l.Standing(&alone, func(string) bool { return false }); !reflect.DeepEqual(one.Delivery, got.Recipients[1]) {
		t.Errorf("eve's alone: %+v, and among others %+v", one.Delivery, got.Recipients[1])
	}
}
