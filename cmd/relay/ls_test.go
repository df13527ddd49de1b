package main

import (
	"testing"
	"time"
)

// TestAges: no age is negative, or as old as the clock.
func TestAges(t *testing.T) {
	for at, want := range map[int64]string{
		0:                            "-",
		time.Now().UnixMilli():       "0s ago",
		time.Now().UnixMilli() + 1e9: "0s ago",
		time.Now().Add(-3 * time.Hour).UnixMilli():     "3h ago",
		time.Now().Add(-3e6 * time.Second).UnixMilli(): "34d ago",
	} {
		if got := ago(at); got != want {
			t.Errorf("%d: %q, want %q", at, got, want)
		}
	}
}
