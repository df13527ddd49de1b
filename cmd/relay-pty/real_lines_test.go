package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
)

// TestRealBodiesOfOneToTwelveLines: each agent hides a paste behind a chip from another number of
// lines on, and newlines at a body's ends count there, too.
func TestRealBodiesOfOneToTwelveLines(t *testing.T) {
	bodies := []string{"a\n\n\n\nb", strings.Repeat("\n", 7) + "newlines around" + strings.Repeat("\n", 8)}
	for n := range 12 {
		bodies = append(bodies, strings.Repeat("a line\n", n)+"the last")
	}
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		r := startAgent(t, a)
		var ids []string
		var took []time.Duration
		for i, body := range bodies {
			id, began := fmt.Sprintf("m%d", i), time.Now()
			r.inject(id, body)
			end := r.delivers(id, "submitted", "turn")
			took = append(took, time.Since(began))
			r.turn(id, body)
			r.rests(end)
			ids = append(ids, id)
		}
		r.once(ids)
		shown(t, a.Name()+": bodies of 1 to 12 lines, and with newlines at their ends, intact", "%d of %d; socket to delivered %s", len(bodies), len(bodies), spread(took))
	})
}
