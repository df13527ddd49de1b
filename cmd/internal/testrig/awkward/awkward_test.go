package awkward

import (
	"strings"
	"testing"

	"relay-pty/parser"
	"relay-pty/protocol"
)

// TestExpectations: what the items say of themselves is what the README says of bodies, and every
// body is one that is accepted.
func TestExpectations(t *testing.T) {
	w := Where{Rows: 24, Cols: 80, Bytes: 500, Lines: 5, Canary: "/tmp/canary"}
	for seed := range uint64(20) {
		for n := range Count() {
			for _, m := range Make(seed, n, w).Messages {
				e := parser.Envelope{ID: m.ID, From: "bob", Body: m.Sent, Quote: m.Asked}
				if m.Asked != "" {
					e.ReplyTo = Asks
				}
				if got := e.Text(); got != m.Text() {
					t.Fatalf("seed %d, %d: %q is read as\n%q, want\n%q", seed, n, m.Sent, got, m.Text())
				}
				if len(m.Sent) > protocol.MaxBody || strings.TrimSpace(m.ID) == "" {
					t.Fatalf("seed %d, %d: %d bytes", seed, n, len(m.Sent))
				}
			}
		}
	}
}

func TestItemsComeFromTheirSeed(t *testing.T) {
	w := Where{Rows: 24, Cols: 80}
	for _, n := range Share(7, 10) {
		if a, b := Make(7, n, w), Make(7, n, w); a.Kind != b.Kind || a.Messages[0] != b.Messages[0] {
			t.Errorf("%d: %q and %q", n, a, b)
		}
	}
	if n := len(Share(7, 10)); n != Count()/10 {
		t.Errorf("a tenth are %d of %d", n, Count())
	}
}
