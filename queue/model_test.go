package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relay-pty/protocol"
)

// model is the mailbox as one would explain it: a list in the order of arrival, and a
// scan over it for everything.
type model struct {
	all []modelMessage
	max int
}

type modelMessage struct {
	msg     Message
	status  string
	due     time.Time
	wishes  int // to cancel it, while it is being injected
	entered bool
}

func (o *model) find(id string) *modelMessage {
	for i := range o.all {
		if o.all[i].msg.ID == id {
			return &o.all[i]
		}
	}
	return nil
}

func (o *model) order() (order []string) {
	for _, mode := range []string{protocol.ModeUrgent, protocol.ModeImportant, protocol.ModeSequential} {
		for priority := int64(-2); priority <= 2; priority++ {
			for _, e := range o.all {
				if e.status == "queued" && e.msg.Mode == mode && e.msg.Priority == priority {
					order = append(order, e.msg.ID)
				}
			}
		}
	}
	return order
}

func (o *model) enqueue(msg Message, now time.Time) (known bool, err error) {
	if e := o.find(msg.ID); e != nil {
		if e.msg != msg {
			return false, ErrDuplicate
		}
		return true, nil
	}
	limit := o.max - o.max/10
	if msg.Mode == protocol.ModeUrgent {
		limit = o.max
	}
	if len(o.order()) >= limit {
		return false, ErrFull
	}
	e := modelMessage{msg: msg, status: "queued"}
	if msg.Timeout > 0 {
		e.due = now.Add(msg.Timeout)
	}
	o.all = append(o.all, e)
	return false, nil
}

func (o *model) move(id, to string, from ...string) error {
	e := o.find(id)
	if e == nil {
		return ErrUnknown
	}
	if !slices.Contains(from, e.status) {
		return ErrState
	}
	e.status = to
	return nil
}

func (o *model) take(id string) error {
	err := o.move(id, "injecting", "queued")
	if err == nil {
		e := o.find(id)
		e.wishes, e.entered = 0, false
	}
	return err
}

func (o *model) giveBack(id string) error {
	if e := o.find(id); e != nil && e.wishes > 0 {
		return o.move(id, "cancelled", "injecting")
	}
	return o.move(id, "queued", "injecting")
}

// cancel returns the status that the canceller is told.
func (o *model) cancel(id string) (status string, err error) {
	e := o.find(id)
	if e == nil {
		return "", ErrUnknown
	}
	switch {
	case e.status == "queued":
		e.status = "cancelled"
	case e.status == "injecting" && !e.entered:
		e.wishes++
	case e.status == "cancelled":
	default:
		err = ErrState
	}
	return e.status, err
}

func (o *model) wanted(id string) bool {
	e := o.find(id)
	return e != nil && e.status == "injecting" && e.wishes > 0
}

func (o *model) giveUp(id string) bool {
	if !o.wanted(id) {
		return false
	}
	o.find(id).wishes--
	return true
}

func (o *model) commit(id string) bool {
	e := o.find(id)
	if e == nil || e.status != "injecting" || e.wishes > 0 {
		return false
	}
	e.entered = true
	return true
}

func (o *model) expire(now time.Time) {
	for i, e := range o.all {
		if e.status == "queued" && !e.due.IsZero() && !now.Before(e.due) {
			o.all[i].status = "expired"
		}
	}
}

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		oracle := &model{max: rapid.IntRange(1, 12).Draw(t, "max")}
		log := NewOutbox()
		m, err := New(Config{Max: oracle.max}, log)
		must(t, err)
		now := t0
		id := rapid.Map(rapid.IntRange(0, 15), func(n int) string { return fmt.Sprint("m", n) })
		same := func(t *rapid.T, got, want error) {
			if got != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) {
				msg := message(id.Draw(t, "id"))
				msg.Mode = rapid.SampledFrom([]string{"sequential", "important", "urgent"}).Draw(t, "mode")
				msg.Priority = rapid.Int64Range(-2, 2).Draw(t, "priority")
				msg.Timeout = time.Duration(rapid.IntRange(0, 3).Draw(t, "timeout")) * time.Second
				if e := oracle.find(msg.ID); e != nil && rapid.Bool().Draw(t, "again") {
					msg = e.msg
				}
				_, known, err := m.Enqueue(msg, now)
				wantKnown, wantErr := oracle.enqueue(msg, now)
				same(t, err, wantErr)
				if known != wantKnown {
					t.Fatalf("known %v, want %v", known, wantKnown)
				}
			},
			"take": func(t *rapid.T) {
				id := id.Draw(t, "id")
				err := m.Take(now, id)
				same(t, err, oracle.take(id))
			},
			"return": func(t *rapid.T) {
				id := id.Draw(t, "id")
				same(t, m.Return(id, now), oracle.giveBack(id))
			},
			"deliver": func(t *rapid.T) {
				id := id.Draw(t, "id")
				same(t, m.Finish(id, Outcome{Status: "delivered"}, now), oracle.move(id, "delivered", "injecting"))
			},
			"cancel": func(t *rapid.T) {
				id := id.Draw(t, "id")
				before := log.Last()
				r, err := m.Cancel(id, now)
				status, wantErr := oracle.cancel(id)
				same(t, err, wantErr)
				if r.Status != status {
					t.Fatalf("told %s, want %s", r.Status, status)
				}
				if n := log.Last() - before; r.Seq > before && (n == 0 || status != "cancelled") || r.Seq > log.Last() {
					t.Fatalf("%+v after %d events", r, n)
				}
			},
			"give up": func(t *rapid.T) {
				id := id.Draw(t, "id")
				if got, want := m.GiveUp(id), oracle.giveUp(id); got != want {
					t.Fatalf("got %v, want %v", got, want)
				}
			},
			"commit": func(t *rapid.T) {
				id := id.Draw(t, "id")
				if got, want := m.Entering(id), oracle.commit(id); got != want {
					t.Fatalf("got %v, want %v", got, want)
				}
			},
			"fail": func(t *rapid.T) {
				id := id.Draw(t, "id")
				same(t, m.Finish(id, Outcome{Status: "failed"}, now), oracle.move(id, "failed", "injecting", "queued"))
			},
			"doubt": func(t *rapid.T) {
				id := id.Draw(t, "id")
				same(t, m.Finish(id, Outcome{Status: "unknown"}, now), oracle.move(id, "unknown", "injecting"))
			},
			"cancel by hand": func(t *rapid.T) {
				id := id.Draw(t, "id")
				same(t, m.Finish(id, Outcome{Status: "cancelled"}, now), oracle.move(id, "cancelled", "injecting", "queued"))
			},
			"expire": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
				_, err := m.Expire(now)
				same(t, err, nil)
				oracle.expire(now)
			},
			"": func(t *rapid.T) { checkAgainst(t, m, oracle) },
		})
		if ends, last := countEnds(t, log), log.Last(); last > 0 && ends != countTerminal(oracle) {
			t.Fatalf("%d terminal events for %d ended messages", ends, countTerminal(oracle))
		}
	})
}

func checkAgainst(t *rapid.T, m *Mailbox, oracle *model) {
	var got []string
	for _, msg := range m.Heads(m.Len()) {
		got = append(got, msg.ID)
	}
	want := oracle.order()
	if !slices.Equal(got, want) {
		t.Fatalf("waiting: got %v, want %v", got, want)
	}
	got = nil
	for _, p := range m.Pending() {
		got = append(got, p.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("pending: got %v, want %v", got, want)
	}
	if m.Len() != len(want) {
		t.Fatalf("Len: got %d, want %d", m.Len(), len(want))
	}
	for _, e := range oracle.all {
		r, err := m.Query(e.msg.ID)
		if err != nil || r.Status != e.status {
			t.Fatalf("%s: got %s (%v), want %s", e.msg.ID, r.Status, err, e.status)
		}
		if m.Wanted(e.msg.ID) != oracle.wanted(e.msg.ID) {
			t.Fatalf("%s: cancelling wanted %v", e.msg.ID, m.Wanted(e.msg.ID))
		}
		if e.status == "queued" && r.Position != slices.Index(want, e.msg.ID)+1 {
			t.Fatalf("%s: at %d of %v", e.msg.ID, r.Position, want)
		}
	}
}

func countTerminal(o *model) (n int) {
	for _, e := range o.all {
		if protocol.Terminal(e.status) {
			n++
		}
	}
	return n
}

func countEnds(t *rapid.T, log *Outbox) (n int) {
	f, err := log.Follow(0)
	must(t, err)
	entries, err := f.Next(keepEvents)
	must(t, err)
	for i, e := range entries {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has seq %d", i+1, e.Seq)
		}
		if e.Type == "inject_result" && protocol.Terminal(statusIn(e.Frame)) {
			n++
		}
	}
	return n
}
