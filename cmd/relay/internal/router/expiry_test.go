package router

import (
	"errors"
	"slices"
	"testing"

	"relay-pty/protocol"
)

// TestDirectMessagesExpire: what nobody took waits for its agent to run again for a while: from
// when it was sent, or from when the agent ended.
func TestDirectMessagesExpire(t *testing.T) {
	const rule = 5 * minute
	l := newLog(t)
	l.Rules.DirectExpiryMS = rule
	l.up("gone", "runs")
	l.add(Event{Type: TypeJoined, Agent: "gone", Message: Message{To: "#x"}})
	l.send(Message{ID: "early", From: Human, To: "gone", Body: "hi"})
	l.now += minute
	l.add(Event{Type: TypeDown, Agent: "gone"})
	down := l.now
	l.now += minute
	l.send(Message{ID: "direct", From: Human, To: "gone", Body: "hi"})
	sent := l.now
	l.send(Message{ID: "own", From: Human, To: "gone", Body: "hi", TimeoutMS: 60 * minute})
	l.send(Message{ID: "runs", From: Human, To: "runs", Body: "hi"})
	l.send(Message{ID: "read", From: "runs", To: Human, Body: "hi"})
	l.add(Event{Type: TypeMessage, Message: Message{ID: "c", From: Human, To: "#x", Body: "hi"}, Recipients: []string{"gone"}})
	over := func(now int64) (ids []string, next int64) {
		list, next := l.Expiring(now)
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		return ids, next
	}
	if ids, next := over(down + rule - 1); ids != nil || next != down+rule {
		t.Errorf("a moment before: %v, then at %d, want %d", ids, next, down+rule)
	}
	if ids, next := over(down + rule); !slices.Equal(ids, []string{"early"}) || next != sent+rule {
		t.Errorf("got %v, then at %d, want %d", ids, next, sent+rule)
	}
	if ids, _ := over(sent + 59*minute); !slices.Equal(ids, []string{"early", "direct"}) {
		t.Errorf("got %v", ids)
	}
	if ids, next := over(sent + 24*60*minute); !slices.Equal(ids, []string{"early", "direct", "own"}) || next != down+knownFor {
		t.Errorf("a day later: %v, then at %d, want %d", ids, next, down+knownFor)
	}
	l.up("gone")
	if ids, next := over(sent + rule); ids != nil || next == 0 {
		t.Errorf("when it runs: %v", ids)
	}
}

// TestForgotten: who does not run and was not heard of for thirty days is known no longer, and has
// left its channels; who has messages waiting is known.
func TestForgotten(t *testing.T) {
	l := newLog(t)
	l.up("gone", "waits", "runs")
	for _, name := range []string{"gone", "waits", "runs", "ci"} {
		l.add(Event{Type: TypeJoined, Agent: name, Message: Message{To: "#x"}})
	}
	l.send(Message{ID: "m", From: Human, To: "waits", Body: "hi"})
	l.send(Message{ID: "old", From: Human, To: "gone", Body: "hi"})
	l.result("gone", "old", protocol.StatusFailed)
	for _, name := range []string{"gone", "waits"} {
		l.add(Event{Type: TypeDown, Agent: name})
	}
	l.now += knownFor
	for range 2 { // first they have left, then they are forgotten
		due, _ := l.Presence(l.now)
		for _, e := range due {
			l.add(e)
		}
	}
	l.add(Event{Type: protocol.TypeState, Agent: "runs"})
	l.now += minute
	l.add(Event{Type: protocol.TypeState, Agent: "runs"})
	if got := l.Members("#x"); !slices.Equal(got, []string{"runs", "waits"}) {
		t.Errorf("in the channel are %v", got)
	}
	var refused *ErrorValue
	if _, err := l.Redelivery("old", l.now); !errors.As(err, &refused) || refused.Code != UnknownAgent {
		t.Errorf("sent again to one that is forgotten: %v", err)
	}
	if code := l.send(Message{ID: "n", From: Human, To: "gone", Body: "hi"}); code != UnknownAgent {
		t.Errorf("to one that is forgotten: %q", code)
	}
	l.result("waits", "m", protocol.StatusExpired)
	if code := l.send(Message{ID: "o", From: Human, To: "waits", Body: "hi"}); code != "" {
		t.Errorf("to one that was just heard of: %q", code)
	}
}

// TestWhatWaitsForAReaderIsNotLookedAt: messages that neither time nor their chain ends may be very
// many, and cost nothing until they are read.
func TestWhatWaitsForAReaderIsNotLookedAt(t *testing.T) {
	l := newLog(t)
	l.up("bob", "eve")
	for id, m := range map[string]Message{
		"read":  {From: "bob", To: Human},
		"typed": {From: Human, To: "bob"},
		"timed": {From: "bob", To: Human, TimeoutMS: 50},
		"away":  {From: Human, To: "eve"},
	} {
		m.ID, m.Body = id, "hi"
		if code := l.send(m); code != "" {
			t.Fatal(code)
		}
	}
	l.add(Event{Type: TypeDown, Agent: "eve"})
	looked := func() (ids []string) {
		for _, m := range l.fleeting() {
			ids = append(ids, m.ID)
		}
		slices.Sort(ids)
		return ids
	}
	if got, want := looked(), []string{"away", "timed"}; !slices.Equal(got, want) {
		t.Errorf("looked at are %q, want %q", got, want)
	}
	l.result(Human, "timed", protocol.StatusDelivered)
	l.free(l.messages["timed"]) // its chain goes on
	l.up("eve")
	if got := looked(); len(got) > 0 {
		t.Errorf("looked at are %q, want none", got)
	}
}
