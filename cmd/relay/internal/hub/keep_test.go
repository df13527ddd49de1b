package hub

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// kept is a hub with a log and a shelf in a directory.
func kept(t *testing.T, dir string, bytes int64) (h *Hub, log *store.Store, end func()) {
	t.Helper()
	log, err := store.Open(t.Context(), dir, store.Limit{Age: time.Hour, Bytes: bytes})
	must(t, err)
	if h, err = New(t.Context(), log, log, router.Rules{}, ids()); err != nil {
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
			if _, err := h.Remind(t.Context(), router.Reminder{ID: "later", To: "bob", Text: "look", DelayMS: 1e9}); err != nil {
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
			inbox := s.Inbox("bob")
			if len(inbox) != 1 || inbox[0].ID != waits.ID || inbox[0].Body != waits.Body || inbox[0].Accepted != waits.Accepted {
				t.Errorf("round %d: bob has %+v", round, inbox)
			}
			if list, _ := s.Newest(0, 10, func(*router.Message) bool { return true }); len(list) != 1 {
				t.Errorf("round %d: %d messages are known", round, len(list))
			}
			if _, known := s.Find(ended.ID); known {
				t.Errorf("round %d: what has ended is known", round)
			}
			if len(s.Scheduled()) != 1 || len(s.Members("#a")) != 1 {
				t.Errorf("round %d: scheduled %v, members %v", round, s.Scheduled(), s.Members("#a"))
			}
		})
		end()
	}
}

// TestAStateThatIsDamagedIsMadeAnew: the log has all.
func TestAStateThatIsDamagedIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]string{
		"it fits":          ``,
		"damaged":          `UPDATE state SET data = data || ' '`,
		"ahead of the log": `DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)`,
		"gone":             `DELETE FROM state`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h, _, end := kept(t, dir, 1<<30)
			h.mustUp(t, "bob")
			ended, err := h.Send(t.Context(), hi("bob"))
			must(t, err)
			must(t, h.Record(t.Context(), ended.Outcome(router.Result{Status: "delivered", Evidence: "turn"})))
			must(t, h.save())
			if _, err := h.Send(t.Context(), hi("bob")); err != nil { // after what was saved
				t.Fatal(err)
			}
			if name == "ahead of the log" {
				h.mustUp(t, "carol")
				must(t, h.save())
			}
			end()
			db, err := sql.Open("sqlite", filepath.Join(dir, "relay.db"))
			must(t, err)
			_, err = db.Exec(spoil)
			must(t, errors.Join(err, db.Close()))
			h, _, end = kept(t, dir, 1<<30)
			defer end()
			h.View(func(s *router.State, _ func(string) bool) {
				if m, _ := s.Find(ended.ID); m.Status != "delivered" || m.Body != "hi" {
					t.Errorf("the message that has ended is %+v", m)
				}
				if list, _ := s.Newest(0, 10, func(*router.Message) bool { return true }); len(list) != 2 || len(s.Inbox("bob")) != 1 {
					t.Errorf("%d messages, bob has %v", len(list), s.Inbox("bob"))
				}
				if _, known := s.Agent("carol"); known {
					t.Error("an agent of another log is known")
				}
			})
		})
	}
}
