package grid

import "testing"

func TestInternerTakesBackWhatIsNotInUse(t *testing.T) {
	n := newInterner[string](4) // the zero value and three more
	inUse := make([]bool, 4)
	sweeps := 0
	add := func(k string) (uint32, bool) {
		return n.add(k, func() []bool { sweeps++; return inUse })
	}
	a, _ := add("a")
	b, _ := add("b")
	c, _ := add("c")
	if again, ok := add("b"); again != b || !ok || a == b || b == c || a*b*c == 0 {
		t.Fatalf("ids %d %d %d, b again %d, %v", a, b, c, again, ok)
	}
	inUse[b] = true
	d, ok := add("d")
	if !ok || d == b || sweeps != 1 {
		t.Fatalf("d has id %d, %v after %d sweeps; b, in use, has %d", d, ok, sweeps, b)
	}
	if n.items[b] != "b" || n.items[d] != "d" {
		t.Errorf("items %q", n.items)
	}
	if zero, ok := add(""); zero != 0 || !ok {
		t.Errorf("the zero value has id %d, %v", zero, ok)
	}
}

func TestInternerSpreadsTheCostOfSweeps(t *testing.T) {
	const limit = 400
	n := newInterner[int](limit)
	sweeps := 0
	for i := 1; i <= 10*limit; i++ {
		_, ok := n.add(i, func() []bool {
			sweeps++
			all := make([]bool, limit)
			for id := range all {
				all[id] = true
			}
			return all
		})
		if ok != (i < limit) {
			t.Fatalf("value %d: %v", i, ok)
		}
	}
	if sweeps > 40 {
		t.Errorf("%d sweeps for %d values refused, want at most one a hundred", sweeps, 9*limit)
	}
	if id := n.force(-1); id != limit {
		t.Errorf("force gave id %d, want %d", id, limit)
	}
}
