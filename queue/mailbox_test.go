package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/protocol"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newMailbox(t *testing.T, cfg Config) (*Mailbox, *Outbox) {
	t.Helper()
	log := NewOutbox()
	m, err := New(cfg, log)
	must(t, err)
	return m, log
}

func message(id string) Message {
	return Message{ID: id, From: "bob", Body: "body of " + id, Mode: protocol.ModeSequential, Kind: protocol.KindMessage, Redelivery: protocol.RedeliverNever}
}

func enqueue(t *testing.T, m *Mailbox, msgs ...Message) {
	t.Helper()
	for _, msg := range msgs {
		if _, known, err := m.Enqueue(msg, t0); known || err != nil {
			t.Fatalf("Enqueue(%s) = known %v, %v", msg.ID, known, err)
		}
	}
}

// history is the log in short: "queued a", "waiting a draft", …
func history(t *testing.T, log *Outbox) []string {
	t.Helper()
	f, err := log.Follow(0)
	must(t, err)
	defer f.Close()
	entries, err := f.Next(keepEvents)
	must(t, err)
	var lines []string
	for _, e := range entries {
		lines = append(lines, string(e.Frame))
	}
	return lines
}

// wantHistory checks that the events hold the given pieces, one event each, in order.
func wantHistory(t *testing.T, log *Outbox, want ...string) {
	t.Helper()
	got := history(t, log)
	if len(got) != len(want) {
		t.Fatalf("got %d events, want %d:\n%s", len(got), len(want), strings.Join(got, ""))
	}
	for i := range want {
		for piece := range strings.FieldsSeq(want[i]) {
			if !strings.Contains(got[i], piece) {
				t.Errorf("event %d: got %s, want %s", i+1, got[i], piece)
			}
		}
	}
}

func ids(m *Mailbox) string {
	var s []string
	for _, msg := range m.Heads(m.Len()) {
		s = append(s, msg.ID)
	}
	return strings.Join(s, " ")
}

func TestOrder(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	put := func(id, mode string, priority int64) {
		msg := message(id)
		msg.Mode, msg.Priority = mode, priority
		enqueue(t, m, msg)
	}
	put("s0", protocol.ModeSequential, 0)
	put("s1", protocol.ModeSequential, 0)
	put("s-1", protocol.ModeSequential, -1)
	put("i9", protocol.ModeImportant, 9)
	put("u5", protocol.ModeUrgent, 5)
	put("u4", protocol.ModeUrgent, 4)
	put("i8", protocol.ModeImportant, 8)
	put("s2", protocol.ModeSequential, 0)
	if got, want := ids(m), "u4 u5 i8 i9 s-1 s0 s1 s2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r, err := m.Query("s0"); err != nil || r.Position != 6 {
		t.Errorf("s0 is at %+v (%v), want 6", r.Queued, err)
	}
}

func TestLifeOfAMessage(t *testing.T) {
	m, log := newMailbox(t, Config{})
	must(t, m.WaitsFor("ready", t0))
	enqueue(t, m, message("a"), message("b"))
	check := func(err error) { t.Helper(); must(t, err) }
	check(m.WaitsFor("", t0))
	check(m.WaitsFor("", t0))
	check(m.Take(t0, "a"))
	check(m.WaitsFor("human", t0))
	check(m.Return("a", t0))
	if r, _ := m.Query("a"); r.Status != "queued" || r.Position != 1 || r.WaitingFor != "human" || r.Attempt != 1 || r.Seq != 6 {
		t.Errorf("after Return: %+v", r)
	}
	err := m.Take(t0, "a")
	check(err)
	check(m.Finish("a", Outcome{Status: "delivered", Evidence: "turn"}, t0))
	check(m.Finish("b", Outcome{Status: "failed", Fault: &protocol.Fault{Code: "dialog"}}, t0))
	wantHistory(t, log,
		`"inject_result" "seq":1 "id":"a" "queued" "queue_position":1 "durable":false "waiting_for":"ready"`,
		`"inject_result" "id":"b" "queued" "queue_position":2`,
		`"waiting" "id":"a" "waiting_for":null`,
		`"id":"a" "injecting" "attempt":1`,
		`"waiting" "id":"b" "waiting_for":"human"`,
		`"waiting" "id":"a" "waiting_for":"human"`,
		`"id":"a" "injecting" "attempt":2`,
		`"id":"a" "delivered" "attempt":2 "evidence":"turn"`,
		`"id":"b" "failed" "error":{"code":"dialog"`)
	if r, _ := m.Query("a"); r.Status != "delivered" || r.Seq != 8 || r.Evidence != "turn" || r.Attempt != 2 {
		t.Errorf("at the end: %+v", r)
	}
}

func TestEachEndOnce(t *testing.T) {
	waiting := func(m *Mailbox) {}
	taken := func(m *Mailbox) { m.Take(t0, "a") }
	ended := func(m *Mailbox) { m.Take(t0, "a"); m.Finish("a", Outcome{Status: "delivered"}, t0) }
	finish := func(status string) func(*Mailbox) error {
		return func(m *Mailbox) error { return m.Finish("a", Outcome{Status: status}, t0) }
	}
	take := func(m *Mailbox) error { err := m.Take(t0, "a"); return err }
	put := func(m *Mailbox) error { return m.Return("a", t0) }
	tests := []struct {
		name  string
		given func(*Mailbox)
		do    func(*Mailbox) error
		want  error
	}{
		{"take a waiting one", waiting, take, nil},
		{"take it twice", taken, take, ErrState},
		{"take an ended one", ended, take, ErrState},
		{"return a waiting one", waiting, put, ErrState},
		{"return a taken one", taken, put, nil},
		{"return an ended one", ended, put, ErrState},
		{"deliver a waiting one", waiting, finish("delivered"), ErrState},
		{"doubt a waiting one", waiting, finish("unknown"), ErrState},
		{"fail a waiting one", waiting, finish("failed"), nil},
		{"cancel a waiting one", waiting, finish("cancelled"), nil},
		{"deliver a taken one", taken, finish("delivered"), nil},
		{"doubt a taken one", taken, finish("unknown"), nil},
		{"expire a taken one by hand", taken, finish("expired"), ErrState},
		{"finish as nothing final", taken, finish("queued"), ErrState},
		{"fail an ended one", ended, finish("failed"), ErrState},
		{"deliver an ended one", ended, finish("delivered"), ErrState},
		{"finish what never was", func(*Mailbox) {}, func(m *Mailbox) error { return m.Finish("x", Outcome{Status: "failed"}, t0) }, ErrUnknown},
		{"take what never was", func(*Mailbox) {}, func(m *Mailbox) error { err := m.Take(t0, "x"); return err }, ErrUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, log := newMailbox(t, Config{})
			enqueue(t, m, message("a"))
			tt.given(m)
			before := log.Last()
			if err := tt.do(m); err != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if tt.want != nil && log.Last() != before {
				t.Errorf("a refusal left an event: %s", history(t, log))
			}
		})
	}
}

func TestSameIDAgain(t *testing.T) {
	m, log := newMailbox(t, Config{})
	enqueue(t, m, message("a"))
	changes := map[string]func(*Message){
		"from": func(m *Message) { m.From = "eve" }, "body": func(m *Message) { m.Body += "." }, "mode": func(m *Message) { m.Mode = "urgent" },
		"kind": func(m *Message) { m.Kind = "notice" }, "redelivery": func(m *Message) { m.Redelivery = "once" }, "reply_to": func(m *Message) { m.ReplyTo = "x" },
		"thread": func(m *Message) { m.Thread = "x" }, "priority": func(m *Message) { m.Priority = 1 }, "timeout": func(m *Message) { m.Timeout = 1 },
		"fields that run together": func(m *Message) { m.From, m.Body = m.From+m.Body[:1], m.Body[1:] },
	}
	again := func(when string, now time.Time, want string) {
		t.Helper()
		before := log.Last()
		if r, known, err := m.Enqueue(message("a"), now); !known || err != nil || r.Status != want {
			t.Errorf("%s: got %+v, known %v, %v; want %s", when, r, known, err, want)
		}
		for field, change := range changes {
			msg := message("a")
			change(&msg)
			if _, _, err := m.Enqueue(msg, now); err != ErrDuplicate {
				t.Errorf("%s, other %s: got %v, want %v", when, field, err, ErrDuplicate)
			}
		}
		if log.Last() != before {
			t.Errorf("%s: the log grew", when)
		}
	}
	again("waiting", t0, "queued")
	m.Take(t0, "a")
	again("taken", t0, "injecting")
	m.Finish("a", Outcome{Status: "delivered"}, t0)
	again("ended", t0, "delivered")
	again("almost seven days later", t0.Add(Retention-1), "delivered")
	if _, known, err := m.Enqueue(message("a"), t0.Add(Retention)); known || err != nil {
		t.Errorf("after seven days: known %v, %v", known, err)
	}
}

func TestRefusedIDMayComeAgain(t *testing.T) {
	m, _ := newMailbox(t, Config{Max: 1})
	enqueue(t, m, message("a"))
	if _, _, err := m.Enqueue(message("b"), t0); err != ErrFull {
		t.Fatalf("got %v, want %v", err, ErrFull)
	}
	if _, err := m.Query("b"); err != ErrUnknown {
		t.Errorf("Query: got %v, want %v", err, ErrUnknown)
	}
	m.Take(t0, "a")
	other := message("b")
	other.Body = "something else"
	enqueue(t, m, other)
}

func TestFull(t *testing.T) {
	tests := []struct{ max, plain, all int }{{1, 1, 1}, {5, 5, 5}, {9, 9, 9}, {10, 9, 10}, {19, 18, 19}, {50, 45, 50}, {100, 90, 100}}
	for _, tt := range tests {
		m, _ := newMailbox(t, Config{Max: tt.max})
		fill := func(mode string) (n int) {
			for i := range tt.max + 1 {
				msg := message(fmt.Sprintf("%s%d", mode, i))
				msg.Mode = mode
				if _, _, err := m.Enqueue(msg, t0); err == nil {
					n++
				} else if err != ErrFull {
					t.Fatal(err)
				}
			}
			return n
		}
		if got := fill(protocol.ModeSequential) + fill(protocol.ModeImportant); got != tt.plain {
			t.Errorf("max %d: %d not urgent, want %d", tt.max, got, tt.plain)
		}
		fill(protocol.ModeUrgent)
		if got := m.Len(); got != tt.all {
			t.Errorf("max %d: %d in all, want %d", tt.max, got, tt.all)
		}
	}
}

func TestBackpressure(t *testing.T) {
	m, log := newMailbox(t, Config{Max: 10, High: 3, Low: 1})
	enqueue(t, m, message("a"), message("b"))
	if !m.Glance().Accepting {
		t.Error("pressed below the high mark")
	}
	enqueue(t, m, message("c"), message("d"))
	if m.Glance().Accepting {
		t.Error("not pressed at the high mark")
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		m.Take(t0, id)
	}
	wantHistory(t, log, `"a"`, `"b"`, `"c"`, `"backpressure" "queue_length":3 "accept":false`, `"d"`,
		`"a" "injecting"`, `"b" "injecting"`, `"c" "injecting"`, `"backpressure" "queue_length":1 "accept":true`, `"d" "injecting"`)
}

func TestConfig(t *testing.T) {
	tests := []struct {
		in, want Config
		ok       bool
	}{
		{Config{}, Config{50, 40, 20, 100_000}, true},
		{Config{Max: 1}, Config{1, 1, 0, 100_000}, true},
		{Config{Max: 10, High: 2}, Config{10, 2, 1, 100_000}, true},
		{Config{Max: -1}, Config{}, false},
		{Config{Max: 10, High: 11}, Config{}, false},
		{Config{Max: 10, High: 5, Low: 5}, Config{}, false},
		{Config{Max: 10, Low: -1}, Config{}, false},
	}
	for _, tt := range tests {
		got, err := tt.in.Filled()
		if (err == nil) != tt.ok || tt.ok && got != tt.want {
			t.Errorf("%+v: got %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if m, err := New(tt.in, NewOutbox()); (err == nil) != tt.ok || (m != nil) != tt.ok {
			t.Errorf("New(%+v) = %v, %v", tt.in, m, err)
		}
	}
}

// TestExpiresOnTime runs the loop that the mailbox expects around it.
func TestExpiresOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, log := newMailbox(t, Config{})
		start := time.Now()
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				next, _ := m.Expire(time.Now())
				var timer <-chan time.Time
				if !next.IsZero() {
					timer = time.After(time.Until(next))
				}
				select {
				case <-timer:
				case <-m.Changed():
				case <-stop:
					return
				}
			}
		}()
		for id, timeout := range map[string]time.Duration{"never": 0, "hour": time.Hour, "soon": time.Second, "taken": time.Second, "forever": 1<<63 - 1} {
			msg := message(id)
			msg.Timeout = timeout
			if _, _, err := m.Enqueue(msg, time.Now()); err != nil {
				t.Error(err)
			}
		}
		m.Take(time.Now(), "taken")
		expired := func(id string) bool { r, _ := m.Query(id); return r.Status == "expired" }
		at := func(d time.Duration, want string) {
			t.Helper()
			<-time.After(time.Until(start.Add(d)))
			synctest.Wait()
			var got []string
			for _, id := range []string{"soon", "taken", "hour", "never", "forever"} {
				if expired(id) {
					got = append(got, id)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("after %v: %v expired, want %s", d, got, want)
			}
		}
		at(time.Second-1, "")
		at(time.Second, "soon")
		at(time.Hour-1, "soon")
		m.Return("taken", time.Now()) // counted from acceptance: it is over at once
		at(time.Hour-1, "soon taken")
		at(time.Hour, "soon taken hour")
		at(24*365*time.Hour, "soon taken hour")
		close(stop)
		<-done
		if n := log.Last(); n != 5+1+1+3 {
			t.Errorf("%d events: %s", n, history(t, log))
		}
	})
}

func TestClose(t *testing.T) {
	m, log := newMailbox(t, Config{})
	enqueue(t, m, message("a"), message("b"), message("c"))
	m.Take(t0, "b")
	must(t, m.Close(protocol.Fault{Code: "agent_exited", Message: "gone"}, false, t0))
	wantHistory(t, log, `"a"`, `"b"`, `"c"`, `"b" "injecting"`, `"b" "unknown" "agent_exited"`, `"a" "failed" "agent_exited"`, `"c" "failed"`)
	if _, _, err := m.Enqueue(message("d"), t0); err != ErrClosed {
		t.Errorf("Enqueue afterwards: %v", err)
	}
	if r, known, err := m.Enqueue(message("a"), t0); !known || err != nil || r.Status != "failed" {
		t.Errorf("a known one afterwards: %+v, %v, %v", r, known, err)
	}
	if g := m.Glance(); g != (Glance{}) {
		t.Errorf("something is left: %+v", g)
	}
}

func TestRemembersAtMost(t *testing.T) {
	m, _ := newMailbox(t, Config{Remember: 3})
	for i := range 6 {
		id := fmt.Sprint(i)
		enqueue(t, m, message(id))
		m.Finish(id, Outcome{Status: "cancelled"}, t0)
	}
	enqueue(t, m, message("live"))
	var known []string
	for i := range 6 {
		if _, err := m.Query(fmt.Sprint(i)); err == nil {
			known = append(known, fmt.Sprint(i))
		}
	}
	if got, want := strings.Join(known, " "), "3 4 5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(m.items) != 4 {
		t.Errorf("%d items, want 4", len(m.items))
	}
}

func TestGlance(t *testing.T) {
	m, _ := newMailbox(t, Config{})
	m.WaitsFor("draft", t0)
	if got, want := m.Glance(), (Glance{Accepting: true}); got != want {
		t.Errorf("of an empty one got %+v, want %+v", got, want)
	}
	for i, id := range []string{"a", "b", "c"} {
		msg := message(id)
		msg.Priority = -int64(i)
		m.Enqueue(msg, t0.Add(time.Duration(i)*time.Second))
	}
	m.Take(t0, "b")
	m.Finish("a", Outcome{Status: "failed"}, t0)
	want := Glance{Waiting: 1, WaitingFor: "draft", Injecting: "b", Oldest: t0.Add(time.Second), Accepting: true}
	if got := m.Glance(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	m.Take(t0, "c")
	want = Glance{Injecting: "c", Oldest: want.Oldest, Accepting: true}
	if got := m.Glance(); got != want {
		t.Errorf("with two attempts got %+v, want %+v", got, want)
	}
}

type fullDisk struct{ on bool }

var errDisk = errors.New("disk full")

func (d *fullDisk) Append(time.Time, Proposal) error {
	if d.on {
		return errDisk
	}
	return nil
}

func (d *fullDisk) Propose(now time.Time, proposals ...Proposal) (func() error, error) {
	return nil, d.Append(now, proposals[0])
}

func (d *fullDisk) Find(string) (Record, bool) { return Record{}, false }
func (d *fullDisk) Durable() bool              { return false }

// TestSinkRefuses: what cannot be recorded was not accepted and not begun; an end stands.
func TestSinkRefuses(t *testing.T) {
	disk := &fullDisk{}
	m, err := New(Config{}, disk)
	must(t, err)
	enqueue(t, m, message("a"))
	disk.on = true
	if _, _, err := m.Enqueue(message("b"), t0); !errors.Is(err, errDisk) || m.Len() != 1 {
		t.Errorf("Enqueue: %v, %d waiting", err, m.Len())
	}
	if err := m.Take(t0, "a"); !errors.Is(err, errDisk) || ids(m) != "a" {
		t.Errorf("Take: %v, %q waiting", err, ids(m))
	}
	if err := m.Finish("a", Outcome{Status: "cancelled"}, t0); !errors.Is(err, errDisk) || m.Len() != 0 {
		t.Errorf("Finish: %v, %d waiting", err, m.Len())
	}
	disk.on = false
	enqueue(t, m, message("b"))
	if err := m.Take(t0, "b"); err != nil {
		t.Errorf("Take: %v", err)
	}
}

// TestManySenders: with an injector at work, every accepted message ends exactly once.
func TestManySenders(t *testing.T) {
	m, log := newMailbox(t, Config{Max: 20})
	const senders, each = 8, 60
	follower, err := log.Follow(0)
	must(t, err)
	var sending, injecting sync.WaitGroup
	stop := make(chan struct{})
	injecting.Go(func() {
		for {
			if heads := m.Heads(1); len(heads) > 0 {
				id := heads[0].ID
				if err := m.Take(t0, id); err == nil {
					m.Finish(id, Outcome{Status: "delivered", Evidence: "turn"}, t0)
				}
				continue
			}
			select {
			case <-m.Changed():
			case <-stop:
				return
			}
		}
	})
	for s := range senders {
		sending.Go(func() {
			for i := 0; i < each; {
				switch _, _, err := m.Enqueue(message(fmt.Sprintf("%d-%d", s, i)), t0); err {
				case nil:
					i++
				case ErrFull: // again
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	sending.Wait()
	seen := map[string][]string{}
	for ends := 0; ends < senders*each; {
		entries, err := follower.Next(100)
		must(t, err)
		if len(entries) == 0 {
			<-follower.Wake()
		}
		for _, e := range entries {
			for _, status := range []string{"queued", "injecting", "delivered"} {
				if strings.Contains(string(e.Frame), `"`+status+`"`) {
					seen[e.About] = append(seen[e.About], status)
					if status == "delivered" {
						ends++
					}
				}
			}
		}
	}
	close(stop)
	injecting.Wait()
	for id, got := range seen {
		if id != "" && !slices.Equal(got, []string{"queued", "injecting", "delivered"}) {
			t.Errorf("%s: %v", id, got)
		}
	}
}
