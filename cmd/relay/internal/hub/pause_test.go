package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
)

func (h *Hub) paused(name string) bool {
	p, _ := h.Paused(name)
	return p.On
}

// TestAPauseEnds by itself, also under another router, to the moment; and no sooner than it began.
func TestAPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		old := aHub(t, store)
		old.mustUp(t, "bob")
		end := running(t, old)
		must(t, old.Pause(t.Context(), "bob", "", time.Minute))
		time.Sleep(20 * time.Second)
		end()
		h := aHub(t, store)
		defer running(t, h)()
		if p, rest := h.Paused("bob"); !p.On || rest != 40*time.Second {
			t.Errorf("got %+v for another %v", p, rest)
		}
		time.Sleep(40*time.Second - 1)
		synctest.Wait()
		if !h.paused("bob") {
			t.Error("it is over a moment too soon")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if h.paused("bob") {
			t.Error("it goes on")
		}
		if got, want := h.types(t), "agent_up, agent_paused, agent_resumed over"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestAPauseAcrossAClockThatWentBack is no longer than it was to be.
func TestAPauseAcrossAClockThatWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		old := aHub(t, store)
		old.mustUp(t, "bob")
		ahead := time.Now().Add(24 * time.Hour).UnixMilli()
		e := router.Event{Type: router.TypePaused, Agent: "bob", Timestamp: ahead}
		e.Until = ahead + 1000
		must(t, old.step(t.Context(), func() error { return old.append(e) }))
		h := aHub(t, store)
		defer running(t, h)()
		time.Sleep(time.Second - 1)
		synctest.Wait()
		if !h.paused("bob") {
			t.Error("it is over too soon")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if h.paused("bob") {
			t.Error("it goes on")
		}
	})
}

// TestAPauseOutlivesTheAgent, and says nothing of its life.
func TestAPauseOutlivesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := aHub(t, storerig.Open(t, ""))
		h.mustUp(t, "bob")
		must(t, h.Down(t.Context(), "bob", false))
		seen := time.Now().UnixMilli()
		time.Sleep(time.Hour)
		must(t, h.Pause(t.Context(), "bob", "", 0))
		h.View(func(s *router.State, _ func(string) bool) {
			if a, _ := s.Agent("bob"); a.Seen != seen {
				t.Error("bob was seen when somebody paused it")
			}
		})
		h.mustUp(t, "bob")
		if p, rest := h.Paused("bob"); !p.On || rest != 0 {
			t.Errorf("got %+v, %v", p, rest)
		}
		for range 2 {
			if err := h.Resume(t.Context(), "bob"); err != nil || h.paused("bob") {
				t.Errorf("it is paused, %v", err)
			}
		}
		if got, want := h.types(t), "agent_up, agent_down inactive, agent_paused, agent_up, agent_resumed"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
