package daemon

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol/registry"
)

// TestIdle: a router that was started by need ends ten seconds after the last agent has gone, the
// last message has ended and the last request was answered, and not before.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		h, err := hub.New(ctx, storerig.Open(t, ""), router.Rules{}, func() string { return "m-1" })
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		busy := &activity{last: time.Now()}
		ends := make(chan error, 1)
		go func() { ends <- idle(ctx, h, busy) }()
		stays := func(why string) {
			t.Helper()
			time.Sleep(3 * idleEnd)
			synctest.Wait()
			if len(ends) > 0 {
				t.Fatalf("it ended: %s", why)
			}
		}
		must(h.Up(ctx, registry.Record{Name: "bob", Agent: "generic", PID: 1}))
		stays("an agent runs")
		m, err := h.Send(ctx, router.Message{From: "human", To: "bob", Body: "hi"})
		must(err)
		must(h.Down(ctx, "bob", false))
		stays("a message waits")
		busy.add(1)
		delivered := router.Event{Type: "inject_result", Agent: "bob", Message: router.Message{ID: m.ID}, Result: router.Result{Status: "delivered"}}
		must(h.Record(ctx, delivered))
		stays("a request is not answered yet")
		_, err = h.Remind(ctx, router.Message{ID: "r", To: "human", Body: "look"}, time.Hour.Milliseconds())
		must(err)
		busy.add(-1)
		stays("a reminder is to come")
		busy.add(1) // the request to cancel it
		_, err = h.Cancel(ctx, "r")
		must(err)
		busy.add(-1)
		began := time.Now()
		if err := <-ends; !errors.Is(err, errIdle) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(began); took < idleEnd || took > 2*idleEnd {
			t.Errorf("it ended after %v, want %v", took, idleEnd)
		}
	})
}
