package hub

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
)

// channelModel is who is in a channel, and what each name got, as a child would keep it.
type channelModel struct {
	members map[string]bool
	got     map[string][]string
}

// TestFanOutOverCrashes: whatever joins, leaves and sends there are, and wherever the router dies
// between two events, each member but the sender gets each message once, in order, and nobody else
// gets any.
func TestFanOutOverCrashes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		store := storerig.Open(t, "")
		var h *Hub
		start := func() {
			var err error
			if h, err = New(t.Context(), store, router.Rules{}, ids()); err != nil {
				r.Fatal(err)
			}
		}
		start()
		name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		model := channelModel{map[string]bool{}, map[string][]string{}}
		sent := 0
		// again does what a client does whose router died: it asks the next one the same thing.
		again := func(do func() error) {
			if rapid.Float64Range(0, 1).Draw(r, "luck") < 0.3 {
				store.Fail(disk.ErrUnclear, rapid.Bool().Draw(r, "written"))
			}
			err := do()
			store.Fail(nil, false)
			if errors.Is(err, disk.ErrUnclear) {
				start()
				err = do()
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"join": func(r *rapid.T) {
				who := name.Draw(r, "who")
				again(func() error { _, err := h.Member(t.Context(), who, "#x", true); return err })
				model.members[who] = true
			},
			"leave": func(r *rapid.T) {
				who := name.Draw(r, "who")
				again(func() error { _, err := h.Member(t.Context(), who, "#x", false); return err })
				delete(model.members, who)
			},
			"send": func(r *rapid.T) {
				from := name.Draw(r, "from")
				to := maps.Clone(model.members)
				delete(to, from)
				if len(to) == 0 || sent >= 25 {
					return
				}
				sent++
				m := router.Message{ID: "m" + strconv.Itoa(sent), From: from, To: "#x", Body: "hi"}
				again(func() error { _, err := h.Send(t.Context(), m); return err })
				for who := range to {
					model.got[who] = append(model.got[who], router.DeliveryID(m.ID, who))
				}
			},
			"": func(r *rapid.T) {
				h.View(func(s *router.State, _ func(string) bool) {
					if got, want := s.Members("#x"), slices.Sorted(maps.Keys(model.members)); !slices.Equal(got, want) {
						r.Fatalf("in the channel are %v, want %v", got, want)
					}
					for _, who := range []string{"a", "b", "c", "d"} {
						var got []string
						for _, m := range inboxOf(s, who) {
							got = append(got, m.ID)
						}
						if !slices.Equal(got, model.got[who]) {
							r.Fatalf("%s got %v, want %v", who, got, model.got[who])
						}
					}
				})
			},
		})
	})
}

// TestToAll: a message to all is for those that run, but for its sender, and none of it is for who
// comes later.
func TestToAll(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	if _, err := h.Send(t.Context(), hi(router.All)); err == nil || store.Count(t) != 0 {
		t.Errorf("to nobody: %v, and %d events", err, store.Count(t))
	}
	for _, name := range []string{"a", "b", "gone"} {
		h.mustUp(t, name)
	}
	must(t, h.Down(t.Context(), "gone", false))
	m, err := h.Send(t.Context(), router.Message{ID: "m", From: "a", To: "room", Body: "hi"})
	if err != nil || m.To != router.All || len(m.Deliveries) != 1 || m.Deliveries[0].ID != "m:b" || m.Status != router.StatusAccepted {
		t.Fatalf("got %+v, %v", m, err)
	}
	h.mustUp(t, "late")
	if again, err := h.Send(t.Context(), router.Message{ID: "m", From: "a", To: "*", Body: "hi"}); err != nil || len(again.Deliveries) != 1 {
		t.Errorf("sent again: %+v, %v", again, err)
	}
}

// TestProveManyAgents: more than ten recipients are to be confirmed, and a marker cannot.
func TestProveManyAgents(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	for i := range 11 {
		if _, err := h.Member(t.Context(), "n"+strconv.Itoa(i), "#x", true); err != nil {
			t.Fatal(err)
		}
	}
	send := func(m router.Message) string {
		_, err := h.Send(t.Context(), m)
		var refused *router.ErrorValue
		if errors.As(err, &refused) {
			return refused.Code
		}
		return ""
	}
	if code := send(router.Message{From: "human", To: "#x", Body: "hi"}); code != router.Confirm {
		t.Errorf("to eleven: %q", code)
	}
	if code := send(router.Message{From: "n0", To: "#x", Body: "hi"}); code != "" {
		t.Errorf("to ten: %q", code)
	}
	if code := send(router.Message{From: "human", To: "#x", Body: "hi", Confirmed: true}); code != "" {
		t.Errorf("confirmed: %q", code)
	}
	e := router.Event{Type: "relay_command", Agent: "bob", Origin: &router.Origin{Epoch: "e", Seq: 1}}
	e.Message = router.Message{ID: "c", From: "bob", To: "#x", Body: "hi", Source: "log"}
	must(t, h.Command(t.Context(), e))
	list, _, _, err := h.Events(t.Context(), 0, 100, func(e *router.Event) bool { return e.Type == router.TypeRefused })
	if err != nil || len(list) != 1 || list[0].Error.Code != router.Confirm || !strings.Contains(list[0].Error.Message, "--yes") {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestTogether is what a message to several has become when its deliveries have become that.
func TestTogether(t *testing.T) {
	for name, c := range map[string]struct {
		b, c []string
		want string
	}{
		"nothing was heard":               {nil, nil, "accepted"},
		"one has it queued":               {[]string{"queued"}, nil, "accepted"},
		"both have":                       {[]string{"queued"}, []string{"queued", "injecting"}, "queued"},
		"one got it":                      {[]string{"delivered"}, []string{"queued"}, "queued"},
		"both got it":                     {[]string{"delivered"}, []string{"delivered"}, "delivered"},
		"one failed, the other waits":     {[]string{"failed"}, nil, "accepted"},
		"one failed, the other got it":    {[]string{"failed"}, []string{"delivered"}, "failed"},
		"one answered, the other waits":   {[]string{"delivered", "reply"}, nil, "accepted"},
		"one answered, the other got it":  {[]string{"delivered", "reply"}, []string{"delivered"}, "replied"},
		"nobody knows, and one failed":    {[]string{"unknown"}, []string{"failed"}, "failed"},
		"one expired, the other answered": {[]string{"expired"}, []string{"delivered", "reply"}, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			h := aHub(t, storerig.Open(t, ""))
			for _, who := range []string{"b", "c"} {
				h.mustUp(t, who)
			}
			m, err := h.Send(t.Context(), hi(router.All))
			must(t, err)
			for who, steps := range map[string][]string{"b": c.b, "c": c.c} {
				id := router.DeliveryID(m.ID, who)
				for _, step := range steps {
					if step == "reply" { // it may name the message as all know it
						_, err = h.Send(t.Context(), router.Message{From: who, To: "human", Body: "yes", ReplyTo: m.ID})
					} else {
						err = h.Record(t.Context(), router.Known{Message: router.Message{ID: id, To: who}}.Outcome(router.Result{Status: step}))
					}
					must(t, err)
				}
			}
			if got := h.status(m.ID); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestGuardsOfFanOut: each recipient counts for its pair, and a message to several goes to all or
// to none.
func TestGuardsOfFanOut(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	for _, who := range []string{"a", "b", "c", "d"} {
		h.mustUp(t, who)
	}
	refused := func(m router.Message) *router.ErrorValue {
		_, err := h.Send(t.Context(), m)
		var e *router.ErrorValue
		errors.As(err, &e)
		return e
	}
	for range 30 {
		if e := refused(router.Message{From: "ci", To: "b", Body: "hi"}); e != nil {
			t.Fatal(e)
		}
	}
	if e := refused(router.Message{From: "ci", To: "*", Body: "hi"}); e == nil || e.Code != router.RateLimited || !strings.Contains(e.Message, " to b ") {
		t.Errorf("to all, one of whom gets no more: %v", e)
	}
	if n := len(inbox(h, "a")); n != 0 {
		t.Errorf("a got %d messages of what was refused", n)
	}
}

func inbox(h *Hub, name string) (list []router.Known) {
	h.View(func(s *router.State, _ func(string) bool) { list = inboxOf(s, name) })
	return list
}

// TestLifeOfAMessageToSeveral is what happened to it with all of them, and with each what happened
// there.
func TestLifeOfAMessageToSeveral(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	for _, who := range []string{"b", "c"} {
		h.mustUp(t, who)
	}
	m, err := h.Send(t.Context(), router.Message{ID: "m", From: "human", To: "*", Body: "hi"})
	must(t, err)
	for _, who := range []string{"b", "c"} {
		one := router.Known{Message: router.Message{ID: router.DeliveryID(m.ID, who), To: who}}
		must(t, h.Record(t.Context(), one.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: "turn"})))
	}
	life := func(id string) (got string) {
		var known router.Known
		h.View(func(s *router.State, _ func(string) bool) { known, _ = s.Find(id) })
		list, err := h.Life(t.Context(), known)
		must(t, err)
		for _, e := range list {
			got += e.Type + " " + e.ID + ";"
		}
		return got
	}
	if got, want := life("m"), "message m;inject_result m:b;inject_result m:c;"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := life("m:b"), "message m;inject_result m:b;"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMembersAreKnownWhileTheyAreHeardOf, over starts of the router; a person always.
func TestMembersAreKnownWhileTheyAreHeardOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		store := storerig.Open(t, "")
		start := func() (h *Hub, stop func()) {
			h, err := New(t.Context(), store, router.Rules{}, ids())
			must(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			ends := make(chan error, 1)
			go func() { ends <- h.Run(ctx) }()
			return h, func() { cancel(); <-ends }
		}
		h, stop := start()
		for _, name := range []string{"ann", "gone", "human"} {
			if _, err := h.Member(t.Context(), name, "#x", true); err != nil {
				t.Fatal(err)
			}
		}
		members := func() (list []string) {
			h.View(func(s *router.State, _ func(string) bool) { list = s.Members("#x") })
			return list
		}
		for i := range 100 { // ann is heard of every day
			time.Sleep(day)
			synctest.Wait()
			must(t, h.Record(t.Context(), router.Event{Type: "state", Agent: "ann"}))
			if i%10 == 0 {
				stop()
				h, stop = start()
			}
			want := []string{"ann", "gone", "human"}
			if i+1 >= 30 {
				want = []string{"ann", "human"}
			}
			if got := members(); !slices.Equal(got, want) {
				t.Fatalf("on day %d in the channel are %v, want %v", i+1, got, want)
			}
		}
		stop()
	})
}

// TestRulesOfFanOut: where agents may not write to agents they may not by a channel; only some
// interrupt by one.
func TestRulesOfFanOut(t *testing.T) {
	h := aHub(t, storerig.Open(t, ""))
	h.state.Rules = router.Rules{NoDirect: true, Urgent: []string{"human"}}
	for _, name := range []string{"a", "b"} {
		h.mustUp(t, name)
		if _, err := h.Member(t.Context(), name, "#x", true); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.Send(t.Context(), router.Message{From: "a", To: "#x", Body: "hi"})
	var refused *router.ErrorValue
	if !errors.As(err, &refused) || refused.Code != string(protocol.NotAuthorized) {
		t.Errorf("from agent to agent: %v", err)
	}
	for from, mode := range map[string]string{"human": protocol.ModeUrgent, "ci": protocol.ModeImportant} {
		m, err := h.Send(t.Context(), router.Message{From: from, To: "#x", Body: "hi", Mode: protocol.ModeUrgent})
		if err != nil || m.Deliveries[0].Mode != mode {
			t.Errorf("urgent from %s: %+v, %v", from, m, err)
		}
	}
}
