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
