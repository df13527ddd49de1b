package hub

import (
	"errors"
	"testing"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
)

// TestOnlyWhoIsMeantIsWoken: whoever waits for one agent's messages looks again when there is news
// of them, and not for what happens to others.
func TestOnlyWhoIsMeantIsWoken(t *testing.T) {
	store := storerig.Open(t, "")
	h := aHub(t, store)
	h.mustUp(t, "alice")
	h.mustUp(t, "bob")
	woken := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	send := func(to string) error { _, err := h.Send(t.Context(), hi(to)); return err }
	for name, c := range map[string]struct {
		does func() error
		want bool
	}{
		"bob's state":        {func() error { return h.Record(t.Context(), router.Event{Type: "state", Agent: "bob"}) }, false},
		"a message to alice": {func() error { return send("alice") }, false},
		"a message to bob":   {func() error { return send("bob") }, true},
		"a message to all": {func() error {
			m := hi(router.All)
			_, err := h.Send(t.Context(), m)
			return err
		}, true},
		"a pause of alice": {func() error { return h.Pause(t.Context(), "alice", "", 0) }, false},
		"a pause of bob":   {func() error { return h.Pause(t.Context(), "bob", "", 0) }, true},
		"the end of one": {func() error {
			m, err := h.Send(t.Context(), hi("bob"))
			if err != nil {
				return err
			}
			return h.Record(t.Context(), m.Outcome(router.Result{Status: protocol.StatusDelivered, Evidence: "turn"}))
		}, true},
		"what could not be written": {func() error {
			store.Fail(disk.ErrFull, false)
			if err := send("alice"); err == nil {
				return errors.New("it was taken")
			}
			return nil
		}, true},
	} {
		changed := h.ChangedFor("bob")
		if err := c.does(); err != nil || woken(changed) != c.want {
			t.Errorf("%s: woken %v, want %v, %v", name, !c.want, c.want, err)
		}
	}
}
