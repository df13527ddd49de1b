package rate

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestRates: what is counted is what a look at each message of the last minute counts, also where
// the clock is set back.
func TestRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Sending
		var all []Sent
		now := int64(1e12)
		names := rapid.SampledFrom([]string{"a", "b"})
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			now += rapid.SampledFrom([]int64{0, 1, 1000, Minute / 4, Minute, -2 * Minute}).Draw(t, "later")
			m := Sent{now, names.Draw(t, "from"), names.Draw(t, "to")}
			if n := len(all); n > 0 && all[n-1].At > now+Minute {
				all = nil
			}
			pair := 0
			for _, o := range all {
				if o.At > now-Minute && o.From == m.From && o.To == m.To {
					pair++
				}
			}
			if p := r.Recent(m.From, m.To, now); p != pair {
				t.Fatalf("%d, want %d", p, pair)
			}
			all = append(all, m)
			r.Count(m)
			if again := Of(r.list); fmt.Sprint(again) != fmt.Sprint(r) {
				t.Fatalf("kept it is %v, and was %v", again, r)
			}
		}
	})
}
