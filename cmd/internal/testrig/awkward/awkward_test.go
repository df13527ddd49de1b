package awkward

import (
	"slices"
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
				if got := (parser.Envelope{ID: m.ID, From: "bob", Body: m.Sent}).Text(); got != m.Text() {
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

// TestDeal: each number goes to one hand, each kind to all of them, and to other hands by other
// seeds.
func TestDeal(t *testing.T) {
	const hands = 5
	in := func(dealt [][]int, n int) int {
		return slices.IndexFunc(dealt, func(hand []int) bool { return slices.Contains(hand, n) })
	}
	now, next := Deal(1, hands), Deal(2, hands)
	var all []int
	for _, hand := range now {
		all = append(all, hand...)
		of := map[int]int{}
		for _, n := range hand {
			of[n%len(kinds)]++
		}
		for k := range kinds {
			if least := Each / hands; of[k] != least && of[k] != least+1 {
				t.Errorf("a hand has %d of kind %d, want %d or one more", of[k], k, least)
			}
		}
	}
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(all) != Count() || len(unique) != Count() {
		t.Errorf("%d numbers are dealt, %d different ones, want %d", len(all), len(unique), Count())
	}
	for n := range Count() {
		if in(next, n) != (in(now, n)+1)%hands {
			t.Errorf("%d goes from hand %d to %d by the next seed", n, in(now, n), in(next, n))
		}
	}
}
