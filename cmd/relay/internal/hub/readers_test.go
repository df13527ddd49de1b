package hub

import (
	"testing"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
)

// TestWhatWaitsIsNotCopied: who takes one message of very many is not given a copy of all. Else a
// reader that falls behind gets slower with each message, and never catches up.
func TestWhatWaitsIsNotCopied(t *testing.T) {
	h, err := New(t.Context(), storerig.Open(t, ""), router.Rules{PairMost: 10_000}, ids())
	must(t, err)
	h.mustUp(t, "bob")
	const unread, most = 500, 100
	for range unread {
		_, err := h.Send(t.Context(), router.Message{From: "bob", To: "human", Body: "hi"})
		must(t, err)
	}
	allocations := testing.AllocsPerRun(10, func() {
		if len(h.Lease(t.Context(), "human", 1)) != 1 {
			t.Fatal("there is no message")
		}
	})
	if allocations > most {
		t.Errorf("one of %d messages was taken with %.0f allocations, want %d at most", unread, allocations, most)
	}
}
