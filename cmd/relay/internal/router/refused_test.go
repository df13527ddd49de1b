package router

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"relay-pty/protocol"
)

// writes has bob write by a marker what is refused, and returns what he is told of it.
func (l *log) writes(to, code string) []string {
	l.t.Helper()
	e := Event{Agent: "bob", Timestamp: l.now + 1} // when add puts it there
	e.Message = Message{ID: "cmd-" + strconv.FormatInt(l.now, 10), From: "bob", To: to, Body: "look\nhere"}
	l.add(l.Refuse(e, Refusal(code, "because of %s", code)))
	return l.fires(l.now)
}

// TestARefusalIsTold: an agent hears why its message was not sent, once, by a notice of the router,
// and of no more than a few. Its answers to notices are refused in silence.
func TestARefusalIsTold(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	says := func(to, code string) []string {
		return []string{fmt.Sprintf(`bob: [relay] Your message to %s was not sent (because of %s): "look here"`, to, code)}
	}
	told := 0
	for _, c := range []struct {
		to, code string
		tells    bool
	}{
		{Relay, "bad_field", false},
		{"bop", UnknownAgent, true},
		{"bop", UnknownAgent, false},
		{"bop", RateLimited, true},
		{"carol", UnknownAgent, true},
		{"bob", SelfSend, true},
		{"#x", UnknownAgent, true},
		{"dave", UnknownAgent, false}, // five are the most
	} {
		var want []string
		if c.tells {
			told++
			want = says(c.to, c.code)
		}
		if got := l.writes(c.to, c.code); !slices.Equal(got, want) {
			t.Errorf("to %s, refused as %s: told %q, want %q", c.to, c.code, got, want)
		}
	}
	l.now += 60 * minute
	if got := l.writes("bop", UnknownAgent); !slices.Equal(got, says("bop", UnknownAgent)) {
		t.Errorf("after an hour: %q", got)
	}
	if got := len(l.inbox("bob")); got != told+1 {
		t.Errorf("bob got %d notices, want %d", got, told+1)
	}
}

// TestAnAgentCannotLoopOnRefusals: one that answers whatever it is told with two messages that are
// refused hears of a few refusals, and then nothing.
func TestAnAgentCannotLoopOnRefusals(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	hears := 1
	for n := 0; hears > 0 && n < 100; n++ {
		heard := 0
		for range 2 * hears {
			heard += len(l.writes("name"+strconv.FormatInt(l.now, 10), UnknownAgent))
		}
		hears = heard
	}
	if got := len(l.inbox("bob")); hears != 0 || got != 5 {
		t.Errorf("%d notices, and %d at last; want %d, and none", got, hears, 5)
	}
}

// TestOldRefusalsAreNotTold: those that stand in the log of an older router, which told of none.
func TestOldRefusalsAreNotTold(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.add(Event{Type: TypeRefused, Agent: "bob", Message: Message{ID: "c", From: "bob", To: "bop", Body: "hi"}, Result: Result{Error: Refusal(UnknownAgent, "no")}})
	if got := l.fires(l.now); got != nil || l.Waiting() {
		t.Errorf("told %q, waiting: %v", got, l.Waiting())
	}
}

// TestAnAnswerToARefusalGoesOnInTheChain: what was passed on too often is not begun anew by it.
func TestAnAnswerToARefusalGoesOnInTheChain(t *testing.T) {
	l := newTalk(t, "bob", "ann")
	l.result("bob", l.begin("m", "bob"), protocol.StatusDelivered)
	none := 0
	e := Event{Agent: "bob", Timestamp: l.now + 1, IDs: []string{"m"}, Tools: &none}
	e.Message = Message{ID: "c", From: "bob", To: "bop", Body: "and you?"}
	l.add(l.Refuse(e, Refusal(UnknownAgent, "no")))
	if got := l.fires(l.now); len(got) != 1 {
		t.Fatalf("told %q", got)
	}
	n := l.inbox("bob")[0]
	if m, _ := l.Find(l.write("bob", "ann", 0, n.ID)); m.Chain != "m" || m.Hops != 2 {
		t.Errorf("an answer to %s is of the chain %s, %d hops", n.ID, m.Chain, m.Hops)
	}
}

// TestAMarkerThatIsNoneIsTold to its writer, as a refusal is, and counts as one.
func TestAMarkerThatIsNoneIsTold(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	told := 0
	for n, reason := range []string{"bad target", "bad target", "r1", "r2", "r3", "r4", "r5"} {
		e := Event{Type: protocol.TypeMarkerInvalid, EventID: "bob:e:" + strconv.Itoa(n), Agent: "bob", Timestamp: l.now + 1}
		e.Raw, e.Reason = "->relay:a/b <<<hi", reason
		l.add(l.Invalid(e))
		got := l.fires(l.now)
		told += len(got)
		if want := `bob: [relay] Nothing was sent (bad target): "->relay:a/b <<<hi"`; n == 0 && !slices.Equal(got, []string{want}) {
			t.Errorf("told %q, want %q", got, want)
		}
		if n == 1 && len(got) > 0 {
			t.Errorf("told again: %q", got)
		}
	}
	if told != 5 {
		t.Errorf("told of %d, want %d", told, 5)
	}
}

// TestACopiedMessageIsToldToNobody: a session that was copied under another name says the words of
// the first again, by the same id; only who wrote what is refused so hears of it.
func TestACopiedMessageIsToldToNobody(t *testing.T) {
	for writer, told := range map[string]int{"ann": 0, "bob": 1} {
		l := newLog(t)
		l.up("ann", "bob", "ci")
		l.send(Message{ID: "cmd-row", From: writer, To: "ci", Body: "done"})
		e := Event{Agent: "bob", Timestamp: l.now + 1, Message: Message{ID: "cmd-row", From: "bob", To: "ci", Body: "done!"}}
		_, _, err := l.Admit(e.Message, l.now, func(string) bool { return true })
		refused, ok := err.(*ErrorValue)
		if !ok || refused.Code != string(protocol.DuplicateID) {
			t.Fatalf("the second is refused as %v", err)
		}
		l.add(l.Refuse(e, refused))
		if got := l.fires(l.now); len(got) != told {
			t.Errorf("bob is told %q of what %s wrote", got, writer)
		}
	}
}
