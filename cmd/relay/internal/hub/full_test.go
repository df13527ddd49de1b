package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// TestWhatHappenedWaitsForRoom: while the log is full a sender is refused, and what wrappers tell
// and what the router ends by itself wait, and are written once.
func TestWhatHappenedWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		h.mustUp(t, "bob")
		m := hi("bob")
		m.TimeoutMS = 5000
		expires, err := h.Send(t.Context(), m)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 1)
		go func() { ends <- h.Run(ctx) }()
		fill := func() { store.Fail(disk.ErrFull, false) }
		written := func() int { return store.Count(t) }
		said := router.Event{Type: "relay_command", Agent: "bob", Origin: &router.Origin{Epoch: "e", Seq: 1}}
		said.Message = router.Message{ID: "said", From: "bob", To: "human", Body: "hi"}
		for name, does := range map[string]func() error{
			"a state":   func() error { return h.Record(ctx, router.Event{Type: "state", Agent: "bob"}) },
			"a command": func() error { return h.Command(ctx, said) },
			"a start":   func() error { return h.Up(ctx, registry.Record{Name: "carol", PID: 3}) },
			"an end":    func() error { return h.Down(ctx, "bob", false) },
			"expiry": func() error {
				time.Sleep(10 * time.Second)
				synctest.Wait()
				return nil
			},
		} {
			before := written()
			fill()
			began := time.Now()
			if err := does(); err != nil || time.Since(began) < roomAgain {
				t.Errorf("%s: after %v: %v", name, time.Since(began), err)
			}
			if got := written() - before; got != 1 && name != "expiry" {
				t.Errorf("%s was written %d times", name, got)
			}
			if h.Full() {
				t.Errorf("%s: it is full with room again", name)
			}
		}
		if got := h.status(expires.ID); got != protocol.StatusExpired {
			t.Errorf("the message is %s", got)
		}
		store.Fill(true)
		if _, err := h.Send(ctx, hi("carol")); !errors.Is(err, disk.ErrFull) || !h.Full() {
			t.Errorf("a sender: %v", err)
		}
		cancel()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
}

// TestALogThatIsGoneEndsTheRouter: nothing more is accepted, and the router says why it ends.
func TestALogThatIsGoneEndsTheRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		h.mustUp(t, "bob")
		ends := make(chan error, 1)
		go func() { ends <- h.Run(t.Context()) }()
		synctest.Wait()
		store.Fail(disk.ErrGone, false)
		for range 2 {
			if _, err := h.Send(t.Context(), hi("bob")); !errors.Is(err, disk.ErrGone) {
				t.Fatalf("a message: %v", err)
			}
		}
		if err := <-ends; !errors.Is(err, disk.ErrGone) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestWhoRunsIsToldWithoutRoom: a router that begins on a full disk cannot write down who runs, and
// tells all the same.
func TestWhoRunsIsToldWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storerig.Open(t, "")
		store.Fill(true)
		h := aHub(t, store)
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 1)
		go func() {
			ends <- h.Up(ctx, registry.Record{Name: "bob", PID: 1}, registry.Record{Name: "carol", PID: 2})
		}()
		began := time.Now()
		if h.Looked(t.Context()); time.Since(began) > roomAgain {
			t.Errorf("whoever asks waits for %v", time.Since(began))
		}
		h.View(func(_ *router.State, running func(string) bool) {
			if !running("bob") || !running("carol") {
				t.Error("those that run are not told")
			}
		})
		store.Fill(false)
		must(t, <-ends)
		asked := make(chan struct{})
		go func() {
			h.Looked(t.Context())
			close(asked)
		}()
		synctest.Wait()
		select {
		case <-asked:
			t.Error("with room again it is told before it is known")
		default:
		}
		must(t, h.Missed(t.Context(), func(router.Agent) bool { return false }))
		<-asked
		cancel()
	})
}
