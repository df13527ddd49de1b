package inject

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestDesignShowsTheStages: the picture in DESIGN.md is that of the table.
func TestDesignShowsTheStages(t *testing.T) {
	design, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	var drawn, want []string
	for _, m := range regexp.MustCompile(`(?m)^ +(\w+) --> (\w+)$`).FindAllStringSubmatch(string(design), -1) {
		drawn = append(drawn, m[1]+" --> "+m[2])
	}
	for _, r := range table {
		for _, n := range r.next {
			want = append(want, r.name+" --> "+n.String())
		}
	}
	slices.Sort(drawn)
	slices.Sort(want)
	if !slices.Equal(drawn, want) {
		t.Errorf("DESIGN.md draws\n%q\nthe table has\n%q", drawn, want)
	}
}

// TestStagesHaveNames of their own, and do something unless they are in the agent's hands.
func TestStagesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for s, r := range table {
		if r.name == "" || seen[r.name] {
			t.Errorf("stage %d is called %q", s, r.name)
		}
		if r.begin == nil && !stage(s).rests() {
			t.Errorf("%s does nothing, and nothing else goes on meanwhile", r.name)
		}
		seen[r.name] = true
	}
}
