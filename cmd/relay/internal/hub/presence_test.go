package hub

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
)

// running runs a hub in a bubble.
func running(t *testing.T, h *Hub) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error, 1)
	go func() { ends <- h.Run(ctx) }()
	return func() {
		cancel()
		<-ends
	}
}

// types are those of all events, with reasons.
func (h *Hub) types(t *testing.T) string {
	t.Helper()
	list, _, _, err := h.Events(t.Context(), 0, 100, func(*router.Event) bool { return true })
	must(t, err)
	var types []string
	for _, e := range list {
		types = append(types, strings.TrimSpace(e.Type+" "+e.Reason))
	}
	return strings.Join(types, ", ")
}

// TestARestartIsNoLeave, and one that stays away has left after five seconds, for which the router
// stays.
func TestARestartIsNoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		h.mustUp(t, "bob")
		must(t, h.Missed(t.Context(), func(router.Agent) bool { return false }))
		defer running(t, h)()
		for range 2 {
			synctest.Wait()
			must(t, h.Down(t.Context(), "bob", false))
			time.Sleep(4999 * time.Millisecond)
			h.mustUp(t, "bob")
		}
		must(t, h.Down(t.Context(), "bob", false))
		time.Sleep(4999 * time.Millisecond)
		synctest.Wait()
		if h.Idle() {
			t.Error("the router may end before bob is told to have left")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !h.Idle() {
			t.Error("the router may not end")
		}
		const again = ", agent_down inactive, agent_up"
		if got, want := h.types(t), "agent_up, member_joined"+again+again+", agent_down inactive, member_left inactive"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestANewRouterLooksFirst: whom it has not met yet may run all the same.
func TestANewRouterLooksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		old := aHub(t, store)
		old.mustUp(t, "bob")
		old.mustUp(t, "carol")
		must(t, old.Missed(t.Context(), func(router.Agent) bool { return false }))
		end := running(t, old)
		synctest.Wait()
		must(t, old.Down(t.Context(), "bob", false))
		end()
		time.Sleep(time.Hour)
		h := aHub(t, store)
		defer running(t, h)()
		synctest.Wait()
		before := h.types(t)
		h.mustUp(t, "bob")
		must(t, h.Missed(t.Context(), func(router.Agent) bool { return false }))
		time.Sleep(debounceOver)
		synctest.Wait()
		if got, want := strings.TrimPrefix(h.types(t), before), ", agent_up, agent_down inactive, member_left inactive"; got != want {
			t.Errorf("after %s: got %s, want %s", before, got, want)
		}
	})
}

const debounceOver = 6 * time.Second

// TestOneWhoWasJustAnnouncedIsNotUnknown: the registry knows of a wrapper before we hear of it.
func TestOneWhoWasJustAnnouncedIsNotUnknown(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, h *Hub) error{
		"a message": func(ctx context.Context, h *Hub) error { _, err := h.Send(ctx, hi("bob")); return err },
		"a marker": func(ctx context.Context, h *Hub) error {
			e := router.Event{Agent: "alice", Message: router.Message{ID: "m", From: "alice", To: "bob", Body: "hi"}}
			if err := h.Command(ctx, e); err != nil || h.status("m") == router.StatusAccepted {
				return err
			}
			return &router.ErrorValue{Code: router.UnknownAgent}
		},
		"a question": func(ctx context.Context, h *Hub) error {
			if h.Meets(ctx, "bob") {
				return nil
			}
			return &router.ErrorValue{Code: router.UnknownAgent}
		},
	} {
		for _, c := range []struct {
			announced, comes bool
			takes            time.Duration
		}{{true, true, 0}, {true, false, meetWait}, {false, false, 0}} {
			synctest.Test(t, func(t *testing.T) {
				h := aHub(t, storerig.Open(t, ""))
				h.mustUp(t, "alice")
				h.Announced = func(string) bool { return c.announced }
				began, done := time.Now(), make(chan error, 1)
				go func() { done <- ask(t.Context(), h) }()
				synctest.Wait()
				if c.comes {
					h.mustUp(t, "bob")
				}
				if err := <-done; isUnknown(err) == c.comes || time.Since(began) != c.takes {
					t.Errorf("%s, announced %v, comes %v: got %v after %v", name, c.announced, c.comes, err, time.Since(began))
				}
			})
		}
	}
}
