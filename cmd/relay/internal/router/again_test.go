package router

import (
	"errors"
	"slices"
	"testing"

	"relay-pty/protocol"
)

// TestRedelivery: only what ended without having arrived is sent again, and once at a time.
func TestRedelivery(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string // told of the message; of "again", which is sent then
		code  string
	}{
		"accepted":                         {nil, "too_late"},
		"queued":                           {[]string{"queued"}, "too_late"},
		"delivered":                        {[]string{"delivered"}, "too_late"},
		"cancelled":                        {[]string{"cancelled"}, "too_late"},
		"failed":                           {[]string{"failed"}, ""},
		"expired":                          {[]string{"expired"}, ""},
		"unknown":                          {[]string{"unknown"}, ""},
		"unknown, and answered":            {[]string{"unknown", "reply"}, "too_late"},
		"sent again, which waits":          {[]string{"failed", "again", "queued"}, "too_late"},
		"sent again, which was delivered":  {[]string{"failed", "again", "delivered"}, "too_late"},
		"sent again, which failed as well": {[]string{"failed", "again", "failed"}, ""},
		"sent again twice":                 {[]string{"failed", "again", "failed", "again", "delivered"}, "too_late"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.up("bob")
			l.send(Message{ID: "m", From: Human, To: "bob", Body: "hi", Thread: "t", ReplyBy: 5})
			id := "m"
			for _, step := range c.steps {
				switch step {
				case "again":
					m, err := l.Redelivery("m", l.now)
					must(t, err)
					l.add(Event{Type: TypeMessage, Message: m})
					id = m.ID
				case "reply":
					l.send(Message{ID: "r", From: "bob", To: Human, Body: "yes", ReplyTo: id})
				default:
					l.result("bob", id, step)
				}
			}
			for _, asked := range []string{"m", id} {
				m, err := l.Redelivery(asked, l.now)
				var refused *ErrorValue
				if errors.As(err, &refused); (refused == nil) != (c.code == "") || refused != nil && refused.Code != c.code {
					t.Fatalf("%s: got %v, want %q", asked, err, c.code)
				}
				want := Message{ID: "m:r1", From: Human, To: "bob", Body: "hi", Thread: "t", Redelivers: "m"}
				if id != "m" {
					want.ID = "m:r2"
				}
				m.Kind, m.Mode, m.Redelivery, m.Chain = "", "", "", ""
				if err == nil && m != want {
					t.Errorf("%s: got %+v", asked, m)
				}
			}
			var letters []string
			for _, m := range l.messages {
				if r, err := m.row(); err != nil || r.Dead {
					letters = append(letters, r.ID)
				}
			}
			if want := []string{id}; c.code == "" && !slices.Equal(letters, want) || c.code != "" && letters != nil {
				t.Errorf("the dead letters are %v", letters)
			}
		})
	}
}

// TestRetry: a message whose turn was refused is sent again by itself where its sender wants that,
// when the API takes requests again, until it is answered or its time is over.
func TestRetry(t *testing.T) {
	refused := func(id string, retryAt int64) func(*log) {
		return func(l *log) {
			e := Event{Type: protocol.TypeTurnEnd, Agent: "bob", IDs: []string{id}}
			e.Outcome, e.Reason, e.RetryAt = protocol.OutcomeRefused, protocol.ReasonLimit, retryAt
			l.result("bob", id, protocol.StatusDelivered)
			l.add(e)
		}
	}
	due := func(l *log) {
		now, _ := l.Due(1<<40, func(string) bool { return false })
		for _, m := range now {
			l.add(Event{Type: TypeMessage, Message: m})
		}
	}
	answered := func(l *log) {
		l.add(Event{Type: protocol.TypeTurnEnd, Agent: "bob", IDs: []string{"m"}, Message: Message{Body: "yes"}})
	}
	replied := func(l *log) { l.send(Message{ID: "r", From: "bob", To: Human, Body: "yes", ReplyTo: "m"}) }
	again, err := "", error(nil)
	byHand := func(l *log) {
		var m Message
		if m, err = l.Redelivery("m", l.now); err == nil {
			again = m.ID
		}
	}
	for name, c := range map[string]struct {
		once    bool  // it is not to be sent again
		timeout int64 // milliseconds
		steps   []func(*log)
		tries   []string // by which it is sent again
		status  string   // of the last
		dueAt   int64
	}{
		"refused":                         {steps: []func(*log){refused("m", 1<<40)}, tries: []string{"m:r1"}, status: StatusScheduled, dueAt: 1 << 40},
		"nobody wants that":               {once: true, steps: []func(*log){refused("m", 1<<40)}},
		"sent again":                      {steps: []func(*log){refused("m", 1<<40), due}, tries: []string{"m:r1"}, status: StatusAccepted, dueAt: 1 << 40},
		"refused again":                   {steps: []func(*log){refused("m", 1), due, refused("m:r1", 1<<40)}, tries: []string{"m:r1", "m:r2"}, status: StatusScheduled, dueAt: 1 << 40},
		"its first turn refused again":    {steps: []func(*log){refused("m", 1<<40), refused("m", 1<<40)}, tries: []string{"m:r1"}, status: StatusScheduled, dueAt: 1 << 40},
		"answered meanwhile":              {steps: []func(*log){refused("m", 1<<40), answered}, tries: []string{"m:r1"}, status: protocol.StatusCancelled, dueAt: 1 << 40},
		"answered meanwhile by a message": {steps: []func(*log){refused("m", 1<<40), replied}, tries: []string{"m:r1"}, status: protocol.StatusCancelled, dueAt: 1 << 40},
		"its time is over by then":        {timeout: 1000, steps: []func(*log){refused("m", 1<<40)}},
		"in its time":                     {timeout: 1 << 41, steps: []func(*log){refused("m", 1<<40)}, tries: []string{"m:r1"}, status: StatusScheduled, dueAt: 1 << 40},
	} {
		l := newLog(t)
		l.up("bob")
		l.send(Message{ID: "m", From: Human, To: "bob", Body: "hi", Retry: !c.once, TimeoutMS: c.timeout})
		for _, step := range c.steps {
			step(l)
		}
		if m, _ := l.Find("m"); !slices.Equal(m.Redeliveries, c.tries) {
			t.Errorf("%s: sent again by %v, want %v", name, m.Redeliveries, c.tries)
		} else if c.tries != nil {
			last, _ := l.Find(c.tries[len(c.tries)-1])
			if last.Status != c.status || last.DueAt != c.dueAt || last.Redelivers != "m" {
				t.Errorf("%s: %s is %s, due at %d, sends %q again", name, last.ID, last.Status, last.DueAt, last.Redelivers)
			}
		}
		if byHand(l); (err == nil) != c.once && name != "its time is over by then" {
			t.Errorf("%s: by hand it is sent again as %q, %v", name, again, err)
		}
	}
}

// TestRedeliveryToOneOfSeveral counts for the message to all of them; an answer that is sent again
// is no second one.
func TestRedeliveryToOneOfSeveral(t *testing.T) {
	l := newLog(t)
	l.up("b", "c", "d")
	l.add(Event{Type: TypeMessage, Message: Message{ID: "m", From: "d", To: "*", Body: "hi"}, Recipients: []string{"b", "c"}})
	l.result("b", "m:b", "delivered")
	l.result("c", "m:c", "failed")
	if got := l.status("m"); got != protocol.StatusFailed {
		t.Errorf("it is %s", got)
	}
	again, err := l.Redelivery("m:c", l.now)
	must(t, err)
	l.add(Event{Type: TypeMessage, Message: again})
	l.result("c", again.ID, "delivered")
	m, _ := l.Find("m")
	if m.Status != protocol.StatusDelivered || m.Deliveries[1].ID != "m:c:r1" || !slices.Equal(m.Events, []int64{4, 5, 6, 7, 8}) {
		t.Errorf("got %+v", m)
	}
	l.send(Message{ID: "a", From: "c", To: "d", Body: "yes", ReplyTo: "m:c:r1"})
	l.result("d", "a", "failed")
	if again, err = l.Redelivery("a", l.now); err != nil {
		t.Fatal(err)
	}
	l.add(Event{Type: TypeMessage, Message: again})
	if m, _ := l.Find("m:c:r1"); !slices.Equal(m.Replies, []string{"a"}) {
		t.Errorf("the answers are %v", m.Replies)
	}
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
