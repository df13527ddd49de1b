package fakemodel

import (
	"strings"
	"testing"
)

func TestSayLosesNothing(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("日本語 ", 500)} {
		rep := Say(text)
		if got := strings.Join(rep.Deltas, ""); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		for _, d := range rep.Deltas {
			if len(d) > deltaBytes+4 || strings.ToValidUTF8(d, "") != d {
				t.Errorf("got piece %q, want whole runes and about %d bytes", d, deltaBytes)
			}
		}
	}
}
