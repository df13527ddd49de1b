package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
)

// runs runs a hub until end is called, which waits for it.
func (h *Hub) runs(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error, 1)
	go func() { ends <- h.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	}
}

// after waits so long, and until all has been done that was to be done then.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// inbox is the ids of what waits for a name.
func (h *Hub) inbox(name string) (ids []string) {
	h.View(func(s *router.State, _ func(string) bool) {
		for _, m := range inboxOf(s, name) {
			ids = append(ids, m.ID)
		}
	})
	return ids
}

// looks is a reminder of ci's.
func looks(id string) router.Message { return router.Message{ID: id, To: "ci", Body: "look"} }

func (h *Hub) mustRemind(t *testing.T, id string, delay time.Duration) {
	t.Helper()
	k, err := h.Remind(t.Context(), looks(id), delay.Milliseconds())
	at := time.Now().Add(delay).UnixMilli()
	if err != nil || k.Status != router.StatusScheduled || k.DueAt != at {
		t.Fatalf("got %+v, %v", k, err)
	}
}

// TestReminders come to the millisecond, one by one, however many there are, and keep the router
// running until then.
func TestReminders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		defer h.runs(t)()
		h.mustRemind(t, "late", 72*time.Hour)
		h.mustRemind(t, "soon", 5*time.Minute)
		h.mustRemind(t, "not", 5*time.Minute)
		holder, err := h.Cancel(t.Context(), "not")
		if is := h.status("not"); holder != "" || err != nil || is != protocol.StatusCancelled {
			t.Errorf("cancelled: %q, %v, and it is %s", holder, err, is)
		}
		after(5*time.Minute - time.Millisecond)
		if got := h.inbox("ci"); got != nil || h.Idle() {
			t.Errorf("a moment before there is %v; idle: %v", got, h.Idle())
		}
		after(time.Millisecond)
		if got := h.inbox("ci"); !slices.Equal(got, []string{"soon"}) {
			t.Errorf("then there is %v", got)
		}
		after(time.Hour) // ci does not read it
		if got := h.status("soon"); got != protocol.StatusExpired {
			t.Errorf("after an hour it is %s", got)
		}
		after(71 * time.Hour)
		if got := h.inbox("ci"); !slices.Equal(got, []string{"late"}) || !h.Idle() {
			t.Errorf("at last there is %v; idle: %v", got, h.Idle())
		}
	})
}

// TestRest: whoever waits for a time looks at the clock often enough to see that it was set, or
// went on while the machine slept.
func TestRest(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for next, want := range map[int64]time.Duration{
		1_000_001: time.Millisecond, 1_009_000: 9 * time.Second, 1_010_001: lookAgain, 1 << 50: lookAgain,
		999_000: -time.Second,
	} {
		if got := rest(now, next); got != want {
			t.Errorf("before %d: %v, want %v", next, got, want)
		}
	}
}

// TestRemindersOverRestarts: what came due while there was no router comes when there is one, once,
// though routers end at any moment.
func TestRemindersOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		h.mustRemind(t, "r", time.Minute)
		h.mustRemind(t, "later", time.Hour)
		after(2 * time.Minute)
		for range 3 {
			h = aHub(t, store)
			end := h.runs(t)
			synctest.Wait()
			if got := h.inbox("ci"); !slices.Equal(got, []string{"r"}) {
				t.Errorf("there is %v", got)
			}
			end()
		}
		k, err := h.Remind(t.Context(), looks("r"), time.Minute.Milliseconds())
		if err != nil || k.Status != router.StatusAccepted {
			t.Errorf("set again after it came: %+v, %v", k, err)
		}
		if store.Count(t) != 3 {
			t.Errorf("the log has %d events", store.Count(t))
		}
	})
}

// TestAFullLogRemindsLater: what could not be written is sent when there is room.
func TestAFullLogRemindsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		defer h.runs(t)()
		h.mustRemind(t, "r", time.Minute)
		synctest.Wait()
		store.Fail(disk.ErrFull, false)
		after(time.Minute)
		if got := h.inbox("ci"); got != nil {
			t.Errorf("with no room there is %v", got)
		}
		after(lookAgain)
		if got := h.inbox("ci"); !slices.Equal(got, []string{"r"}) {
			t.Errorf("then there is %v", got)
		}
	})
}

// told puts what bob's wrapper tells into the log.
func (h *Hub) told(t *testing.T, seq int64, e router.Event) {
	t.Helper()
	e.Agent, e.Origin = "bob", &router.Origin{Epoch: "e", Seq: seq}
	record := h.Record
	if e.Type == "relay_command" {
		record = h.Command
	}
	must(t, record(t.Context(), e))
}

// TestAnswersThatAreStillComingIn: bob got a message and answered it while there was no router. Who
// asked to be told if he does not answer is not told that.
func TestAnswersThatAreStillComingIn(t *testing.T) {
	for i := range 4 {
		answers, wait := i%2 == 0, time.Duration(i/2)*time.Minute
		t.Run(fmt.Sprint(answers, wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := storerig.Open(t, "")
				h := aHub(t, store)
				h.mustUp(t, "bob")
				m, err := h.Send(t.Context(), router.Message{
					ID: "m", From: "ci", To: "bob", Body: "hi", NotifyOnDelivery: true, NotifyAfterMS: 60_000,
				})
				must(t, err)
				then := time.Now().UnixMilli()
				after(time.Hour)
				h = aHub(t, store)
				defer h.runs(t)()
				after(wait) // for bob's wrapper, which may come back later
				delivered := m.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: "turn"})
				delivered.Timestamp = then
				h.told(t, 1, delivered)
				synctest.Wait()
				want := []string{"m:delivered"}
				if got := h.inbox("ci"); !slices.Equal(got, want) {
					t.Errorf("at once there is %v", got)
				}
				after(time.Second)
				want = append(want, "m:reminder")
				if answers {
					answer := router.Message{ID: "a", From: "bob", To: "ci", Body: "yes", ReplyTo: "m"}
					says := router.Event{Type: "relay_command", Timestamp: then + 1000, Message: answer}
					h.told(t, 2, says)
					want[1] = "a"
				}
				after(2 * backlog)
				if got := h.inbox("ci"); !slices.Equal(got, want) {
					t.Errorf("there is %v, want %v", got, want)
				}
			})
		})
	}
}

// TestNoticesComeInTime, to the millisecond, while the router runs.
func TestNoticesComeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		h.mustUp(t, "bob")
		defer h.runs(t)()
		after(2 * backlog)
		asks := router.Message{ID: "m", From: "ci", To: "bob", Body: "hi", NotifyAfterMS: 2000}
		m, err := h.Send(t.Context(), asks)
		must(t, err)
		after(time.Second)
		h.told(t, 1, m.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: "turn"}))
		after(1990 * time.Millisecond)
		h.told(t, 2, router.Event{Type: "state"})
		after(9 * time.Millisecond)
		if got := h.inbox("ci"); got != nil {
			t.Errorf("a moment before there is %v", got)
		}
		after(time.Millisecond)
		if got := h.inbox("ci"); !slices.Equal(got, []string{"m:reminder"}) {
			t.Errorf("then there is %v", got)
		}
	})
}

// TestARouterThatFailsAtThatMoment leaves the next one to find out whether the reminder was sent.
func TestARouterThatFailsAtThatMoment(t *testing.T) {
	for _, writes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := storerig.Open(t, "")
			h := aHub(t, store)
			h.mustRemind(t, "r", time.Minute)
			store.Fail(disk.ErrUnclear, writes)
			if err := h.Run(t.Context()); err == nil {
				t.Error("it goes on")
			}
			h = aHub(t, store)
			defer h.runs(t)()
			after(time.Minute)
			if got := h.inbox("ci"); !slices.Equal(got, []string{"r"}) || store.Count(t) != 2 {
				t.Errorf("written: %v: there is %v, of %d events", writes, got, store.Count(t))
			}
		})
	}
}

// TestAFullLogExpiresLater: a router whose log takes nothing at that moment goes on.
func TestAFullLogExpiresLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		h.mustUp(t, "bob")
		defer h.runs(t)()
		m := hi("bob")
		m.TimeoutMS = 1000
		waits, err := h.Send(t.Context(), m)
		must(t, err)
		store.Fail(disk.ErrFull, false)
		after(time.Second + lookAgain)
		if got := h.status(waits.ID); got != protocol.StatusExpired {
			t.Errorf("it is %s", got)
		}
	})
}
