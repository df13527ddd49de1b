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

	"relay-pty/cmd/relay/internal/clock"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// reminder is one that somebody wants to set.
type reminder struct {
	ID, To, Text string
	DelayMS      int64
}

func (r reminder) message() Message { return Message{ID: r.ID, To: r.To, Body: r.Text} }

// remind sets a reminder and returns the code of its refusal.
func (l *log) remind(r reminder) string {
	e, known, err := l.Remind(r.message(), r.DelayMS, l.now+1) // when add puts it there
	var refused *ErrorValue
	if errors.As(err, &refused) {
		return refused.Code
	}
	if known == nil {
		l.add(e)
	}
	return ""
}

func silent(string) bool { return false }

// fires appends what is due at a time, and returns the texts with their recipients.
func (l *log) fires(now int64) (told []string) {
	l.t.Helper()
	due, _ := l.Due(now, silent)
	for _, m := range due {
		l.add(Event{Type: TypeMessage, Message: m})
		told = append(told, m.To+": "+m.Body)
	}
	if again, _ := l.Due(now, silent); len(again) > 0 {
		l.t.Errorf("due again: %+v", again)
	}
	return told
}

func TestRemind(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxBody-len(reminderOpening))
	for name, c := range map[string]struct {
		r    reminder
		want string
	}{
		"a reminder":        {reminder{"r", "bob", "look", 1}, ""},
		"of the human":      {reminder{"r", "human", "look", 1}, ""},
		"of a script":       {reminder{"r", "ci", "look", 1}, ""},
		"with our host":     {reminder{"r", "bob@Mars", "look", 1}, ""},
		"the longest":       {reminder{"r", "bob", long, 1000}, ""},
		"too long":          {reminder{"r", "bob", long + "x", 1}, "message_too_large"},
		"empty":             {reminder{"r", "bob", "", 1}, "bad_field"},
		"nothing to see":    {reminder{"r", "bob", "\u200b\x00", 1}, "bad_field"},
		"no text":           {reminder{"r", "bob", "\xff", 1}, "bad_field"},
		"at once":           {reminder{"r", "bob", "look", 0}, "bad_field"},
		"in the past":       {reminder{"r", "bob", "look", -1}, "bad_field"},
		"for ever":          {reminder{"r", "bob", "look", 1 << 62}, "bad_field"},
		"after the log":     {reminder{"r", "bob", "look", 1001}, "bad_field"},
		"a bad id":          {reminder{"r r", "bob", "look", 1}, "bad_field"},
		"a bad name":        {reminder{"r", "self", "look", 1}, "bad_field"},
		"a message's id":    {reminder{"m", "bob", "look", 1}, "duplicate_id"},
		"of another's id":   {reminder{"old", "bob", "look", 500}, "duplicate_id"},
		"the same again":    {reminder{"old", "ci", "look", 500}, ""},
		"at another time":   {reminder{"old", "ci", "look", 501}, "duplicate_id"},
		"with another text": {reminder{"old", "ci", "Look", 500}, "duplicate_id"},
	} {
		l := newLog(t)
		l.Rules = Rules{Host: "mars", KeepMS: 1000}
		l.up("bob")
		l.send(Message{ID: "m", From: "human", To: "bob", Body: "hi"})
		l.remind(reminder{"old", "ci", "look", 500})
		if got := l.remind(c.r); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestAReminderIsAMessage of the same id, once its time has come; it keeps the router running until
// then, and its id is nobody else's.
func TestAReminderIsAMessage(t *testing.T) {
	l := newLog(t)
	l.remind(reminder{"late", "ci", "two", 2000})
	l.remind(reminder{"soon", "ci", "one", 1000})
	l.remind(reminder{"not", "ci", "three", 1000})
	code := l.send(Message{ID: "soon", From: "ci", To: Human, Body: "hi"})
	if code != string(protocol.DuplicateID) {
		t.Errorf("its id is taken: %q", code)
	}
	code = l.send(Message{ID: "m", From: "relay", To: Human, Body: reminderOpening + "hi"})
	if code != string(protocol.BadField) {
		t.Errorf("somebody writes as relay: %q", code)
	}
	is, in := l.status("soon"), l.inbox("ci")
	if !l.Waiting() || is != StatusScheduled || len(in) != 0 {
		t.Errorf("waiting: %v, it is %s, and the inbox has %v", l.Waiting(), is, in)
	}
	l.result("ci", "not", protocol.StatusCancelled)
	soon, _ := l.Find("soon")
	if due, next := l.Due(soon.DueAt-1, silent); due != nil || next != soon.DueAt {
		t.Errorf("a moment before: %v, and next %d", due, next)
	}
	for i, text := range []string{"one", "two"} {
		want := []string{"ci: [relay] Scheduled reminder: " + text}
		if got := l.fires(soon.DueAt + int64(i)*10_000); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if in = l.inbox("ci"); l.Waiting() || len(in) != 2 {
		t.Fatalf("waiting: %v, the inbox has %+v", l.Waiting(), in)
	}
	if m := in[0]; m.Kind != protocol.KindNotice || m.From != Relay || len(m.Events) != 2 {
		t.Errorf("it is %+v", m)
	}
	if _, ok := l.Agent(Relay); ok {
		t.Error("the router counts as an agent")
	}
	if code := l.remind(reminder{"soon", "ci", "one", 1000}); code != "" || len(l.Scheduled()) != 0 {
		t.Errorf("set again after it came: %q, %v", code, l.Scheduled())
	}
}

func TestRemindersAreBounded(t *testing.T) {
	l := newLog(t)
	for i := range remindMost {
		if code := l.remind(reminder{"r" + strconv.Itoa(i), "ci", "look", 1000}); code != "" {
			t.Fatalf("reminder %d: %s", i, code)
		}
	}
	if code := l.remind(reminder{"r", "ci", "look", 1000}); code != RateLimited {
		t.Errorf("one more: %q", code)
	}
	if code := l.remind(reminder{"r0", "ci", "look", 1000}); code != "" {
		t.Errorf("the first again: %q", code)
	}
	if code := l.remind(reminder{"r", "eve", "look", 1000}); code != "" {
		t.Errorf("of somebody else: %q", code)
	}
	l.result("ci", "r0", protocol.StatusCancelled)
	if code := l.remind(reminder{"r", "ci", "look", 1000}); code != string(protocol.DuplicateID) {
		t.Errorf("another's: %q", code)
	}
	if code := l.remind(reminder{"s", "ci", "look", 1000}); code != "" {
		t.Errorf("after one was cancelled: %q", code)
	}
}

// TestNotices are what the sender of a message hears of it.
func TestNotices(t *testing.T) {
	const min5 = 5 * minute
	reply := func(l *log) {
		l.send(Message{ID: "r", From: "bob", To: "ci", Body: "yes", ReplyTo: "m"})
	}
	told := func(statuses ...string) []func(*log) {
		var steps []func(*log)
		for _, s := range statuses {
			steps = append(steps, func(l *log) { l.result("bob", "m", s) })
		}
		return steps
	}
	delivered := "ci: [relay] Message m delivered to bob."
	reminder := "ci: [relay] Reminder: 5m since message m was delivered to bob: " +
		`"do it" (relay screen bob)`
	for name, c := range map[string]struct {
		on    bool
		after int64
		steps []func(*log)
		want  []string
	}{
		"nothing was asked for":       {false, 0, told("delivered"), nil},
		"it waits":                    {true, min5, told("queued", "injecting"), nil},
		"it was delivered":            {true, 0, told("queued", "injecting", "delivered"), []string{delivered}},
		"and is said to be twice":     {true, 0, told("delivered", "delivered"), []string{delivered}},
		"some time ago":               {false, min5, told("delivered"), []string{reminder}},
		"both":                        {true, min5, told("delivered"), []string{delivered, reminder}},
		"it was answered":             {true, min5, append(told("delivered"), reply), []string{delivered}},
		"answered before that":        {true, min5, append(told("injecting"), reply, told("delivered")[0]), []string{delivered}},
		"answered while it waits":     {true, min5, append([]func(*log){reply}, told("queued", "delivered")...), []string{delivered}},
		"it failed":                   {true, min5, told("injecting", "failed"), nil},
		"it expired":                  {true, min5, told("expired"), nil},
		"nobody knows":                {true, min5, told("injecting", "unknown"), nil},
		"nobody knew, and it answers": {true, min5, append(told("injecting", "unknown"), reply), []string{delivered}},
		"its id was taken": {true, 0, append([]func(*log){func(l *log) {
			l.send(Message{ID: "m:delivered", From: "human", To: "bob", Body: "mine"})
		}}, told("delivered")...), []string{delivered}},
	} {
		l := newLog(t)
		l.up("bob")
		l.send(Message{ID: "m", From: "ci", To: "bob", Body: "do it", NotifyOnDelivery: c.on, NotifyAfterMS: c.after})
		for _, step := range c.steps {
			step(l)
		}
		if got := append(l.fires(l.now), l.fires(l.now+min5+10)...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestNoticeTexts: what is quoted is on one line, and not more than needed.
func TestNoticeTexts(t *testing.T) {
	for millis, want := range map[int64]string{
		300_000: "5m", 90_000: "1m30s", 3_600_000: "1h", 5_400_000: "1h30m", 36_000_000: "10h",
		500: "500ms", 10_000: "10s", 3_610_000: "1h0m10s",
	} {
		if got := clock.Exact(millis); got != want {
			t.Errorf("%d ms: got %s, want %s", millis, got, want)
		}
	}
	exact := strings.Repeat("ü", quoteMost)
	for body, want := range map[string]string{
		"hello": "hello", "two\nlines\r\n": "two lines ", "a\x1b[2Jb\u200bc": "a[2Jbc",
		exact: exact, exact + "x": exact + "…",
	} {
		if got := parser.Quote(body, quoteMost); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
	l := newLog(t)
	l.up("bob")
	id := strings.Repeat("m", 128)
	l.send(Message{ID: id, From: "ci", To: "bob", Body: "hi", NotifyOnDelivery: true})
	l.result("bob", id, "delivered")
	due, _ := l.Due(l.now, silent)
	if len(due) != 1 || protocol.ValidID(due[0].ID) != nil || due[0].About != id {
		t.Errorf("got %+v", due)
	}
}

// TestTheClockIsSetBack: a notice of a delivery comes at once all the same, a reminder at its time.
func TestTheClockIsSetBack(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.send(Message{ID: "m", From: "ci", To: "bob", Body: "hi", NotifyOnDelivery: true})
	l.remind(reminder{"r", "ci", "look", 1000})
	l.result("bob", "m", "delivered")
	want := []string{"ci: [relay] Message m delivered to bob."}
	if got := l.fires(l.now - 500_000); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := l.fires(l.now + 2000); len(got) != 1 {
		t.Errorf("at its time there is %q", got)
	}
}

// TestNoticesToTheAbsent last for an hour; to whoever runs, until they are typed.
func TestNoticesToTheAbsent(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	for _, to := range []string{"bob", "eve", Human} {
		l.remind(reminder{"r-" + to, to, "look", 1})
	}
	l.fires(l.now + 10)
	at, _ := l.Find("r-eve")
	over, next := l.Expiring(at.Accepted + absentMS - 1)
	if len(over) != 0 || next != at.Accepted+absentMS {
		t.Errorf("a moment before an hour is over: %v, next %d", over, next)
	}
	over, _ = l.Expiring(at.Accepted + 2*absentMS)
	var ids []string
	for _, m := range over {
		ids = append(ids, m.ID)
	}
	if want := []string{"r-eve", "r-human"}; !slices.Equal(ids, want) {
		t.Errorf("after two hours: %v, want %v", ids, want)
	}
	l.add(Event{Type: TypeDown, Agent: "bob"})
	if over, _ = l.Expiring(at.Accepted + 2*absentMS); len(over) != 3 {
		t.Errorf("after bob's end: %v", over)
	}
}

// TestWhatIsStillComingIn: after a time without a router, an answer may follow the delivery.
func TestWhatIsStillComingIn(t *testing.T) {
	l := newLog(t)
	l.up("bob")
	l.send(Message{ID: "m", From: "ci", To: "bob", Body: "hi", NotifyAfterMS: 10})
	o := Origin{"e", 1}
	delivered := Event{Type: protocol.TypeInjectResult, Agent: "bob", Origin: &o, Message: Message{ID: "m"}}
	delivered.Status = protocol.StatusDelivered
	l.add(delivered)
	later := l.now + 1000
	hears := func(name string) bool { return name == "bob" }
	if due, next := l.Due(later, hears); due != nil || next != later+hearAgain {
		t.Errorf("bob is still heard: %v, next %d", due, next)
	}
	if due, _ := l.Due(later, silent); len(due) != 1 {
		t.Errorf("bob is heard no longer: %v", due)
	}
	l.now += 10
	l.add(Event{Type: protocol.TypeState, Agent: "bob", Origin: &Origin{"e", 2}})
	if due, _ := l.Due(later, hears); len(due) != 1 {
		t.Errorf("all is known that he said until then: %v", due)
	}
}

// TestOnceEach: whatever happens, in whatever order, however the clock is set and wherever the
// router ends, each reminder and each notice comes once, not before its time and, when it was
// cancelled or answered, not at all.
func TestOnceEach(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := world{r: r, log: newLog(t), due: map[string]int64{}, sent: map[string]int{}}
		w.up("bob", "eve")
		steps := []func(){
			w.sends, w.hears, w.answers, w.reminds, w.cancels, w.setsTheClock, w.tick, w.restarts,
		}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			steps[rapid.IntRange(0, len(steps)-1).Draw(r, "step")]()
			w.now++
		}
		w.now = slices.Max(append([]int64{w.now}, w.allDue()...))
		w.tick()
		w.restarts()
		w.tick()
		for id := range w.due {
			want := 1
			if w.status(id) == protocol.StatusCancelled {
				want = 0
			}
			if w.sent[id] != want {
				r.Errorf("reminder %s came %d times, want %d", id, w.sent[id], want)
			}
		}
		for _, m := range w.messages {
			w.checkNotices(m)
		}
	})
}

// world is a log, and what was done.
type world struct {
	r *rapid.T
	*log
	events []Event
	due    map[string]int64 // by reminder
	sent   map[string]int   // messages of the router, by id
}

func (w *world) put(e Event) {
	w.now++
	e.Seq, e.Timestamp = w.Last+1, w.now
	line, err := json.Marshal(e)
	if err == nil {
		e = Event{}
		err = json.Unmarshal(line, &e)
	}
	if err != nil {
		w.r.Fatal(err)
	}
	w.Apply(e)
	w.events = append(w.events, e)
	if e.Type == TypeMessage && e.From == Relay {
		w.sent[e.ID]++
	}
}

func (w *world) any(what string) (id string) {
	var ids []string
	for id, m := range w.messages {
		if (m.From == Relay) == (what == "scheduled") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(w.r, what)
}

func (w *world) sends() {
	ids := rapid.SampledFrom([]string{"m1", "m2", "m3", "m4", "m1:delivered", "m2:reminder"})
	m := Message{
		ID: ids.Draw(w.r, "id"), From: "ci", Body: "hi",
		To:               rapid.SampledFrom([]string{"bob", "eve", Human}).Draw(w.r, "to"),
		NotifyOnDelivery: rapid.Bool().Draw(w.r, "on"),
		NotifyAfterMS:    rapid.SampledFrom([]int64{0, 1, 50}).Draw(w.r, "after"),
	}
	if m, known, err := w.Admit(m, w.now, silent); err == nil && known == nil {
		w.put(Event{Type: TypeMessage, Message: m})
	}
}

func (w *world) hears() {
	if m := w.messages[w.any("told of")]; m != nil {
		statuses := []string{"queued", "injecting", "delivered", "delivered", "unknown", "failed"}
		w.told(m, rapid.SampledFrom(statuses).Draw(w.r, "status"))
	}
}

func (w *world) told(m *Known, status string) {
	e := Event{Type: protocol.TypeInjectResult, Agent: m.To, Message: Message{ID: m.ID}}
	e.Status = status
	w.put(e)
}

func (w *world) answers() {
	if m := w.messages[w.any("answered")]; m != nil {
		id := "a" + strconv.Itoa(len(w.events))
		a := Message{ID: id, From: m.To, To: "ci", Body: "yes", ReplyTo: m.ID}
		if a, known, err := w.Admit(a, w.now, silent); err == nil && known == nil {
			w.put(Event{Type: TypeMessage, Message: a})
		}
	}
}

func (w *world) reminds() {
	id := "r" + strconv.Itoa(rapid.IntRange(1, 9).Draw(w.r, "reminder"))
	r := reminder{ID: id, To: "bob", Text: "look", DelayMS: rapid.Int64Range(1, 40).Draw(w.r, "delay")}
	if e, known, err := w.Remind(r.message(), r.DelayMS, w.now+1); err == nil && known == nil {
		w.due[r.ID] = w.now + 1 + r.DelayMS
		w.put(e)
	}
}

func (w *world) cancels() {
	if m := w.messages[w.any("scheduled")]; m != nil && m.Status == StatusScheduled {
		w.told(m, protocol.StatusCancelled)
	}
}

func (w *world) setsTheClock() { w.now += rapid.Int64Range(-60, 60).Draw(w.r, "by") }

// tick sends what is due, and may be killed behind any of it.
func (w *world) tick() {
	due, _ := w.Due(w.now, silent)
	now := w.now
	for _, m := range due {
		if at, ok := w.due[m.ID]; ok && now < at {
			w.r.Errorf("%s came at %d, want %d", m.ID, now, at)
		}
		asked := w.messages[m.About]
		if asked != nil && asked.Reminder == m.ID && len(asked.Replies) > 0 {
			w.r.Errorf("%s came, and %s is answered", m.ID, asked.ID)
		}
		w.put(Event{Type: TypeMessage, Message: m})
		if rapid.IntRange(0, 9).Draw(w.r, "killed") == 0 {
			w.restarts()
			w.tick()
			return
		}
	}
}

// restarts reads the log anew: it says all that was known.
func (w *world) restarts() {
	s := NewState()
	s.Apply(Event{Seq: 1, Type: TypeUp, Agent: "bob", Timestamp: 1_000_001})
	s.Apply(Event{Seq: 2, Type: TypeUp, Agent: "eve", Timestamp: 1_000_002})
	for _, e := range w.events {
		s.Apply(e)
	}
	if !reflect.DeepEqual(s, w.State) {
		w.r.Fatalf("the log says %+v\nknown was %+v", s, w.State)
	}
	w.State = s
}

func (w *world) allDue() (list []int64) {
	for _, k := range w.later {
		list = append(list, k.DueAt)
	}
	return list
}

// checkNotices counts the notices about a message.
func (w *world) checkNotices(m *Known) {
	var delivered, reminder, cancelled int
	for id, n := range w.messages {
		switch {
		case n.About != m.ID:
		case n.Status == protocol.StatusCancelled:
			cancelled++
		case strings.HasPrefix(n.Body, "[relay] Message "):
			delivered += w.sent[id]
		default:
			reminder += w.sent[id]
		}
	}
	arrived := m.Status == protocol.StatusDelivered || m.Status == StatusReplied
	most := func(asked bool) int {
		if asked && arrived && m.From != Relay {
			return 1
		}
		return 0
	}
	on, after := most(m.NotifyOnDelivery), most(m.NotifyAfterMS > 0)
	all := delivered + reminder + cancelled
	if delivered > on || reminder > after || all > on+after || len(m.Replies) == 0 && all != on+after {
		w.r.Errorf("%+v: %d notices of delivery, %d reminders, %d cancelled; asked for %d and %d",
			m, delivered, reminder, cancelled, on, after)
	}
}
