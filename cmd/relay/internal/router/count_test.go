package router

import (
	"cmp"
	"testing"

	"relay-pty/protocol"
)

// TestWhatWaitsForADraft goes on to, while an important message passes it.
func TestWhatWaitsForADraft(t *testing.T) {
	s := NewState()
	seq := int64(0)
	apply := func(e Event) {
		seq++
		e.Seq, e.Timestamp = seq, 1e12+seq
		s.Apply(e)
	}
	result := func(id, status, waits string) {
		e := Event{Type: protocol.TypeInjectResult, Agent: "bob", Message: Message{ID: id}}
		e.Status, e.WaitingFor = status, waits
		apply(e)
	}
	waits := func(want string) {
		t.Helper()
		c := s.Count(func(string) bool { return true })
		if c.Waiting[want] != 1 {
			t.Errorf("the first message waits for %v, want %s", c.Waiting, want)
		}
		m, _ := s.Find("m1")
		if m.Status == protocol.StatusQueued && cmp.Or(s.WaitsFor(&m, true), WaitsForNone) != want {
			t.Errorf("it is told as %q, want %s", s.WaitsFor(&m, true), want)
		}
	}
	apply(Event{Type: TypeUp, Agent: "bob"})
	for _, id := range []string{"m1", "m2"} {
		apply(Event{Type: TypeMessage, Message: Message{ID: id, From: "ci", To: "bob", Body: "hi"}})
	}
	result("m1", protocol.StatusQueued, protocol.WaitsForDraft)
	waits(protocol.WaitsForDraft)
	apply(Event{Type: protocol.TypeWaiting, Agent: "bob", Message: Message{ID: "m1"}, Result: Result{WaitingFor: protocol.WaitsForDialog}})
	waits(protocol.WaitsForDialog)
	if m, _ := s.Find("m1"); s.WaitsFor(&m, false) != "" {
		t.Error("its wrapper is gone, and it waits for the dialog")
	}
	apply(Event{Type: protocol.TypeWaiting, Agent: "bob", Message: Message{ID: "m1"}, Result: Result{WaitingFor: protocol.WaitsForDraft}})
	waits(protocol.WaitsForDraft)
	result("m2", protocol.StatusInjecting, "")
	waits(protocol.WaitsForDraft)
	result("m2", protocol.StatusDelivered, "")
	waits(protocol.WaitsForDraft)
	apply(Event{Type: protocol.TypeWaiting, Agent: "bob", Message: Message{ID: "m1"}})
	waits(WaitsForNone)
	result("m1", protocol.StatusInjecting, "")
	waits(WaitsForNone)
}

// TestPausedMessagesAreCountedAsTheyAreTold, whether or not the agent runs.
func TestPausedMessagesAreCountedAsTheyAreTold(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.add(Event{Type: TypePaused, Agent: "bob"})
	l.send(Message{ID: "m", From: "ci", To: "bob", Body: "hi"})
	for _, runs := range []bool{true, false} {
		m, _ := l.Find("m")
		c := l.Count(func(string) bool { return runs })
		if told := l.WaitsFor(&m, runs); told != protocol.WaitsForPaused || c.Waiting[told] != 1 {
			t.Errorf("runs: %v: told as %q, and counted as %v", runs, told, c.Waiting)
		}
	}
}
