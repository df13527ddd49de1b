package clock

import (
	"testing"
	"time"
)

// TestADateWhereItIsNotToday: what is today depends on the time zone, not on how long ago it was.
func TestADateWhereItIsNotToday(t *testing.T) {
	for _, c := range []struct{ zone, now, at, want string }{
		{"UTC", "2026-03-02T00:07:09Z", "2026-03-01T23:26:58Z", "2026-03-01 23:26:58"},
		{"UTC", "2026-03-02T23:07:09Z", "2026-03-02T00:00:00Z", "00:00:00"},
		{"UTC", "2026-03-02T12:00:00Z", "2026-03-03T00:00:00Z", "2026-03-03 00:00:00"},
		{"UTC", "2026-03-02T12:00:00Z", "2025-03-02T12:00:00Z", "2025-03-02 12:00:00"},
		{"Asia/Kathmandu", "2026-03-01T18:20:00Z", "2026-03-01T18:10:00Z", "2026-03-01 23:55:00"},
		{"Asia/Kathmandu", "2026-03-02T05:00:00Z", "2026-03-01T18:20:00Z", "00:05:00"},
		{"America/St_Johns", "2026-03-02T02:00:00Z", "2026-03-01T12:00:00Z", "08:30:00"},
		{"Europe/Berlin", "2026-03-29T20:00:00Z", "2026-03-29T00:30:00Z", "01:30:00"}, // the clock goes forward that day
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skipf("no time zones: %v", err)
		}
		if got := at(moment(t, c.at).UnixMilli(), moment(t, c.now).In(zone), time.TimeOnly); got != c.want {
			t.Errorf("%s, now %s: %s is %q, want %q", c.zone, c.now, c.at, got, c.want)
		}
	}
	if got := Precisely(time.Now().Add(-72 * time.Hour).UnixMilli()); len(got) != len("2006-01-02 15:04:05.000") {
		t.Errorf("three days ago is %q", got)
	}
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAges: no age is negative, or as old as the clock.
func TestAges(t *testing.T) {
	for at, want := range map[int64]string{
		0:                            "-",
		time.Now().UnixMilli():       "0s ago",
		time.Now().UnixMilli() + 1e9: "0s ago",
		time.Now().Add(-3 * time.Hour).UnixMilli():     "3h ago",
		time.Now().Add(-3e6 * time.Second).UnixMilli(): "34d ago",
	} {
		if got := Ago(at); got != want {
			t.Errorf("%d: %q, want %q", at, got, want)
		}
	}
}
