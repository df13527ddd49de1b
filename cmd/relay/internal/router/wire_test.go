package router

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// TestEventsAreKeptAsTheyWere: the logs of earlier routers are read whole, and their readers get
// what they know. The file has events of all types, each with all that one of its type can have.
func TestEventsAreKeptAsTheyWere(t *testing.T) {
	log, err := os.ReadFile("testdata/events.jsonl")
	must(t, err)
	seen := map[string]bool{}
	for line := range bytes.Lines(log) {
		var e Event
		must(t, json.Unmarshal(line, &e))
		again, err := json.Marshal(e)
		must(t, err)
		if again = append(again, '\n'); !bytes.Equal(again, line) {
			t.Errorf("%sis written as\n%s", line, again)
		}
		seen[e.Type] = true
	}
	for _, kind := range EventTypes() {
		if !seen[kind] {
			t.Errorf("there is no event of the type %s", kind)
		}
	}
}

// TestEventsOfNewerRouters are read, and what is not known of them is passed over.
func TestEventsOfNewerRouters(t *testing.T) {
	s := NewState()
	for i, line := range []string{
		`{"event_id":"e-1","seq":0,"type":"of_tomorrow","timestamp":5,"agent":"bob","body":"x","news":{"a":[1]}}`,
		`{"event_id":"e-2","seq":0,"type":"agent_up","timestamp":6,"agent":"bob","profile":"codex","news":[{}]}`,
	} {
		var e Event
		must(t, json.Unmarshal([]byte(line), &e))
		e.Seq = int64(i + 1)
		s.Apply(e)
	}
	if bob, ok := s.Agent("bob"); !ok || !bob.Running || bob.Profile != "codex" || s.Last != 2 {
		t.Errorf("bob is %+v, and the newest event %d", bob, s.Last)
	}
}
