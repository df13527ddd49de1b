package agentlog

import (
	"slices"
	"testing"
	"time"
)

// paced runs a pace on outputs at those milliseconds, with a log that grows at others, until it
// looks no more, and returns when it looked, when that found quiet, and how often it glanced.
func paced(outputs []int, grows ...int) (looks, rests []int, glances int) {
	var p pace
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	grown := false
	for ms := 0; ms == 0 || !p.look.IsZero() || len(outputs) > 0; ms++ {
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
			if look = grown; look {
				p.spoke(now)
			}
		}
		if look {
			grown = false
			looks = append(looks, ms)
			if p.looked(now) {
				rests = append(rests, ms)
			}
		}
	}
	return looks, rests, glances
}

func TestPace(t *testing.T) {
	busy := make([]int, 0, 200)
	for ms := 0; ms < 1000; ms += 5 {
		busy = append(busy, ms)
	}
	for name, c := range map[string]struct {
		outputs, grows []int
		looks          []int
		rested         int
	}{
		"a word, then silence":  {[]int{0}, nil, []int{0, 50, 150, 350, 750, 1550, 3150, 6350, 12750, 25550}, 3150},
		"two words":             {[]int{0, 40}, nil, []int{0, 100, 150, 250, 450, 850, 1650, 3250, 6450, 12850, 25650}, 3250},
		"a log that follows":    {[]int{0}, []int{203}, []int{0, 50, 150, 210, 260, 360, 560, 960, 1760, 3360, 6560, 12960, 25760}, 3360},
		"one in many parts":     {[]int{0}, []int{100, 200, 300, 400, 500, 600}, []int{0, 50, 110, 160, 205, 255, 300, 350, 410, 460, 505, 555, 600, 650, 750, 950, 1350, 2150, 3750, 6950, 13350, 26150}, 3750},
		"one that follows late": {[]int{0}, []int{640}, []int{0, 50, 150, 350, 750, 1550, 3150, 6350, 12750, 25550}, 3150},
		"one that never stops":  {busy, nil, []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1050, 1150, 1350, 1750, 2550, 4150, 7350, 13750, 26550}, 4150},
	} {
		looks, rests, _ := paced(c.outputs, c.grows...)
		want := c.looks[slices.Index(c.looks, c.rested):] // from then on: logs may follow late
		if !slices.Equal(looks, c.looks) || !slices.Equal(rests, want) {
			t.Errorf("%s: looked at %v, quiet at %v; want %v, %v", name, looks, rests, c.looks, want)
		}
	}
	if _, _, glances := paced([]int{0}); glances > 40 {
		t.Errorf("%d glances after one word, want at most one each 15 ms for 600 ms", glances)
	}
}
