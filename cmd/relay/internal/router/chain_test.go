package router

import (
	"fmt"
	"strconv"
	"testing"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/protocol"
)

// talk is a chain between agents, as a router would have it: each is given a message, writes the
// next one, and its turn ends.
type talk struct {
	*log
	n int
}

func newTalk(t *testing.T, names ...string) *talk {
	l := &talk{log: newLog(t)}
	l.Rules.PairMost = 100_000
	l.up(names...)
	return l
}

// write sends what a turn wrote that was given messages. tools: how many it has used; -1: no log
// tells.
func (l *talk) write(from, to string, tools int, ids ...string) (id string) {
	l.t.Helper()
	l.n++
	id = "c" + strconv.Itoa(l.n)
	e := Event{Type: TypeMessage, IDs: ids, Origin: &Origin{Epoch: "e", Seq: int64(l.n)}}
	if tools >= 0 {
		e.Tools = &tools
	}
	m, _, err := l.Admit(Message{ID: id, From: from, To: to, Body: "thank you", Source: "log"}, l.now, func(string) bool { return true })
	if err != nil {
		l.t.Fatal(err)
	}
	e.Message = l.Link(m, e)
	l.add(e)
	return id
}

// ends ends a turn; tools: -1: no log tells, so nobody does.
func (l *talk) ends(who string, tools int, ids ...string) {
	if tools >= 0 {
		l.add(Event{Type: protocol.TypeTurnEnd, Agent: who, IDs: ids, Tools: &tools})
	}
}

// overrun is what the router does then; it returns the number of notices.
func (l *talk) overrun() (n int) {
	for _, e := range l.Overrun() {
		l.add(e)
		n++
	}
	return n
}

// pass has a message go round between names, each turn with as many tools as tools says, until it
// waits or was passed on so often. It returns how often, the last message, and the notices.
func (l *talk) pass(id string, names []string, most int, tools func(hop int) int) (hops int, last string, notices int) {
	l.t.Helper()
	for hops = 0; hops < most; hops++ {
		m, _ := l.Find(id)
		if m.Held != 0 {
			return hops - 1, id, notices
		}
		l.result(m.To, id, protocol.StatusDelivered)
		next := ""
		for i, name := range names {
			if name == m.To {
				next = names[(i+1)%len(names)]
			}
		}
		used := tools(hops)
		was := id
		id = l.write(m.To, next, min(used, 0), was)
		l.ends(m.To, used, was)
		notices += l.overrun()
	}
	return hops, id, notices
}

func only(tools int) func(int) int { return func(int) int { return tools } }

// begin is a message of the human's that begins a chain.
func (l *talk) begin(id, to string) string {
	l.t.Helper()
	if code := l.send(Message{ID: id, From: Human, To: to, Body: "begin"}); code != "" {
		l.t.Fatal(code)
	}
	return id
}

// TestPolitenessLoops: agents that thank each other, without saying what they answer, are paused,
// with one notice, and go on as far again when somebody lets them.
func TestPolitenessLoops(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		tools int
		hops  int
	}{
		"two":                 {[]string{"a", "b"}, 0, 8},
		"three in a ring":     {[]string{"a", "b", "c"}, 0, 8},
		"two without a log":   {[]string{"a", "b"}, -1, 20},
		"three without a log": {[]string{"a", "b", "c"}, -1, 20},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTalk(t, c.names...)
			hops, last, notices := l.pass(l.begin("m", "a"), c.names, 50, only(c.tools))
			if hops != c.hops || notices != 1 {
				t.Fatalf("paused after %d hops with %d notices, want %d and 1", hops, notices, c.hops)
			}
			m, _ := l.Find(last)
			if m.Chain != "m" || m.Held != chain.Paused || l.WaitsFor(&m, true) != protocol.WaitsForPaused {
				t.Errorf("%s of the chain %s is held %d and waits for %q", last, m.Chain, m.Held, l.WaitsFor(&m, true))
			}
			if l.overrun() != 0 {
				t.Error("it is told again")
			}
			l.add(Event{Type: TypeChainResumed, Message: Message{ID: "m"}})
			hops, last, notices = l.pass(last, c.names, 50, only(c.tools))
			if hops != c.hops || notices != 1 {
				t.Errorf("resumed, it is paused after %d hops with %d notices, want %d and 1", hops, notices, c.hops)
			}
			l.begin("n", "b")
			if m, _ := l.Find("n"); m.Held != 0 || m.Chain != "n" {
				t.Errorf("what the human begins is of the chain %s, held %d", m.Chain, m.Held)
			}
			if hops, _, _ := l.pass("n", c.names, 5, only(c.tools)); hops != 5 {
				t.Errorf("what the human began is paused after %d hops", hops)
			}
			if m, _ := l.Find(last); m.Held != chain.Paused {
				t.Error("the chain that was paused goes on by itself")
			}
		})
	}
}

// TestWorkIsNotPaused: a turn that works sets the count back, also where it has written before; a
// message that waits for the turn to be judged goes on then.
func TestWorkIsNotPaused(t *testing.T) {
	for _, every := range []int{1, 3, 8 + 1} {
		l := newTalk(t, "a", "b")
		tools := func(hop int) int {
			if hop%every == every-1 {
				return 2
			}
			return 0
		}
		if hops, _, notices := l.pass(l.begin("m", "a"), []string{"a", "b"}, 200, tools); hops != 200 || notices != 0 {
			t.Errorf("work in each %d. turn: paused after %d hops with %d notices", every, hops, notices)
		}
	}
	l := newTalk(t, "a", "b")
	if hops, _, _ := l.pass(l.begin("m", "a"), []string{"a", "b"}, 200, func(hop int) int {
		if hop == 9 {
			return 1
		}
		return 0
	}); hops != 8 {
		t.Errorf("work that comes too late: %d hops", hops)
	}
}

// TestATurnIsJudgedWhenItEnds: until then the message that it wrote waits, and nobody is told.
func TestATurnIsJudgedWhenItEnds(t *testing.T) {
	for _, tools := range []int{0, 1} {
		l := newTalk(t, "a", "b")
		hops, last, _ := l.pass(l.begin("m", "a"), []string{"a", "b"}, 8, only(0))
		l.result("a", last, protocol.StatusDelivered)
		id := l.write("a", "b", 0, last)
		if m, _ := l.Find(id); hops != 8 || m.Held != chain.Yet || l.overrun() != 0 {
			t.Fatalf("after %d hops %s is held %d", hops, id, m.Held)
		}
		e := Event{Type: protocol.TypeTurnEnd, Agent: "a", IDs: []string{last}, Tools: &tools}
		l.add(e)
		frees := fmt.Sprint(l.Freed())
		want := map[int]string{0: "[] 2 1", 1: "[b] 0 0"}[tools]
		notices := l.overrun()
		if m, _ := l.Find(id); fmt.Sprint(frees, " ", int(m.Held), " ", notices) != want {
			t.Errorf("%d tools: %s goes on, held %d, %d notices; want %s", tools, frees, m.Held, notices, want)
		}
	}
}

// TestLongChain: after very many messages a chain is paused, whatever its turns do.
func TestLongChain(t *testing.T) {
	l := newTalk(t, "a", "b")
	l.Rules.Chains.Count = 30
	hops, last, notices := l.pass(l.begin("m", "a"), []string{"a", "b"}, 100, only(1))
	if hops != 30 || notices != 1 {
		t.Errorf("paused after %d messages with %d notices", hops, notices)
	}
	l.add(Event{Type: TypeChainResumed, Message: Message{ID: "m"}})
	if hops, _, notices := l.pass(last, []string{"a", "b"}, 100, only(1)); hops != 30 || notices != 1 {
		t.Errorf("resumed, it is paused after %d messages with %d notices", hops, notices)
	}
}

// TestChainOfACall: a message that an agent sends without a marker is of the chain of the turn that
// it is in; between turns it begins one.
func TestChainOfACall(t *testing.T) {
	l := newTalk(t, "a", "b")
	l.begin("m", "a")
	l.result("a", "m", protocol.StatusDelivered)
	l.send(Message{ID: "in", From: "a", To: "b", Body: "hi"})
	l.ends("a", 0, "m")
	l.send(Message{ID: "after", From: "a", To: "b", Body: "hi"})
	l.send(Message{ID: "script", From: "ci", To: "b", Body: "hi", ReplyTo: "in"})
	for id, want := range map[string]string{"in": "m", "after": "after", "script": "script"} {
		if m, _ := l.Find(id); m.Chain != want {
			t.Errorf("%s is of the chain %s, want %s", id, m.Chain, want)
		}
	}
}

// held is why a message waits for its chain.
func (l *talk) held(id string) chain.Held {
	m, _ := l.Find(id)
	return m.Held
}

// TestAnAnswerAfterWorkBeginsARow: what is written about a message whose turn has worked is no hop
// of that row, also where a later turn writes it.
func TestAnAnswerAfterWorkBeginsARow(t *testing.T) {
	for tools, want := range map[int]int{0: 9, 1: 0} {
		l := newTalk(t, "a", "b")
		_, last, _ := l.pass(l.begin("m", "a"), []string{"a", "b"}, 8, only(0))
		l.result("a", last, protocol.StatusDelivered)
		l.ends("a", tools, last)
		l.send(Message{ID: "answer", From: "a", To: "b", Body: "done", ReplyTo: last})
		if m, _ := l.Find("answer"); m.Chain != "m" || m.Hops != want {
			t.Errorf("%d tools: the answer is of the chain %s, %d hops, want %d", tools, m.Chain, m.Hops, want)
		}
	}
}

// TestAChainWhoseBeginningIsForgotten is counted, paused and resumed all the same.
func TestAChainWhoseBeginningIsForgotten(t *testing.T) {
	l := newTalk(t, "a", "b")
	_, last, _ := l.pass(l.begin("m", "a"), []string{"a", "b"}, 4, only(0))
	delete(l.messages, "m")
	hops, end, notices := l.pass(last, []string{"a", "b"}, 50, only(0))
	if hops != 4 || notices != 1 || l.held(end) != chain.Paused {
		t.Fatalf("paused after 4 and %d hops, held %d, with %d notices", hops, l.held(end), notices)
	}
	first, open, err := l.Chain(end, "")
	must(t, err)
	e, news, err := l.Steers(first, true)
	must(t, err)
	l.add(e)
	if !news || fmt.Sprint(open) != fmt.Sprint([]string{end}) || l.held(end) != 0 {
		t.Errorf("resumed by %s, %v of it: held %d", first.ID, open, l.held(end))
	}
}

// TestWhatIsUnderWayAtAResume goes as far again, too.
func TestWhatIsUnderWayAtAResume(t *testing.T) {
	l := newTalk(t, "a", "b", "c")
	_, last, _ := l.pass(l.begin("m", "a"), []string{"a", "b"}, 8, only(0))
	l.result("a", last, protocol.StatusDelivered)
	l.write("a", "c", 0, last)
	l.ends("a", 0, last)
	if l.overrun() != 1 {
		t.Fatal("it is not paused")
	}
	l.add(Event{Type: TypeChainResumed, Message: Message{ID: "m"}})
	if m, _ := l.Find(l.write("a", "b", 0, last)); m.Held != 0 || m.Hops != 1 {
		t.Errorf("what was given before and written after is held %d, %d hops", m.Held, m.Hops)
	}
}

// TestNobodyUsesUpTheChainOfOthers: an agent that quotes a message of others, or has been given
// none of the chain, begins one of its own.
func TestNobodyUsesUpTheChainOfOthers(t *testing.T) {
	l := newTalk(t, "a", "b", "evil")
	l.Rules.Chains.Count = 5
	l.result("a", l.begin("m", "a"), protocol.StatusDelivered)
	for range 10 {
		id := l.write("evil", "b", 0, "m")
		l.send(Message{ID: id + "x", From: "evil", To: "b", Body: "hi", ReplyTo: "m"})
		for _, id := range []string{id, id + "x"} {
			if m, _ := l.Find(id); m.Chain != id {
				t.Fatalf("%s is of the chain %s", id, m.Chain)
			}
		}
	}
	if first, _ := l.Find("m"); first.Course.Count != 0 || l.overrun() != 0 {
		t.Errorf("the chain has %d messages", first.Course.Count)
	}
	for who, may := range map[string]bool{"": true, "a": true, "b": false, "evil": false} {
		if _, _, err := l.Chain("m", who); (err == nil) != may {
			t.Errorf("%q may steer the chain: %v", who, err)
		}
	}
	l.write("a", "b", 0, "m")
	if _, _, err := l.Chain("m", "b"); err != nil {
		t.Errorf("who got a message of it may not steer it: %v", err)
	}
}

// TestAChainThatIsEnded: what is under way is to be cancelled, and so is what comes; what goes to
// the human does, and nobody resumes it.
func TestAChainThatIsEnded(t *testing.T) {
	l := newTalk(t, "a", "b")
	l.result("a", l.begin("m", "a"), protocol.StatusDelivered)
	one, report := l.write("a", "b", 0, "m"), l.write("a", Human, 0, "m")
	first, open, err := l.Chain(one, "")
	must(t, err)
	e, news, _ := l.Steers(first, false)
	l.add(e)
	if first.ID != "m" || !news || fmt.Sprint(open) != "["+one+"]" {
		t.Errorf("the chain of %s ends, with %v", first.ID, open)
	}
	late := l.write("a", "b", 0, "m")
	l.overrun()
	for id, want := range map[string]string{one: protocol.StatusCancelled, late: protocol.StatusCancelled, report: StatusAccepted} {
		if m, _ := l.Find(id); m.Status != want {
			t.Errorf("%s is %s, want %s", id, m.Status, want)
		}
	}
	first, _, _ = l.Chain("m", "")
	if _, news, err := l.Steers(first, true); news || err == nil {
		t.Errorf("it is resumed: %v, %v", news, err)
	}
	if _, news, err := l.Steers(first, false); news || err != nil {
		t.Errorf("it is ended again: %v, %v", news, err)
	}
	if _, _, err := l.Chain("nothing", ""); err == nil {
		t.Error("a message that nobody knows has a chain")
	}
}

// TestAChainOfSeveral: in a channel where all answer each message, the row is as long as between
// two, and one notice tells.
func TestAChainOfSeveral(t *testing.T) {
	l := newTalk(t, "a", "b", "c")
	for _, who := range []string{"a", "b", "c"} {
		e, _, err := l.Membership(who, "#x", true)
		must(t, err)
		l.add(e)
	}
	l.add(Event{Type: TypeMessage, Message: Message{ID: "m", From: Human, To: "#x", Place: chain.Place{Chain: "m"}}, Recipients: []string{"a", "b", "c"}})
	turns, notices := 0, 0
	for ; notices == 0 && turns < 20; turns++ {
		for _, who := range []string{"a", "b", "c"} {
			var given []string
			for _, m := range l.inbox(who) {
				if m.Held == 0 {
					given = append(given, m.ID)
					l.result(who, m.ID, protocol.StatusDelivered)
				}
			}
			if len(given) == 0 {
				continue
			}
			none := 0
			l.n++
			m := Message{ID: fmt.Sprint("c", l.n), From: who, To: "#x", Body: "thanks"}
			list, err := l.FanOut(m, l.now, func(string) bool { return true })
			must(t, err)
			e := Event{Type: TypeMessage, IDs: given, Tools: &none, Recipients: list}
			e.Message = l.Link(m, e)
			l.add(e)
			l.ends(who, 0, given...)
			notices += l.overrun()
		}
	}
	if notices != 1 || l.n > 9*3 {
		t.Errorf("after %d turns of each and %d messages there are %d notices", turns, l.n, notices)
	}
	for _, who := range []string{"a", "b", "c"} {
		for _, m := range l.inbox(who) {
			if m.Held != chain.Paused {
				t.Errorf("%s is held %d", m.ID, m.Held)
			}
		}
	}
}

// TestAReminderBeginsAChain: the clock began what comes of it.
func TestAReminderBeginsAChain(t *testing.T) {
	l := newTalk(t, "a", "b")
	e, _, err := l.Remind(Message{ID: "r", To: "a", Body: "look"}, 1, l.now)
	must(t, err)
	l.add(e)
	due, _ := l.Due(l.now+10, func(string) bool { return false })
	l.add(Event{Type: TypeMessage, Message: due[0]})
	if m, _ := l.Find(l.write("a", "b", 0, "r")); m.Chain != "r" || m.Hops != 1 {
		t.Errorf("what it leads to is of the chain %s, %d hops", m.Chain, m.Hops)
	}
}

// TestALogIsKnownByItsProof: an agent whose log shows what it was given is no blind one, before the
// end of its first turn is told, too.
func TestALogIsKnownByItsProof(t *testing.T) {
	for evidence, blind := range map[string]bool{protocol.EvidenceTurn: false, protocol.EvidenceEcho: true} {
		l := newTalk(t, "a", "b")
		e := Event{Type: protocol.TypeInjectResult, Agent: "a", Message: Message{ID: l.begin("m", "a")}}
		e.Status, e.Evidence = protocol.StatusDelivered, evidence
		l.add(e)
		l.send(Message{ID: "call", From: "a", To: "b", Body: "hi"})
		if m, _ := l.Find("call"); m.Blind != blind || m.Chain != "m" {
			t.Errorf("%s: blind %v, of the chain %s", evidence, m.Blind, m.Chain)
		}
	}
}
