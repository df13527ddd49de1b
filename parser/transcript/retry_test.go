package transcript

import (
	"testing"
	"time"
)

// TestTheMinuteInWhichALimitEnds is told without its seconds, so it may have begun already.
func TestTheMinuteInWhichALimitEnds(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 4, 27, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"12:05 PM":         time.Date(2026, 11, 29, 12, 5, 0, 0, time.UTC),
		"12:04 PM":         time.Date(2026, 11, 29, 12, 5, 0, 0, time.UTC),
		"12:03 PM":         time.Date(2026, 11, 29, 12, 4, 0, 0, time.UTC), // it has ended by now
		"12:02 PM":         time.Date(2026, 11, 30, 12, 2, 0, 0, time.UTC),
		"Nov 29, 12:04 PM": time.Date(2026, 11, 29, 12, 5, 0, 0, time.UTC),
		"Nov 28, 12:04 PM": time.Date(2027, 11, 28, 12, 4, 0, 0, time.UTC),
		"noon":             {},
	} {
		if got := At(text, now, "3:04 PM", "Jan 2, 3:04 PM"); !got.Equal(want) {
			t.Errorf("%s at %v: got %v, want %v", text, now, got, want)
		}
	}
}
