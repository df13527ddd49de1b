package main

import (
	"slices"
	"testing"
	"time"
)

// paced runs a pace on outputs at those milliseconds, with a log that grows at others, until it rests,
// and returns when it looked, and how often it glanced.
func paced(outputs []int, grows ...int) (looks []int, glances int) {
	var p pace
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	grown, rests := false, false
	for ms := 0; !rests || len(outputs) > 0; ms++ {
		now := at(ms)
		if len(outputs) > 0 && outputs[0] == ms {
			p.spoke(now)
			outputs = outputs[1:]
		}
		if len(grows) > 0 && grows[0] == ms {
			grown, grows = true, grows[1:]
		}
		if wait, soon := p.next(now); !soon || wait > 0 {
			continue
		}
		look := p.due(now)
		if !look && p.glances(now) {
			glances++
			look = grown
		}
		if look {
			grown = false
			looks = append(looks, ms)
			rests = p.looked(now)
		}
	}
	return looks, glances
}

func TestPace(t *testing.T) {
	busy := make([]int, 0, 200)
	for ms := 0; ms < 1000; ms += 5 {
		busy = append(busy, ms)
	}
	for name, c := range map[string]struct {
		outputs, grows []int
		looks          []int
	}{
		"a word, then silence":           {[]int{0}, nil, []int{0, 50, 150, 350, 750, 1550, 3150}},
		"two words":                      {[]int{0, 40}, nil, []int{0, 100, 150, 250, 450, 850, 1650, 3250}},
		"a log that follows":             {[]int{0}, []int{203}, []int{0, 50, 150, 210, 610, 1410, 3010}},
		"a log that follows late":        {[]int{0}, []int{583}, []int{0, 50, 150, 350, 590, 1390, 2990}},
		"a log that follows later still": {[]int{0}, []int{640}, []int{0, 50, 150, 350, 750, 1550, 3150}},
		"one that never stops":           {busy, nil, []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1050, 1150, 1350, 1750, 2550, 4150}},
	} {
		looks, _ := paced(c.outputs, c.grows...)
		if !slices.Equal(looks, c.looks) {
			t.Errorf("%s: looked at %v, want %v", name, looks, c.looks)
		}
	}
	if _, glances := paced([]int{0}); glances > 40 {
		t.Errorf("%d glances after one word, want at most one each 15 ms for 600 ms", glances)
	}
}
