package hub

import (
	"testing"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
)

// TestAnEndIsToldOnce: a wrapper that comes back tells of an end by its event, and by its answer to
// the router's question, in either order.
func TestAnEndIsToldOnce(t *testing.T) {
	for _, first := range []string{"event", "answer"} {
		store := storerig.Open(t, "")
		h := aHub(t, store)
		h.mustUp(t, "bob")
		m, err := h.Send(t.Context(), hi("bob"))
		must(t, err)
		end := m.Outcome(router.Result{Status: "delivered", Evidence: "turn"})
		answer := end
		if end.Origin = (&router.Origin{Epoch: "e", Seq: 7}); first == "answer" {
			end, answer = answer, end
		}
		before := store.Count(t)
		for _, e := range []router.Event{end, answer, end} {
			must(t, h.Record(t.Context(), e))
		}
		if got := store.Count(t) - before; got != 1 || h.status(m.ID) != "delivered" {
			t.Errorf("%s first: the log has %d ends of a message that is %s", first, got, h.status(m.ID))
		}
	}
}
