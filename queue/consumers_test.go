package queue

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relay-pty/protocol"
)

// disk is a sink that keeps the records, as a journal does.
type disk struct {
	*Outbox
	records map[string]Record
	order   []string
}

func (d *disk) keep(proposals ...Proposal) {
	for _, draft := range proposals {
		if r := draft.Record; r != nil {
			if _, known := d.records[r.ID]; !known {
				d.order = append(d.order, r.ID)
			}
			d.records[r.ID] = *r
		}
	}
}

func (d *disk) Append(now time.Time, draft Proposal) error {
	err := d.Outbox.Append(now, draft)
	d.keep(draft)
	return err
}

func (d *disk) Propose(now time.Time, proposals ...Proposal) (func() error, error) {
	_, err := d.Outbox.Propose(now, proposals...)
	d.keep(proposals...)
	return func() error { return nil }, err // on disk, but whoever proposed it waits for a moment
}

// Find does not tell of live messages.
func (d *disk) Find(id string) (Record, bool) {
	r, ok := d.records[id]
	return r, ok && !r.Live()
}

// world is an agent that gets messages typed and pulled, with what it got.
type world struct {
	box    *Mailbox
	disk   *disk
	now    time.Time
	sent   int
	typed  string            // the message that the typist is at
	once   map[string]bool   // whose sender wants it tried once more when it is in doubt
	held   map[string]bool   // what consumers that live have been given
	got    map[string][]bool // what the agent got; true: with a mark
	logged map[string]bool   // what its log shows
	reads  func(string) bool // whether a hand-over reaches the agent
	fatal  func(string, ...any)
}

// hand gives a message to the agent, by whatever way, or it is lost on the way.
func (w *world) hand(id string, marked bool) {
	if w.logged[id] {
		w.fatal("%s is given again, and the agent's log shows it", id)
	}
	if w.reads("reaches the agent") {
		w.got[id] = append(w.got[id], marked)
		if w.reads("is logged") {
			w.logged[id] = true
		}
	}
}

func (w *world) must(err error) {
	if err != nil {
		w.fatal("%v", err)
	}
}

func (w *world) send(redelivery string) {
	w.sent++
	msg := message(fmt.Sprint("m", w.sent))
	msg.Redelivery, w.once[msg.ID] = redelivery, redelivery == protocol.RedeliverOnce
	if _, _, err := w.box.Enqueue(msg, w.now); err != ErrFull {
		w.must(err)
	}
}

// typist begins, or ends, an attempt of the one who types.
func (w *world) typist(evidence, withdraw bool) {
	if w.typed == "" {
		if heads := w.box.Heads(1); len(heads) > 0 {
			w.typed = heads[0].ID
			w.must(w.box.Take(w.now, w.typed))
		}
		return
	}
	id := w.typed
	w.typed = ""
	if withdraw {
		w.must(w.box.Return(id, w.now))
		return
	}
	before := len(w.got[id])
	w.hand(id, w.disk.records[id].Again)
	out := Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{Code: "x"}}
	if len(w.got[id]) > before && evidence {
		out = Outcome{Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn}
	}
	w.must(w.box.Finish(id, out, w.now))
}

// consumer pulls, dies before it read anything, or hands over what it pulled.
func (w *world) consumer(most int, dies bool) {
	msgs, err := w.box.Lease(w.now, asking(most, protocol.Modes()))
	w.must(err)
	if dies {
		w.must(w.box.GiveBack(w.now, msgs))
		return
	}
	for _, msg := range msgs {
		before := len(w.got[msg.ID])
		w.hand(msg.ID, msg.Again)
		w.held[msg.ID] = len(w.got[msg.ID]) > before
	}
}

// ack is a consumer's, for what it knows the agent to have; it may come late.
func (w *world) ack() {
	for _, id := range slices.Sorted(maps.Keys(w.held)) {
		if !w.held[id] {
			continue
		}
		if _, err := w.box.Ack(w.now, id); err != nil && err != ErrState {
			w.fatal("acknowledge %s: %v", id, err)
		}
		delete(w.held, id)
		return
	}
}

// over ends the leases.
func (w *world) over() {
	for _, l := range w.box.Lent() {
		w.must(w.box.Settle(l, w.logged[l.ID], w.now))
	}
}

// restart kills the wrapper, and another one goes on with what is on disk.
func (w *world) restart() {
	w.typed, w.held = "", map[string]bool{}
	var live []Record
	for _, id := range w.disk.order {
		if r := w.disk.records[id]; r.Live() {
			live = append(live, r)
		}
	}
	box, err := New(Config{}, w.disk)
	w.must(err)
	w.box = box
	for _, msg := range box.Restore(live) {
		switch {
		case w.logged[msg.ID]:
			w.must(box.Finish(msg.ID, Outcome{Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn}, w.now))
		case msg.Redelivery == protocol.RedeliverOnce && !msg.Again:
			w.must(box.Again(msg.ID, w.now))
		default:
			w.must(box.Finish(msg.ID, Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{Code: "x"}}, w.now))
		}
	}
}

// drain lets the typist have the rest.
func (w *world) drain() {
	w.reads = func(string) bool { return true }
	for w.over(); w.typed != "" || w.box.Len() > 0; {
		w.typist(true, false)
	}
}

// check holds the books together: nothing lost, and nothing twice without a mark.
func (w *world) check() {
	for _, id := range w.disk.order {
		r, got := w.disk.records[id], w.got[id]
		if r.Live() {
			w.fatal("%s has not ended: %s", id, r.Status)
		}
		if n := len(got); n > 2 || n == 2 && (got[0] || !got[1]) {
			w.fatal("%s came to the agent %d times, marked %v", id, n, got)
		}
		if len(got) > 1 && !w.once[id] {
			w.fatal("%s came twice, which its sender did not want", id)
		}
		if r.Status == protocol.StatusDelivered && len(got) == 0 {
			w.fatal("%s is delivered, and the agent never got it", id)
		}
		if r.Status != protocol.StatusDelivered && r.Status != protocol.StatusUnknown {
			w.fatal("%s ended as %s", id, r.Status)
		}
	}
	ends := map[string]int{}
	f, err := w.disk.Follow(0)
	w.must(err)
	for entries, _ := f.Next(64); len(entries) > 0; entries, _ = f.Next(64) {
		for _, e := range entries {
			if e.End {
				ends[e.About]++
			}
		}
	}
	for _, id := range w.disk.order {
		if ends[id] != 1 {
			w.fatal("%s ended %d times", id, ends[id])
		}
	}
}

// TestTypistAndConsumers: whoever gets a message, whoever dies, and whenever the wrapper is
// killed, no message is lost, and none comes twice without a mark.
func TestTypistAndConsumers(t *testing.T) {
	ends := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		d := &disk{Outbox: NewOutbox(), records: map[string]Record{}}
		w := &world{disk: d, now: t0, once: map[string]bool{}, held: map[string]bool{}, got: map[string][]bool{}, logged: map[string]bool{},
			reads: func(what string) bool { return rapid.Bool().Draw(t, what) }, fatal: t.Fatalf}
		w.restart()
		t.Repeat(map[string]func(*rapid.T){
			"send":     func(t *rapid.T) { w.send(rapid.SampledFrom([]string{"never", "once"}).Draw(t, "redelivery")) },
			"typist":   func(t *rapid.T) { w.typist(rapid.Bool().Draw(t, "evidence"), rapid.Bool().Draw(t, "withdraw")) },
			"consumer": func(t *rapid.T) { w.consumer(rapid.IntRange(1, 3).Draw(t, "most"), rapid.Bool().Draw(t, "dies")) },
			"ack":      func(*rapid.T) { w.ack() },
			"over":     func(*rapid.T) { w.over() },
			"restart":  func(*rapid.T) { w.restart() },
		})
		w.drain()
		w.check()
		for _, r := range d.records {
			ends[r.Status+" "+r.Evidence]++
		}
	})
	if !t.Failed() && !slices.ContainsFunc([]string{"delivered pulled", "delivered turn", "unknown "}, func(s string) bool { return ends[s] == 0 }) {
		t.Logf("ends: %v", ends)
		return
	}
	t.Errorf("some end was never tried: %v", ends)
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
