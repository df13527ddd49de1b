package hub

import (
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// kept is a hub with a store in a directory.
func kept(t *testing.T, dir string, bytes int64) (h *Hub, log *store.Store, end func()) {
	t.Helper()
	log, err := store.Open(t.Context(), dir, store.Limit{Age: time.Hour, Bytes: bytes})
	must(t, err)
	if h, err = New(t.Context(), log, router.Rules{}, ids()); err != nil {
		t.Fatal(err)
	}
	return h, log, log.Close
}

// TestWhatWaitsOutlastsTheLog: what is too much of the log goes, with the messages that have ended;
// what waits, now or later, and who is in a channel is there after the next start, too, however
// often the log was filled.
func TestWhatWaitsOutlastsTheLog(t *testing.T) {
	dir := t.TempDir()
	var waits, ended router.Known
	for round := range 3 {
		h, log, end := kept(t, dir, 64<<10)
		h.mustUp(t, "bob")
		if round == 0 {
			var err error
			if waits, err = h.Send(t.Context(), hi("bob")); err != nil {
				t.Fatal(err)
			}
			if ended, err = h.Send(t.Context(), hi("bob")); err != nil {
				t.Fatal(err)
			}
			must(t, h.Record(t.Context(), ended.Outcome(router.Result{Status: "delivered", Evidence: "turn"})))
			if _, err := h.Remind(t.Context(), router.Message{ID: "later", To: "bob", Body: "look"}, 1e9); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Member(t.Context(), "bob", "#a", true); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			e := router.Event{Type: "state", Agent: "bob"}
			e.Raw = string(make([]byte, 200)) // escaped
			must(t, h.Record(t.Context(), e))
		}
		must(t, h.trim(t.Context(), time.Now().Add(-time.Hour).UnixMilli()))
		if oldest, _, err := log.Span(t.Context()); oldest <= waits.Seq || err != nil {
			t.Errorf("round %d: the log begins with %d, %v", round, oldest, err)
		}
		h.View(func(s *router.State, _ func(string) bool) {
			inbox := inboxOf(s, "bob")
			if len(inbox) != 1 || inbox[0].ID != waits.ID || inbox[0].Body != waits.Body || inbox[0].Accepted != waits.Accepted {
				t.Errorf("round %d: bob has %+v", round, inbox)
			}
			if _, known := s.Find(ended.ID); known {
				t.Errorf("round %d: what has ended is known", round)
			}
			if len(s.Scheduled()) != 1 || len(s.Members("#a")) != 1 {
				t.Errorf("round %d: scheduled %v, members %v", round, s.Scheduled(), s.Members("#a"))
			}
		})
		if list, _, _, err := h.Messages(t.Context(), router.Query{}); err != nil || len(list) != 1 {
			t.Errorf("round %d: messages %v are known, %v", round, list, err)
		}
		end()
	}
}
