package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestWhichMessageIsMeant: an id, its beginning where that is of one message alone, or the last one
// to or from whoever asks.
func TestWhichMessageIsMeant(t *testing.T) {
	l := newLog(t)
	l.up("ann", "bob")
	if _, err := l.Which(LastID, Human); err == nil || err.Error() != "there is no message to or from human" {
		t.Errorf("without messages: %v", err)
	}
	for _, m := range []Message{
		{ID: "m-7wzk03fa", From: Human, To: "bob"}, {ID: "m-7wzz", From: "bob", To: Human}, {ID: "m-7", From: "ann", To: "bob"},
		{ID: "m-7wzz:refused", From: "bob", To: "ann"}, {ID: "9d0f785b98b87f4e989651a137b4", From: "ann", To: "bob"},
	} {
		m.Body = "hi"
		if code := l.send(m); code != "" {
			t.Fatal(code)
		}
	}
	l.add(Event{Type: TypeMessage, Message: Message{ID: "g-1", From: "ci", To: "#x", Body: "hi"}, Recipients: []string{"ann", "bob"}})
	l.add(Event{Type: TypeReminder, DueAt: l.now + minute, Message: Message{ID: "r-1", From: Relay, To: "ann", Body: "look"}})
	for _, c := range []struct{ word, me, want string }{
		{"m-7wzk03fa", "", "m-7wzk03fa"}, {"m-7wzk", "", "m-7wzk03fa"}, {"m-7", "", "m-7"}, {"m-7wzz", "", "m-7wzz"}, {"m-7wzz:", "", "m-7wzz:refused"},
		{"9d0f", "", "9d0f785b98b87f4e989651a137b4"}, {"g-1:a", "", "g-1:ann"}, {"r-1", "", "r-1"},
		{LastID, Human, "m-7wzz"}, {LastID, "bob", "g-1:bob"}, {LastID, "ci", "g-1"},
	} {
		if got, err := l.Which(c.word, c.me); err != nil || got != c.want {
			t.Errorf("%s of %s: %q, %v; want %s", c.word, c.me, got, err, c.want)
		}
	}
	for word, want := range map[string]string{
		"m-8": "no message has the id m-8, and its beginning needs 4 characters", "m-8wzk": "no message has the id m-8wzk", "9d0": "no message", "": "", "M-7WZK": "no message", "m-7w": "2 ids begin with m-7w: m-7wzz, m-7wzk03fa", "lastly": "no message",
	} {
		_, err := l.Which(word, Human)
		var refused *ErrorValue
		if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), want) || refused.Code != "unknown_id" {
			t.Errorf("%q: %v, want %q", word, err, want)
		}
		if word == "m-7w" && !slices.Equal(refused.Candidates, []string{"m-7wzz", "m-7wzk03fa"}) {
			t.Errorf("candidates are %v", refused.Candidates)
		}
	}
	for i := range 9 {
		l.send(Message{ID: fmt.Sprint("x-long-", i), From: Human, To: "bob", Body: "hi"})
	}
	if _, err := l.Which("x-lo", Human); err == nil || err.Error() != "9 ids begin with x-lo: x-long-8, x-long-7, x-long-6, x-long-5, x-long-4, …" {
		t.Errorf("of many: %v", err)
	}
	l.send(Message{ID: LastID, From: "ann", To: "bob", Body: "hi"})
	if got, _ := l.Which(LastID, Human); got != LastID {
		t.Errorf("a message has that id, and %s is found", got)
	}
}
