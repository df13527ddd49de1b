package queue

import (
	"slices"
	"testing"
)

// TestShortIDs: the agent never reads one id in two messages, and both ids lead to each other as
// long as the message is remembered.
func TestShortIDs(t *testing.T) {
	short := func(id, shown string) Message {
		msg := message(id)
		msg.ShortID = shown
		return msg
	}
	m, _ := newMailbox(t, Config{Remember: 2})
	enqueue(t, m, short("long-a", "a"), message("b"), short("c", "long-c"))
	for _, msg := range []Message{short("long-b", "b"), short("other", "a"), message("a"), message("long-c")} {
		if _, _, err := m.Enqueue(msg, t0); err != ErrDuplicate {
			t.Errorf("%s, read as %s: got %v, want %v", msg.ID, msg.ShownID(), err, ErrDuplicate)
		}
	}
	enqueue(t, m, short("d", "c"), short("b-2", "long-a")) // ids that nobody reads
	if _, known, err := m.Enqueue(short("long-a", "a"), t0); !known || err != nil {
		t.Errorf("the same again: known %v, %v", known, err)
	}
	if _, known, err := m.Enqueue(message("long-a"), t0); !known || err != nil {
		t.Errorf("the same again from who chose no short one: known %v, %v", known, err)
	}
	ids, shown := []string{"long-a", "b", "c", "none"}, []string{"a", "b", "long-c", "none"}
	both := func(when string) {
		t.Helper()
		if got := m.ShownIDs(ids); !slices.Equal(got, shown) {
			t.Errorf("%s: shown are %v, want %v", when, got, shown)
		}
		if got := m.IDs(shown); !slices.Equal(got, ids) {
			t.Errorf("%s: ids are %v, want %v", when, got, ids)
		}
	}
	both("waiting")
	m.Take(t0, "long-a")
	m.Finish("long-a", Outcome{Status: "delivered"}, t0)
	both("ended")
	for _, id := range []string{"b", "c"} {
		m.Finish(id, Outcome{Status: "cancelled"}, t0)
	}
	enqueue(t, m, short("new", "a")) // the oldest end is forgotten by now
	if got := m.IDs([]string{"a"}); got[0] != "new" {
		t.Errorf("the short id of a forgotten message is of %s", got[0])
	}
}
