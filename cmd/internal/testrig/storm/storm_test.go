package storm

import (
	"reflect"
	"slices"
	"testing"
)

// TestPlan: the same seed deals the same faults, all of them, evenly.
func TestPlan(t *testing.T) {
	deal := func(seed uint64) [][]string {
		s := &storm{Config: Config{Seed: seed, Faults: 101, Kinds: []string{killWrapper, stop, flood}}, places: make([]*place, 4)}
		return s.plan()
	}
	plan := deal(7)
	if !reflect.DeepEqual(plan, deal(7)) || reflect.DeepEqual(plan, deal(8)) {
		t.Error("the plan does not follow from the seed")
	}
	all := slices.Concat(plan...)
	kills := len(slices.DeleteFunc(slices.Clone(all), func(k string) bool { return k != killWrapper }))
	if len(all) != 101 || kills < 60 || kills > 61 {
		t.Errorf("%d faults, %d of them kills; want 101 and 3 of 5", len(all), kills)
	}
	for i, mine := range plan {
		if len(mine) < 25 || len(mine) > 26 {
			t.Errorf("agent %d has %d faults", i, len(mine))
		}
	}
}

// TestSharesAddUp: every message is sent by somebody.
func TestSharesAddUp(t *testing.T) {
	for _, agents := range []int{1, 3, 20, 33} {
		s := &storm{Config: Config{Dir: t.TempDir(), Agents: agents, Messages: 10_007}}
		if err := s.prepare(); err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, p := range s.places {
			for _, m := range s.senders(p) {
				total += m.total
			}
		}
		if total != 10_007 {
			t.Errorf("%d agents: %d messages, want 10007", agents, total)
		}
	}
}

func TestUnknownProgram(t *testing.T) {
	if _, err := chosen([]string{"line", "vim"}); err == nil {
		t.Error("no error for an agent that there is not")
	}
	if all, err := chosen(nil); err != nil || len(all) != 20 {
		t.Errorf("the mix: %d agents, %v", len(all), err)
	}
}
