package api

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestMetrics: what Prometheus reads holds each number, of the right value, and is well formed.
func TestMetrics(t *testing.T) {
	r := start(t)
	var sent []Message
	for range 3 {
		m, err := r.Send(t.Context(), Send{To: "bob", Body: "hi"})
		must(t, err)
		sent = append(sent, m)
	}
	if _, err := r.Send(t.Context(), Send{To: "human", From: "ci", Body: "done"}); err != nil {
		t.Fatal(err)
	}
	r.tell(sent[0].ID, protocol.StatusQueued)
	r.tell(sent[0].ID, protocol.StatusInjecting)
	done := router.Event{Type: "inject_result", Agent: "bob", Timestamp: sent[0].AcceptedAt + 70}
	done.ID, done.Status = sent[0].ID, protocol.StatusDelivered
	draft := router.Event{Type: "waiting", Agent: "bob"}
	draft.ID, draft.WaitingFor = sent[1].ID, "draft"
	ready := router.Event{Type: "state", Agent: "bob"}
	ready.State = protocol.StateReady
	r.tell(sent[1].ID, protocol.StatusQueued)
	for _, e := range []router.Event{done, draft, ready} {
		must(t, r.hub.Record(t.Context(), e))
	}
	answer, err := r.http.Get("http://router/metrics")
	must(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%s %v %v", answer.Status, answer.Header, err)
	}
	text := "\n" + string(b)
	for _, line := range []string{
		`relay_messages{status="accepted"} 2`,
		`relay_messages{status="delivered"} 1`,
		`relay_messages{status="queued"} 1`,
		`relay_messages_waiting{for="draft"} 1`,
		`relay_messages_waiting{for="reader"} 1`,
		`relay_messages_waiting{for="router"} 1`,
		`relay_agents{state="ready"} 1`,
		`relay_agents{state="unknown"} 1`,
		`relay_delivery_seconds_bucket{le="0.025"} 0`,
		`relay_delivery_seconds_bucket{le="0.1"} 1`,
		`relay_delivery_seconds_bucket{le="+Inf"} 1`,
		`relay_delivery_seconds_sum 0.07`,
		`relay_delivery_seconds_count 1`,
		`relay_append_seconds_count 12`,
		`relay_events_total 12`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	form := regexp.MustCompile(`^(# (HELP|TYPE) relay_[a-z_]+ .+|relay_[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? [0-9.e+-]+)$`)
	for line := range strings.Lines(string(b)) {
		if !form.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("not of the format: %q", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", b)
	}
}
