package router

import (
	"fmt"
	"testing"

	"relay-pty/protocol"
)

// TestShortIDs: a message with a longer id is read by one of its own, which no other has, and found
// by both; so is what is sent of it to several, again, or about it.
func TestShortIDs(t *testing.T) {
	l := newLog(t)
	l.up("ann", "bob")
	n := 0
	newID := func() string { n++; return fmt.Sprint("m-", n/2) } // each comes twice
	send := func(m Message, to ...string) Known {
		t.Helper()
		m.Body = "hi"
		m, known, err := l.Admit(m, l.now, func(string) bool { return true })
		if known != nil || err != nil {
			t.Fatalf("%s: known %v, %v", m.ID, known, err)
		}
		e := Event{Type: TypeMessage, Message: m, Recipients: to}
		l.Shorten(&e, newID)
		l.add(e)
		got, _ := l.Find(m.ID)
		return got
	}
	reads := func(id, shown string) {
		t.Helper()
		m, ok := l.Find(id)
		by, _ := l.Find(shown)
		if !ok || m.ShownID() != shown || by.ID != m.ID {
			t.Errorf("%s is read as %q, want %s, which finds %q", id, m.ShownID(), shown, by.ID)
		}
	}
	send(Message{ID: "m-7wzk03fa", From: Human, To: "bob"})
	reads("m-7wzk03fa", "m-7wzk03fa")
	send(Message{ID: "m-0", From: Human, To: "bob"})
	send(Message{ID: "a-long-one-by-somebody", From: Human, To: "bob", NotifyOnDelivery: true})
	reads("a-long-one-by-somebody", "m-1")
	send(Message{ID: "another-long-one", From: Human, To: "bob"})
	reads("another-long-one", "m-2")

	l.result("bob", "a-long-one-by-somebody", protocol.StatusDelivered)
	reads("a-long-one-by-somebody:delivered", "m-1:delivered")
	if m, _ := l.Find("m-1:delivered"); m.Body != "[relay] Message m-1 delivered to bob." {
		t.Errorf("the notice says %q", m.Body)
	}
	send(Message{ID: "long-one-to-several", From: Human, To: "#x"}, "ann", "bob")
	reads("long-one-to-several", "m-3")
	reads("long-one-to-several:ann", "m-3:ann")
	l.result("bob", "another-long-one", protocol.StatusFailed)
	again, err := l.Redelivery("m-2", l.now)
	if err != nil || again.ID != "another-long-one:r1" || again.ShownID() != "m-2:r1" {
		t.Errorf("again: %+v, %v", again, err)
	}

	if answer := send(Message{ID: "yes", From: "bob", To: Human, ReplyTo: "m-1"}); answer.ReplyTo != "a-long-one-by-somebody" {
		t.Errorf("the answer is to %q", answer.ReplyTo)
	}
	if code := l.send(Message{ID: "m-1", From: Human, To: "bob", Body: "hi"}); code != string(protocol.DuplicateID) {
		t.Errorf("with a short id as its own: %q", code)
	}
	if got, _ := l.Find("m-3"); got.ID != "long-one-to-several" {
		t.Errorf("got %q", got.ID)
	}
}

// TestFreshIDs are looked for many at once, and none is given that somebody has taken since.
func TestFreshIDs(t *testing.T) {
	kept := &cupboard{rows: []Row{{ID: "m-3"}, {ID: "long", ShortID: "m-4"}}}
	s, err := Resume(kept)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	newID := func() string { n++; return fmt.Sprint("m-", n) }
	if id := s.Fresh(newID); id != "m-1" || n != freshMost {
		t.Errorf("the first is %s, looked for with %d others, want m-1 and %d", id, n, freshMost)
	}
	for _, m := range []Message{{ID: "m-2", From: "ci", To: Human}, {ID: "own", ShortID: "m-5", From: "ci", To: Human}} {
		s.Apply(Event{Type: TypeMessage, Seq: s.Last + 1, Message: m})
	}
	if id := s.Fresh(newID); id != "m-6" {
		t.Errorf("the next is %s, want m-6: the others are taken", id)
	}
}
