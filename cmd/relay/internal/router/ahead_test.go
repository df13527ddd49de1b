package router

import (
	"slices"
	"testing"

	"relay-pty/protocol"
)

// TestANameThatIsYetToCome: a message with a time waits for a name that nobody knows, which that
// makes no better known: others are refused as before, and with the message the name is forgotten.
func TestANameThatIsYetToCome(t *testing.T) {
	const rule = 5 * minute
	l := newLog(t)
	l.Rules.DirectExpiryMS = rule
	l.up("ann")
	for name, m := range map[string]Message{
		"nobody said so":     {ID: "m", TimeoutMS: 1000},
		"no name":            {ID: "m", To: "a/b", Ahead: true, TimeoutMS: 1000},
		"on another machine": {ID: "m", To: "new@far", Ahead: true, TimeoutMS: 1000},
	} {
		want := UnknownAgent
		if m.To == "a/b" {
			want = string(protocol.BadField)
		}
		if m.From, m.Body = Human, "hi"; m.To == "" {
			m.To = "new"
		}
		if got := l.send(m); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, m := range []Message{
		{ID: "timed", From: Human, To: "new", Body: "hi", Ahead: true, TimeoutMS: 3 * minute},
		{ID: "asked", From: Human, To: "new", Body: "hi", Ahead: true, ReplyBy: l.now + 1000},
		{ID: "timed", From: Human, To: "new", Body: "hi", Ahead: true, TimeoutMS: 3 * minute}, // once more
	} {
		if got := l.send(m); got != "" {
			t.Errorf("%s: got %q", m.ID, got)
		}
	}
	if !l.Awaited("new") || !l.Waiting() || l.Count(func(string) bool { return false }).Waiting[WaitsForAgent] != 2 {
		t.Errorf("awaited %v, waiting %v", l.Awaited("new"), l.Waiting())
	}
	if got := l.send(Message{ID: "typo", From: Human, To: "new", Body: "hi"}); got != UnknownAgent {
		t.Errorf("one without a time: %q", got)
	}
	if e := l.Unknown("newt"); len(e.Candidates) > 0 {
		t.Errorf("a name that nobody has is offered: %v", e.Candidates)
	}
	over, _ := l.Expiring(l.now + rule)
	if len(over) != 2 {
		t.Fatalf("after %d: %v", rule, over)
	}
	for _, m := range over {
		l.add(m.Outcome(Result{Status: protocol.StatusExpired}))
	}
	if !l.Awaited("new") || l.send(Message{ID: "again", From: Human, To: "new", Body: "hi"}) != UnknownAgent {
		t.Error("what expired made the name known")
	}
	if _, err := l.Redelivery("timed", l.now); err == nil {
		t.Error("it is sent again to nobody")
	}
	l.up("bob")
	if l.Has("new") {
		t.Error("nothing waits for the name, and it is kept")
	}
}

// TestAnAwaitedNameComes: with its first run, its first message, or as a reader.
func TestAnAwaitedNameComes(t *testing.T) {
	for name, comes := range map[string]func(l *log){
		"it runs":     func(l *log) { l.up("new") },
		"it sends":    func(l *log) { l.send(Message{ID: "own", From: "new", To: Human, Body: "hi"}) },
		"it joins":    func(l *log) { l.add(Event{Type: TypeJoined, Agent: "new", Message: Message{To: "#x"}}) },
		"it has read": func(l *log) { l.result("new", "m", protocol.StatusDelivered) },
		"its wrapper tells": func(l *log) {
			l.add(Event{Type: protocol.TypeState, Agent: "new", Origin: &Origin{Epoch: "e", Seq: 1}})
		},
	} {
		l := newLog(t)
		l.send(Message{ID: "m", From: Human, To: "new", Body: "hi", Ahead: true, TimeoutMS: 1000})
		comes(l)
		l.add(Event{Type: TypeUp, Agent: "other"})
		if l.Awaited("new") || !l.Has("new") || l.send(Message{ID: "next", From: Human, To: "new", Body: "hi"}) != "" {
			t.Errorf("%s: nobody knows it", name)
		}
		if waits := slices.ContainsFunc(l.inbox("new"), func(m Known) bool { return m.ID == "m" }); waits != (name != "it has read") {
			t.Errorf("%s: its message waits: %v", name, waits)
		}
	}
}

// TestNoWayAround: who may not write to agents may not write to those that are yet to come.
func TestNoWayAround(t *testing.T) {
	l := newLog(t)
	l.Rules.NoDirect = true
	l.up("ann")
	m := Message{ID: "m", From: "ann", To: "new", Body: "hi", Ahead: true, TimeoutMS: 1000}
	if got := l.send(m); got != string(protocol.NotAuthorized) {
		t.Errorf("got %q", got)
	}
	if m.From = Human; l.send(m) != "" {
		t.Error("the human may not either")
	}
}
