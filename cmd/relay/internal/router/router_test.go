package router

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relay-pty/protocol"
)

// inbox is copies of the messages to a name that have not ended.
func (s *State) inbox(name string) (list []Known) {
	for m := range s.Inbox(name) {
		list = append(list, m.Copy())
	}
	return list
}

// log applies events as a router would have written them.
type log struct {
	*State
	t   *testing.T
	now int64
}

func newLog(t *testing.T) *log { return &log{NewState(), t, 1_000_000} }

func (l *log) add(e Event) {
	l.now++
	e.Seq, e.Timestamp = l.Last+1, l.now
	l.Apply(e)
}

// send admits a message and returns the code of its refusal.
func (l *log) send(m Message) string {
	m, known, err := l.Admit(m, l.now, func(string) bool { return false })
	var refused *ErrorValue
	if errors.As(err, &refused) {
		return refused.Code
	}
	if known == nil {
		l.add(Event{Type: TypeMessage, Message: l.Link(m, Event{})})
	}
	return ""
}

func (l *log) up(names ...string) {
	for _, name := range names {
		l.add(Event{Type: TypeUp, Agent: name})
	}
}

func (l *log) result(agent, id, status string) {
	l.add(Event{Type: protocol.TypeInjectResult, Agent: agent, Message: Message{ID: id}, Result: Result{Status: status}})
}

func (l *log) status(id string) string {
	l.t.Helper()
	m, ok := l.Find(id)
	if !ok {
		l.t.Fatalf("no message %s", id)
	}
	return m.Status
}

// TestWhoeverWroteByItselfInThisRunSpeaks: what it wrote by markers, what was sent again for it,
// and what it wrote in a run before do not count.
func TestWhoeverWroteByItselfInThisRunSpeaks(t *testing.T) {
	l := newLog(t)
	up := func() {
		e := Event{Type: TypeUp, Agent: "bob"}
		e.StartedAt = l.now + 1
		l.add(e)
	}
	writes := func(id string, change func(*Event)) {
		e := Event{Type: TypeMessage, Message: Message{ID: id, From: "bob", To: Human, Body: "x"}}
		change(&e)
		l.add(e)
	}
	for _, step := range []struct {
		name string
		does func()
		want bool
	}{
		{"it runs", up, false},
		{"a marker", func() { writes("m-1", func(e *Event) { e.Agent, e.Origin = "bob", &Origin{"e", 1} }) }, false},
		{"sent again", func() { writes("m-1:r1", func(e *Event) { e.Redelivers = "m-1" }) }, false},
		{"by itself", func() { writes("m-2", func(*Event) {}) }, true},
		{"a new run", up, false},
	} {
		if step.does(); l.Speaks("bob") != step.want {
			t.Errorf("%s: speaks %v, want %v", step.name, !step.want, step.want)
		}
	}
	if l.Speaks("nobody") {
		t.Error("nobody speaks")
	}
}

func TestAdmit(t *testing.T) {
	for name, c := range map[string]struct {
		m    Message
		want string
	}{
		"a message":                  {Message{ID: "m", From: "human", To: "bob", Body: "hi"}, ""},
		"one to the human":           {Message{ID: "m", From: "bob", To: "human", Body: "hi"}, ""},
		"the longest body":           {Message{ID: "m", From: "human", To: "bob", Body: strings.Repeat("x", protocol.MaxBody)}, ""},
		"a body that is too long":    {Message{ID: "m", From: "human", To: "bob", Body: strings.Repeat("x", protocol.MaxBody+1)}, "message_too_large"},
		"no body":                    {Message{ID: "m", From: "human", To: "bob"}, "bad_field"},
		"a body that nobody sees":    {Message{ID: "m", From: "human", To: "bob", Body: "\u200b\ufeff\x00"}, "bad_field"},
		"a body that is no text":     {Message{ID: "m", From: "human", To: "bob", Body: "\xff"}, "bad_field"},
		"a bad id":                   {Message{ID: "m m", From: "human", To: "bob", Body: "hi"}, "bad_field"},
		"a bad sender":               {Message{ID: "m", From: "any", To: "bob", Body: "hi"}, "bad_field"},
		"a bad recipient":            {Message{ID: "m", From: "human", To: "b/b", Body: "hi"}, "bad_field"},
		"a reserved recipient":       {Message{ID: "m", From: "human", To: "self", Body: "hi"}, "bad_field"},
		"a bad mode":                 {Message{ID: "m", From: "human", To: "bob", Body: "hi", Mode: "now"}, "bad_field"},
		"a bad thread":               {Message{ID: "m", From: "human", To: "bob", Body: "hi", Thread: "a b"}, "bad_field"},
		"a negative time":            {Message{ID: "m", From: "human", To: "bob", Body: "hi", TimeoutMS: -1}, "bad_field"},
		"one to oneself":             {Message{ID: "m", From: "bob", To: "bob", Body: "hi"}, "self_send"},
		"an agent that nobody knows": {Message{ID: "m", From: "human", To: "carol", Body: "hi"}, "unknown_agent"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.up("bob")
			if got := l.send(c.m); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestAScriptCanBeAnswered: whoever has sent something is known. What waits for a script keeps no
// router running.
func TestAScriptCanBeAnswered(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	answer := Message{ID: "a", From: "bob", To: "ci", Body: "yes", ReplyTo: "m"}
	if code := l.send(answer); code != UnknownAgent {
		t.Errorf("before it sent anything: got %q", code)
	}
	if code := l.send(Message{ID: "m", From: "ci", To: "bob", Body: "done?"}); code != "" {
		t.Fatal(code)
	}
	l.result("bob", "m", "delivered")
	if code := l.send(answer); code != "" || l.status("m") != StatusReplied {
		t.Errorf("got %q, and what was asked is %s", code, l.status("m"))
	}
	if len(l.inbox("ci")) != 1 || l.Waiting() {
		t.Errorf("the inbox holds %v, waiting: %v", l.inbox("ci"), l.Waiting())
	}
}

// TestAQuestionPassedOn is not answered by that: whoever asked waits on, until it is answered to
// them.
func TestAQuestionPassedOn(t *testing.T) {
	l := newLog(t)
	l.up("lead", "bob", "eve")
	l.add(Event{Type: TypeJoined, Agent: "lead", Message: Message{To: "#team"}})
	for i, m := range []Message{
		{ID: "q", From: "lead", To: "bob", Body: "how many?"},
		{ID: "on", From: "bob", To: "eve", Body: "how many?", ReplyTo: "q"},
		{ID: "two", From: "eve", To: "bob", Body: "two", ReplyTo: "on"},
		{ID: "aside", From: "bob", To: Human, Body: "I asked eve", ReplyTo: "q"},
		{ID: "answer", From: "bob", To: "lead", Body: "two", ReplyTo: "q"},
	} {
		if code := l.send(m); code != "" {
			t.Fatal(m.ID, code)
		}
		l.result(m.To, m.ID, protocol.StatusDelivered)
		if q, _ := l.Find("q"); (len(q.Replies) > 0) != (m.ID == "answer") || (q.Status == StatusReplied) != (m.ID == "answer") {
			t.Errorf("after message %d, %s, it is %s with the answers %q", i, m.ID, q.Status, q.Replies)
		}
	}
	if on, _ := l.Find("on"); on.Chain != "q" || !slices.Equal(on.Replies, []string{"two"}) {
		t.Errorf("what was passed on is of the chain %s and has the answers %q", on.Chain, on.Replies)
	}
	l.send(Message{ID: "q2", From: "lead", To: "bob", Body: "how many?"})
	l.add(Event{Type: TypeMessage, Message: Message{ID: "all", From: "bob", To: "#team", Body: "two", ReplyTo: "q2"}, Recipients: []string{"lead", "eve"}})
	if q, _ := l.Find("q2"); len(q.Replies) != 1 {
		t.Errorf("an answer to all of whom one asked is none: %q", q.Replies)
	}
}

func TestNearNames(t *testing.T) {
	l := newLog(t)
	l.up("alice", "bob", "reviewer", "reviewer-2")
	for name, want := range map[string][]string{
		"bop": {"bob"}, "bbo": {"bob"}, "Bob": {"bob"}, "alcie": {"alice"}, "review": {"reviewer", "reviewer-2"}, "zzz": nil,
	} {
		_, _, err := l.Admit(Message{ID: "m", From: "human", To: name, Body: "hi"}, 0, func(string) bool { return false })
		var refused *ErrorValue
		if !errors.As(err, &refused) || !slices.Equal(refused.Candidates, want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestTheSameIDTwice(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	m := Message{ID: "m", From: "human", To: "bob", Body: "hi"}
	if code := l.send(m); code != "" {
		t.Fatal(code)
	}
	last := l.Last
	if code := l.send(m); code != "" || l.Last != last {
		t.Errorf("sent again: %q, and %d new events", code, l.Last-last)
	}
	m.Body = "ho"
	if code := l.send(m); code != "duplicate_id" {
		t.Errorf("another one: got %q", code)
	}
}

func TestGuards(t *testing.T) {
	l := newLog(t)
	l.up("a", "b")
	code, passed := "", 0
	for i := 0; code == ""; i++ {
		if code = l.send(Message{ID: "n" + strconv.Itoa(i), From: "human", To: "a", Body: "ok"}); code == "" {
			passed++
		}
	}
	if code != RateLimited || passed != pairMost {
		t.Errorf("a pair: %q after %d messages, want %q after %d", code, passed, RateLimited, pairMost)
	}
	l.Rules.PairMost = pairMost + 1
	if code := l.send(Message{ID: "one-more", From: "human", To: "a", Body: "ok"}); code != "" {
		t.Errorf("%s below a higher limit", code)
	}
	if code := l.send(Message{ID: "two-more", From: "human", To: "a", Body: "ok"}); code != RateLimited {
		t.Errorf("%q at a higher limit", code)
	}
	if l.now += minute; l.send(Message{ID: "later", From: "human", To: "a", Body: "ok"}) != "" {
		t.Error("a minute later it is refused still")
	}
}

// TestLife is what a message's status becomes.
func TestLife(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string // statuses told by the wrapper; "reply": the recipient answers
		want  string
		waits bool // it is in the inbox still
	}{
		"sent":                       {nil, "accepted", true},
		"queued":                     {[]string{"queued"}, "queued", true},
		"delivered":                  {[]string{"queued", "injecting", "delivered"}, "delivered", false},
		"answered":                   {[]string{"queued", "injecting", "delivered", "reply"}, "replied", false},
		"answered before it is said": {[]string{"injecting", "reply"}, "replied", false},
		"and said then":              {[]string{"injecting", "reply", "delivered"}, "replied", false},
		"answered while it waits":    {[]string{"queued", "reply"}, "queued", true},
		"and delivered then":         {[]string{"queued", "reply", "injecting", "delivered"}, "replied", false},
		"an answer ends doubt":       {[]string{"injecting", "unknown", "reply"}, "replied", false},
		"failed stays failed":        {[]string{"injecting", "failed", "delivered"}, "failed", false},
		"expired":                    {[]string{"queued", "expired"}, "expired", false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.up("bob")
			l.send(Message{ID: "m", From: "human", To: "bob", Body: "hi"})
			for i, step := range c.steps {
				if step == "reply" {
					l.send(Message{ID: "r" + strconv.Itoa(i), From: "bob", To: "human", Body: "yes", ReplyTo: "m"})
				} else {
					l.result("bob", "m", step)
				}
			}
			if got := l.status("m"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := len(l.inbox("bob")) > 0; got != c.waits {
				t.Errorf("it is in the inbox: %v, want %v", got, c.waits)
			}
			if got, want := l.Waiting(), c.want == StatusAccepted; got != want { // a wrapper's queue needs no router
				t.Errorf("it keeps a router: %v, want %v", got, want)
			}
		})
	}
}

func TestOnlyTheRecipientAnswersAndTells(t *testing.T) {
	l := newLog(t)
	l.up("bob", "carol")
	l.send(Message{ID: "m", From: "human", To: "bob", Body: "hi"})
	l.result("carol", "m", "delivered")
	l.send(Message{ID: "r", From: "carol", To: "human", Body: "yes", ReplyTo: "m"})
	if m, _ := l.Find("m"); m.Status != StatusAccepted || len(m.Replies) != 0 {
		t.Errorf("got %+v", m)
	}
}

// TestWithoutAWrapper: what is sent to the human waits until it is read or answered, and what comes
// after the time in which the sender waits for it is called late.
func TestWithoutAWrapper(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.send(Message{ID: "read", From: "bob", To: "human", Body: "one"})
	l.send(Message{ID: "asked", From: "bob", To: "human", Body: "two?", ReplyBy: l.now + 100})
	if len(l.inbox(Human)) != 2 || l.Waiting() {
		t.Errorf("the inbox holds %v, waiting: %v", l.inbox(Human), l.Waiting())
	}
	l.result(Human, "read", protocol.StatusDelivered)
	answer := Message{ID: "a", From: "human", To: "bob", Body: "yes", ReplyTo: "asked"}
	if e := l.Late(answer, l.now); e != nil {
		t.Errorf("in time: %v", e)
	}
	if e := l.Late(answer, l.now+1000); e == nil || e.Code != AlreadyClosed {
		t.Errorf("too late: %v", e)
	}
	if e := l.Late(Message{ID: "b", From: "carol", To: "bob", Body: "yes", ReplyTo: "asked"}, l.now+1000); e != nil {
		t.Errorf("of somebody else: %v", e)
	}
	l.send(answer)
	if l.status("read") != protocol.StatusDelivered || l.status("asked") != StatusReplied || len(l.inbox(Human)) != 0 {
		t.Errorf("read: %s, asked: %s, and the inbox holds %v", l.status("read"), l.status("asked"), l.inbox(Human))
	}
	if e := l.Late(Message{ID: "b", From: "human", To: "bob", Body: "yes!", ReplyTo: "asked"}, l.now+1000); e != nil {
		t.Errorf("a second answer: %v", e)
	}
	if asked, _ := l.Find("asked"); !slices.Equal(asked.Events, []int64{3, 5}) {
		t.Errorf("its events are %v", asked.Events)
	}
}

func TestExpiring(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.send(Message{ID: "never", From: "human", To: "bob", Body: "hi"})
	l.send(Message{ID: "soon", From: "human", To: "bob", Body: "hi", TimeoutMS: 10})
	l.send(Message{ID: "late", From: "human", To: "bob", Body: "hi", TimeoutMS: 1000})
	l.send(Message{ID: "taken", From: "human", To: "bob", Body: "hi", TimeoutMS: 10})
	l.result("bob", "taken", "queued")
	late, _ := l.Find("late")
	over, next := l.Expiring(l.now + 20)
	if len(over) != 1 || over[0].ID != "soon" || next != late.Accepted+1000 {
		t.Errorf("got %v and %d", over, next)
	}
}

// TestWhatIsNew: an event of a wrapper is new once in its epoch, and another epoch begins anew.
func TestWhatIsNew(t *testing.T) {
	l := newLog(t)
	told := func(epoch string, seq int64) bool {
		o := Origin{epoch, seq}
		isNew := l.New("bob", o)
		if isNew {
			l.add(Event{Type: protocol.TypeState, Agent: "bob", Origin: &o})
		}
		return isNew
	}
	got := []bool{told("a", 1), told("a", 3), told("a", 3), told("a", 2), told("b", 1), told("b", 1)}
	if want := []bool{true, true, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestTheLogIsTheState: a state is the same when its events were written and read in between.
func TestTheLogIsTheState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c.d"})
		id := rapid.SampledFrom([]string{"m1", "m2", "m3", "m4"})
		first, second := NewState(), NewState()
		for i := range rapid.IntRange(1, 40).Draw(r, "events") {
			e := Event{Seq: int64(i + 1), Timestamp: int64(i * 1000), Agent: name.Draw(r, "agent")}
			switch rapid.IntRange(0, 3).Draw(r, "type") {
			case 0:
				e.Type, e.Profile, e.PID = TypeUp, "generic", i
			case 1:
				e.Type = TypeDown
			case 2:
				e.Agent = ""
				e.Type, e.Message = TypeMessage, Message{ID: "m" + strconv.Itoa(i), From: name.Draw(r, "from"), To: name.Draw(r, "to"), Body: "x", ReplyTo: id.Draw(r, "reply to")}
			case 3:
				e.Type, e.ID, e.Origin = protocol.TypeInjectResult, id.Draw(r, "id"), &Origin{"e", int64(i)}
				e.Result = Result{Status: rapid.SampledFrom([]string{"queued", "injecting", "delivered", "unknown"}).Draw(r, "status")}
			}
			first.Apply(e)
			line, err := json.Marshal(e)
			if err != nil {
				r.Fatal(err)
			}
			var read Event
			if err := json.Unmarshal(line, &read); err != nil {
				r.Fatal(err)
			}
			second.Apply(read)
		}
		if !reflect.DeepEqual(first, second) {
			r.Errorf("got %+v\nwant %+v", second, first)
		}
		for _, m := range first.messages {
			if inbox := slices.Contains(first.inboxes[m.To], m); inbox == Ended(m.Status) {
				r.Errorf("%s is %s, and in its inbox: %v", m.ID, m.Status, inbox)
			}
		}
	})
}

func TestLastWordsOfATurn(t *testing.T) {
	l := newLog(t)
	l.up("bob", "eve")
	l.send(Message{ID: "m1", From: Human, To: "bob", Body: "how many?"})
	l.send(Message{ID: "m2", From: Human, To: "eve", Body: "how many?"})
	end := func(agent, words string, ids ...string) {
		l.add(Event{Type: protocol.TypeTurnEnd, Agent: agent, IDs: ids, Message: Message{Body: words}})
	}
	end("eve", "Not mine.", "m1", "m3")
	end("bob", "Two.", "m1")
	end("bob", "Three.", "m1")
	for id, want := range map[string]string{"m1": "Two.", "m2": ""} {
		if m, _ := l.Find(id); m.Words != want {
			t.Errorf("%s was answered with %q, want %q", id, m.Words, want)
		}
	}
	if m, _ := l.Find("m1"); len(m.Events) != 3 || len(m.Replies) != 0 {
		t.Errorf("m1 has the events %v and the replies %v", m.Events, m.Replies)
	}
}

// TestOutcomes: how the turn ended that took a message is known where that was without an answer,
// whatever came first; an answer of any kind, and a turn that goes on with it, count more.
func TestOutcomes(t *testing.T) {
	end := func(outcome string, more func(*Event)) func(*log) {
		e := Event{Type: protocol.TypeTurnEnd, Agent: "bob", IDs: []string{"m1"}, Message: Message{Body: "said"}}
		e.Outcome = outcome
		if more != nil {
			more(&e)
		}
		return func(l *log) { l.add(e) }
	}
	delivered := func(l *log) { l.result("bob", "m1", protocol.StatusDelivered) }
	answer := func(l *log) { l.send(Message{ID: "m2", From: "bob", To: "ci", Body: "yes", ReplyTo: "m1"}) }
	refused := end(protocol.OutcomeRefused, func(e *Event) { e.Reason, e.RetryAt = protocol.ReasonLimit, 7 })
	goesOn := func(e *Event) { e.Background = true }
	silent, interrupted := end(protocol.OutcomeSilent, nil), end(protocol.OutcomeInterrupted, nil)
	answered := end(protocol.OutcomeAnswered, nil)
	for name, c := range map[string]struct {
		events         []func(*log)
		outcome, words string
	}{
		"answered":                        {[]func(*log){delivered, answered}, "", "said"},
		"by a wrapper that says nothing":  {[]func(*log){delivered, end("", nil)}, "", "said"},
		"silent":                          {[]func(*log){delivered, silent}, protocol.OutcomeSilent, ""},
		"interrupted":                     {[]func(*log){delivered, interrupted}, protocol.OutcomeInterrupted, ""},
		"refused":                         {[]func(*log){delivered, refused}, protocol.OutcomeRefused, ""},
		"before it was told as delivered": {[]func(*log){refused, delivered}, protocol.OutcomeRefused, ""},
		"and then answered":               {[]func(*log){delivered, interrupted, answered}, "", "said"},
		"and then by a message":           {[]func(*log){delivered, refused, answer}, "", ""},
		"a message, and then refused":     {[]func(*log){delivered, answer, refused}, "", ""},
		"answered, and then silent":       {[]func(*log){delivered, answered, silent}, "", "said"},
		"work goes on":                    {[]func(*log){delivered, end(protocol.OutcomeAnswered, goesOn)}, "", ""},
		"work went on, and was told":      {[]func(*log){delivered, end(protocol.OutcomeSilent, goesOn), answered}, "", "said"},
	} {
		l := newLog(t)
		l.up("bob")
		l.send(Message{ID: "hello", From: "ci", To: Human, Body: "hi"})
		l.send(Message{ID: "m1", From: "ci", To: "bob", Body: "hi"})
		for _, e := range c.events {
			e(l)
		}
		m, _ := l.Find("m1")
		if m.Result.Outcome != c.outcome || m.Words != c.words {
			t.Errorf("%s: %q and the words %q, want %q and %q", name, m.Result.Outcome, m.Words, c.outcome, c.words)
		}
		why := m.Refusal != nil && m.Refusal.Code == protocol.ReasonLimit && m.Refusal.Message == "said" && m.RetryAt == 7
		if why != (c.outcome == protocol.OutcomeRefused) {
			t.Errorf("%s: refused for %v until %d", name, m.Refusal, m.RetryAt)
		}
	}
}

// TestAbandoned: a wait for an answer is over when the run that was given the message has ended,
// and nothing more that was said in it can come.
func TestAbandoned(t *testing.T) {
	started := func(l *log) { l.add(Event{Type: TypeUp, Agent: "bob", Condition: Condition{StartedAt: l.now + 1}}) }
	says := func(l *log, at int64) {
		l.add(Event{Type: protocol.TypeState, Agent: "bob", Origin: &Origin{"e", l.Last}, Timestamp: at})
		l.agents["bob"].Heard = at
	}
	down := func(l *log) { l.add(Event{Type: TypeDown, Agent: "bob"}) }
	delivered := func(l *log) { l.result("bob", "m1", protocol.StatusDelivered) }
	for name, c := range map[string]struct {
		events []func(*log)
		want   bool
	}{
		"its agent runs":                     {[]func(*log){delivered}, false},
		"its agent ended":                    {[]func(*log){delivered, down}, true},
		"nobody knows, and its agent ended":  {[]func(*log){func(l *log) { l.result("bob", "m1", protocol.StatusUnknown) }, down}, true},
		"it waits, and its agent ended":      {[]func(*log){down}, false},
		"it failed, and its agent ended":     {[]func(*log){func(l *log) { l.result("bob", "m1", protocol.StatusFailed) }, down}, false},
		"another run, of which nothing came": {[]func(*log){delivered, started}, false},
		"another run, and old words of its":  {[]func(*log){delivered, started, func(l *log) { says(l, l.now-1) }}, false},
		"another run, and its first words":   {[]func(*log){delivered, started, func(l *log) { says(l, l.now) }}, true},
		"delivered in the other run":         {[]func(*log){started, func(l *log) { says(l, l.now) }, delivered}, false},
		"answered, and its agent ended":      {[]func(*log){delivered, func(l *log) { l.send(Message{ID: "m2", From: "bob", To: "ci", Body: "yes", ReplyTo: "m1"}) }, down}, false},
		"answered in words, and it has ended": {[]func(*log){delivered, func(l *log) {
			l.add(Event{Type: protocol.TypeTurnEnd, Agent: "bob", IDs: []string{"m1"}, Message: Message{Body: "Yes."}})
		}, down}, false},
	} {
		l := newLog(t)
		l.up("bob")
		l.send(Message{ID: "hello", From: "ci", To: Human, Body: "hi"})
		l.send(Message{ID: "m1", From: "ci", To: "bob", Body: "hi"})
		for _, e := range c.events {
			e(l)
		}
		if got := l.Abandoned(l.messages["m1"]); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestNamesWithAHost(t *testing.T) {
	l := newLog(t)
	l.Rules.Host = "Mars"
	l.up("bob")
	for i, c := range []struct{ from, to, code string }{
		{"ci", "bob@mars", ""}, {"ci@mars", "bob", ""}, {"ci", "human@mars", ""}, {"bob@mars", "bob", SelfSend},
		{"ci", "bob@venus", UnknownAgent}, {"ci", "eve@mars", UnknownAgent}, {"ci", "@mars", string(protocol.BadField)}, {"ci", "bob@", UnknownAgent},
	} {
		if code := l.send(Message{ID: "m" + strconv.Itoa(i), From: c.from, To: c.to, Body: "hello"}); code != c.code {
			t.Errorf("from %s to %s: refused with %q, want %q", c.from, c.to, code, c.code)
		}
	}
	if got := len(l.inbox("bob")); got != 2 {
		t.Errorf("bob got %d messages, want 2", got)
	}
	_, _, err := l.Admit(Message{ID: "m", From: "ci", To: "bob@venus", Body: "hello"}, l.now, func(string) bool { return false })
	var refused *ErrorValue
	if !errors.As(err, &refused) || !slices.Equal(refused.Candidates, []string{"bob"}) {
		t.Errorf("got %v, want bob as a candidate", err)
	}
}

func TestRules(t *testing.T) {
	l := newLog(t)
	l.Rules = Rules{DefaultTimeoutMS: 1000, NoDirect: true, Urgent: []string{"ci"}}
	l.up("bob", "eve")
	for _, c := range []struct {
		m       Message
		code    string
		mode    string
		timeout int64
	}{
		{Message{ID: "m1", From: "bob", To: "eve", Source: "log"}, string(protocol.NotAuthorized), "", 0},
		{Message{ID: "m2", From: "bob", To: Human, Source: "log"}, "", protocol.ModeSequential, 1000},
		{Message{ID: "m2", From: "bob", To: Human, Source: "log"}, "", protocol.ModeSequential, 1000},
		{Message{ID: "m3", From: Human, To: "bob"}, "", protocol.ModeSequential, 0},
		{Message{ID: "m4", From: Human, To: "bob", Mode: protocol.ModeUrgent, TimeoutMS: 5}, "", protocol.ModeImportant, 5},
		{Message{ID: "m4", From: Human, To: "bob", Mode: protocol.ModeUrgent, TimeoutMS: 5}, "", protocol.ModeImportant, 5},
		{Message{ID: "m5", From: "ci", To: "bob", Mode: protocol.ModeUrgent}, "", protocol.ModeUrgent, 0},
	} {
		c.m.Body = "hello"
		if code := l.send(c.m); code != c.code {
			t.Errorf("%s: refused with %q, want %q", c.m.ID, code, c.code)
		}
		if m, _ := l.Find(c.m.ID); m.Mode != c.mode || m.TimeoutMS != c.timeout {
			t.Errorf("%s: mode %q, at most %d ms; want %q, %d", c.m.ID, m.Mode, m.TimeoutMS, c.mode, c.timeout)
		}
	}
}
