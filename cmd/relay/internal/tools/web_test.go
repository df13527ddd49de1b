package tools

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/relay/internal/api"
)

// posts makes a request of a session, and returns its status, its words, and the session's id.
func posts(ctx context.Context, w http.Handler, session, body string) (status int, says, id string) {
	r := httptest.NewRequestWithContext(ctx, "POST", "/mcp", strings.NewReader(body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	out := httptest.NewRecorder()
	w.ServeHTTP(out, r)
	return out.Code, out.Body.String(), out.Header().Get(sessionHeader)
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	there = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	looks = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_agents"}}`
	ping  = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
)

// begins starts a session with a caller, and returns its id.
func begins(t *testing.T, w *Web) string {
	t.Helper()
	status, says, id := posts(t.Context(), w, "", hello)
	if status != http.StatusOK || id == "" {
		t.Fatalf("%d, session %q: %s", status, id, says)
	}
	if status, says, _ := posts(t.Context(), w, id, there); status != http.StatusAccepted {
		t.Fatalf("%d: %s", status, says)
	}
	return id
}

// webOf serves one caller.
func webOf(c Caller) *Web {
	return Over("1", func(*http.Request) (Visitor, error) { return Visitor{c, "ann"}, nil }, func(http.ResponseWriter, error) {})
}

// TestASessionEnds: when it made no request for a while, and not while it makes some.
func TestASessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := webOf(Caller{Name: "ann", Inbox: &box{}})
		id := begins(t, w)
		for _, c := range []struct {
			rest   time.Duration
			status int
		}{{restMost - time.Second, http.StatusOK}, {restMost - time.Second, http.StatusOK}, {restMost + time.Second, http.StatusNotFound}} {
			time.Sleep(c.rest)
			synctest.Wait()
			if status, says, _ := posts(t.Context(), w, id, ping); status != c.status {
				t.Errorf("after %v: %d, want %d: %s", c.rest, status, c.status, says)
			}
		}
	})
}

// TestACallerWhoHungUp: what would go with an answer that nobody hears goes with the next one, and
// is not taken for read.
func TestACallerWhoHungUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox, answers := &box{letter: []Letter{{"m-1", "one"}}}, make(chan struct{})
		ask := func(context.Context, func(*api.Client) error) error { <-answers; return errors.New("no router") }
		w := webOf(Caller{Name: "ann", Ask: ask, Inbox: inbox})
		id := begins(t, w)
		ctx, hangUp := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { defer close(gone); posts(ctx, w, id, looks) }()
		synctest.Wait() // it waits
		hangUp()
		<-gone
		close(answers)
		synctest.Wait()
		if len(inbox.letter) != 1 {
			t.Error("a message was taken for nobody")
		}
		for _, want := range []string{"one", "no router"} {
			if _, says, _ := posts(t.Context(), w, id, looks); !strings.Contains(says, want) || len(inbox.read) > 0 && want == "one" {
				t.Errorf("read is %v after %s", inbox.read, says)
			}
		}
		if !slices.Equal(inbox.read, []string{"m-1"}) {
			t.Errorf("read is %v", inbox.read)
		}
		time.Sleep(restMost + time.Second) // the session ends
	})
}
