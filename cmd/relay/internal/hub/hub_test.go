package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
	"relay-pty/protocol/counts"
	"relay-pty/protocol/registry"
)

// ids are told one by one.
func ids() func() string {
	n := 0
	return func() string { n++; return "id" + strconv.Itoa(n) }
}

func aHub(t *testing.T, store Store) *Hub {
	t.Helper()
	h, err := New(t.Context(), store, router.Rules{}, ids())
	must(t, err)
	return h
}

func (h *Hub) mustUp(t *testing.T, name string) {
	t.Helper()
	must(t, h.Up(t.Context(), registry.Record{Name: name, Agent: "generic", PID: 1}))
}

func hi(to string) router.Message { return router.Message{From: "human", To: to, Body: "hi"} }

// inboxOf is copies of the messages to a name that have not ended.
func inboxOf(s *router.State, name string) (list []router.Known) {
	for m := range s.Inbox(name) {
		list = append(list, m.Copy())
	}
	return list
}

// status is what has become of a message.
func (h *Hub) status(id string) (status string) {
	h.View(func(s *router.State, _ func(string) bool) {
		m, _ := s.Find(id)
		status = m.Status
	})
	return status
}

func TestANewHubKnowsWhatTheOldOneDid(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "bob")
	m, err := h.Send(t.Context(), hi("bob"))
	if err != nil || m.Status != router.StatusAccepted {
		t.Fatalf("got %+v, %v", m, err)
	}
	again := aHub(t, store)
	if got := again.status(m.ID); got != router.StatusAccepted {
		t.Errorf("it is %q in the new hub", got)
	}
	must(t, again.Missed(t.Context(), func(router.Agent) bool { return false }))
	again.View(func(s *router.State, running func(string) bool) {
		if a, _ := s.Agent("bob"); a.Running || running("bob") {
			t.Error("bob runs, with nobody who said so")
		}
	})
}

// TestNothingIsWrittenAfterDoubt: an event of which it is not known whether it was written makes
// the state unfit to decide about the next one.
func TestNothingIsWrittenAfterDoubt(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "bob")
	ends := make(chan error, 1)
	go func() { ends <- h.Run(t.Context()) }()
	store.Fail(fmt.Errorf("disk: %w", disk.ErrUnclear), false)
	for range 2 {
		if _, err := h.Send(t.Context(), hi("bob")); !errors.Is(err, disk.ErrUnclear) {
			t.Errorf("got %v", err)
		}
	}
	if err := <-ends; err == nil || t.Context().Err() != nil {
		t.Errorf("Run ended with %v", err)
	}
	if store.Count(t) != 1 {
		t.Errorf("%d events were written", store.Count(t))
	}
}

func TestAFullLogRefusesAndGoesOn(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "bob")
	store.Fail(disk.ErrFull, false)
	if _, err := h.Send(t.Context(), hi("bob")); !errors.Is(err, disk.ErrFull) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Send(t.Context(), hi("bob")); err != nil {
		t.Error(err)
	}
}

// TestCommandsAreSentOnce: however often a wrapper tells a command, it is one message; one that is
// refused is told of once.
func TestCommandsAreSentOnce(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "bob")
	for _, to := range []string{"human", "nobody"} {
		e := router.Event{Type: "relay_command", Agent: "bob", Origin: &router.Origin{Epoch: "e", Seq: int64(store.Count(t))}}
		e.Message = router.Message{ID: "to-" + to, From: "bob", To: to, Body: "hi"}
		for range 3 {
			must(t, h.Command(t.Context(), e))
		}
	}
	list, _, _, err := h.Events(t.Context(), 1, 10, func(*router.Event) bool { return true })
	if err != nil || len(list) != 2 || list[0].Type != router.TypeMessage || list[1].Type != router.TypeRefused || list[1].Error.Code != router.UnknownAgent {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestEventsFromMemoryAndFromTheLog are the same.
func TestEventsFromMemoryAndFromTheLog(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	const n = 2*tailMost + 100
	page := counts.Runs(770, 100)
	for i := range n {
		e := router.Event{Type: "state", Agent: "bob", Origin: &router.Origin{Epoch: "e", Seq: int64(i + 1)}}
		must(t, h.Record(t.Context(), e))
	}
	for name, hub := range map[string]*Hub{"the one that wrote": h, "a new one": aHub(t, store)} {
		for _, after := range []int64{0, 1, tailMost, n - tailMost - 1, n - 2, n - 1, n} {
			var got []int64
			odd := func(e *router.Event) bool { return e.Seq%2 == 1 }
			for at := after; ; {
				list, upTo, oldest, err := hub.Events(t.Context(), at, page, odd)
				if err != nil || oldest != 1 {
					t.Fatalf("%s after %d: oldest %d, %v", name, at, oldest, err)
				}
				for _, e := range list {
					got = append(got, e.Seq)
				}
				if at = upTo; len(list) == 0 {
					break
				}
			}
			want := 0
			for seq := after + 1; seq <= n; seq++ {
				if seq%2 == 1 {
					if want >= len(got) || got[want] != seq {
						t.Fatalf("%s after %d: event %d is not in its place", name, after, seq)
					}
					want++
				}
			}
			if len(got) != want {
				t.Errorf("%s after %d: %d events, want %d", name, after, len(got), want)
			}
		}
	}
}

// TestExpiry: what no wrapper has got in its time ends then; what is on its way to one does not.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		h.mustUp(t, "bob")
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 1)
		go func() { ends <- h.Run(ctx) }()
		m := hi("bob")
		m.TimeoutMS = 5000
		waits, err := h.Send(t.Context(), m)
		must(t, err)
		claimed, err := h.Send(t.Context(), m)
		if err != nil || !h.Claim(claimed.ID) {
			t.Fatal(err)
		}
		time.Sleep(4999 * time.Millisecond)
		synctest.Wait()
		if got := h.status(waits.ID); got != router.StatusAccepted {
			t.Errorf("a moment before it is %s", got)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := h.status(waits.ID); got != protocol.StatusExpired {
			t.Errorf("then it is %s", got)
		}
		if h.Claim(waits.ID) {
			t.Error("it can be handed over still")
		}
		if got := h.status(claimed.ID); got != router.StatusAccepted {
			t.Errorf("what is on its way is %s", got)
		}
		if err := h.Record(t.Context(), router.Event{Type: "inject_result", Agent: "bob", Message: router.Message{ID: claimed.ID}, Result: router.Result{Status: "delivered"}}); err != nil || len(h.claimed) != 0 {
			t.Errorf("delivered: %v, and %v are held for a wrapper", err, h.claimed)
		}
		cancel()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
}

// TestOldAndNewWrapper: when the new wrapper of a name is there before the end of the old one was
// noticed, the agent runs.
func TestOldAndNewWrapper(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	h.mustUp(t, "bob")
	must(t, h.Up(t.Context(), registry.Record{Name: "bob", Agent: "generic", PID: 2}))
	for i, runs := range []bool{true, false} {
		must(t, h.Down(t.Context(), "bob", false))
		h.View(func(s *router.State, running func(string) bool) {
			if a, _ := s.Agent("bob"); a.Running != runs || running("bob") != runs {
				t.Errorf("after %d ends: runs %v and %v, want %v", i+1, a.Running, running("bob"), runs)
			}
		})
	}
	if !h.Idle() {
		t.Error("it is not idle")
	}
}

// TestReaders: what a reader takes is nobody else's until it says that it has it, or half a minute
// is over.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		h.mustUp(t, "bob")
		var sent []string
		for range 3 {
			m, err := h.Send(t.Context(), router.Message{From: "bob", To: "human", Body: "hi"})
			must(t, err)
			sent = append(sent, m.ID)
		}
		ids := func(list []router.Known) (ids []string) {
			for _, m := range list {
				ids = append(ids, m.ID)
			}
			return ids
		}
		if got := ids(h.Lease(t.Context(), "human", 2)); !slices.Equal(got, sent[:2]) {
			t.Errorf("took %v", got)
		}
		if got := ids(h.Lease(t.Context(), "human", 2)); !slices.Equal(got, sent[2:]) {
			t.Errorf("the next one took %v", got)
		}
		if holder, err := h.Cancel(t.Context(), sent[1]); holder != "human" || err != nil || h.Claim(sent[1]) {
			t.Errorf("what is taken can be cancelled or handed over: %q, %v", holder, err)
		}
		must(t, h.Acknowledge(t.Context(), "human", append(sent[:1:1], "none")))
		time.Sleep(leaseEnd)
		synctest.Wait()
		if got := ids(h.Lease(t.Context(), "human", 10)); !slices.Equal(got, sent[1:]) {
			t.Errorf("after half a minute there is %v", got)
		}
		if err := h.Acknowledge(t.Context(), "bob", sent); err != nil || h.status(sent[1]) != router.StatusAccepted {
			t.Errorf("acknowledged by another one it is %s, %v", h.status(sent[1]), err)
		}
		time.Sleep(leaseEnd)
		synctest.Wait()
		if !h.Claim(sent[2]) {
			t.Error("what no reader has any more cannot be handed over")
		}
		if err := h.Acknowledge(t.Context(), "human", sent[1:]); err != nil || h.status(sent[1]) != protocol.StatusDelivered {
			t.Errorf("acknowledged after the lease it is %s, %v", h.status(sent[1]), err)
		}
		if got := h.status(sent[2]); got != router.StatusAccepted {
			t.Errorf("what is on its way to a wrapper is %s", got)
		}
		if err := h.Acknowledge(t.Context(), "human", sent[:2]); err != nil || len(h.leased) != 1 {
			t.Errorf("acknowledged again: %v; what is kept of leases is %v", err, h.leased)
		}
		if got := h.status(sent[0]); got != protocol.StatusDelivered {
			t.Errorf("what was read is %s", got)
		}
	})
}

// TestCancel: what waits here ends at once, what a wrapper may have does not, and what was typed
// or has ended is not taken back.
func TestCancel(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	h.mustUp(t, "bob")
	waits, err := h.Send(t.Context(), hi("bob"))
	must(t, err)
	if holder, err := h.Cancel(t.Context(), waits.ID); holder != "" || err != nil || h.status(waits.ID) != protocol.StatusCancelled {
		t.Errorf("got %q, %v, and it is %s", holder, err, h.status(waits.ID))
	}
	if h.Claim(waits.ID) {
		t.Error("it is handed over all the same")
	}
	claimed, err := h.Send(t.Context(), hi("bob"))
	if err != nil || !h.Claim(claimed.ID) {
		t.Fatal(err)
	}
	if holder, err := h.Cancel(t.Context(), claimed.ID); holder != "bob" || err != nil {
		t.Errorf("what is on its way: %q, %v", holder, err)
	}
	typed := router.Event{Type: protocol.TypeInjectResult, Agent: "bob", Message: router.Message{ID: claimed.ID}}
	typed.Status = protocol.StatusInjecting
	must(t, h.Record(t.Context(), typed))
	must(t, h.Down(t.Context(), "bob", true))
	for id, want := range map[string]protocol.Code{claimed.ID: protocol.TooLate, "none": protocol.UnknownID} {
		holder, err := h.Cancel(t.Context(), id)
		if refused := (*router.ErrorValue)(nil); holder != "" || !errors.As(err, &refused) || refused.Code != string(want) {
			t.Errorf("%s: %q, %v, want %s", id, holder, err, want)
		}
	}
	typed.Status = protocol.StatusDelivered
	must(t, h.Record(t.Context(), typed))
	if _, err := h.Cancel(t.Context(), claimed.ID); err == nil || !strings.Contains(err.Error(), "is delivered") {
		t.Errorf("what has ended: %v", err)
	}
	if holder, err := h.Cancel(t.Context(), waits.ID); holder != "" || err != nil {
		t.Errorf("what is cancelled: %q, %v", holder, err)
	}
}

// TestLifeOfAMessage is its events and those of its answers, and no others.
func TestLifeOfAMessage(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	h.mustUp(t, "bob")
	m, err := h.Send(t.Context(), hi("bob"))
	must(t, err)
	for _, e := range []router.Event{
		m.Outcome(router.Result{Status: protocol.StatusQueued}), {Type: "state", Agent: "bob"}, m.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: "turn"}),
	} {
		must(t, h.Record(t.Context(), e))
	}
	if _, err := h.Send(t.Context(), router.Message{From: "bob", To: "human", Body: "yes", ReplyTo: m.ID}); err != nil {
		t.Fatal(err)
	}
	var known router.Known
	h.View(func(s *router.State, _ func(string) bool) { known, _ = s.Find(m.ID) })
	list, err := h.Life(t.Context(), known)
	must(t, err)
	got := ""
	for _, e := range list {
		got += fmt.Sprintf("%s:%s ", e.Type, e.Status)
	}
	if want := "message: inject_result:queued inject_result:delivered message: "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWrapperWhoseAgentTurnsOut: the kind of a wrapper that runs changes, its state does not.
// Nothing is told any more of one that has ended.
func TestWrapperWhoseAgentTurnsOut(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "bob")
	is := registry.Record{Name: "bob", Agent: "claude", PID: 1}
	for _, c := range []struct {
		record registry.Record
		kind   string
		events int
	}{
		{registry.Record{Name: "bob", Agent: "generic", PID: 1}, "generic", 1}, {is, "claude", 2}, {is, "claude", 2},
		{registry.Record{Name: "bob", Agent: "codex", PID: 2}, "claude", 2},
	} {
		must(t, h.Known(t.Context(), c.record))
		h.View(func(s *router.State, running func(string) bool) {
			if a, _ := s.Agent("bob"); a.Profile != c.kind || !a.Running || !running("bob") || store.Count(t) != c.events {
				t.Errorf("after %+v: %+v, %d events", c.record, a, store.Count(t))
			}
		})
	}
	must(t, h.Down(t.Context(), "bob", false))
	must(t, h.Known(t.Context(), registry.Record{Name: "bob", Agent: "codex", PID: 1}))
	if store.Count(t) != 3 {
		t.Errorf("of one that has ended %d events tell", store.Count(t))
	}
}
