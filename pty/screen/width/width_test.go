package width

import (
	"testing"
	"unicode"
)

func TestKnownWidths(t *testing.T) {
	for want, list := range map[int]string{
		0: "\u0301\u0483\u0e31\u1160\u11ff\u200b\u200d\ufe0f\ufe0e\u20e3\U000e0061\U000e0100\U0001d167",
		1: "a~é─│█▀❯●✳⎿…⠂⠋←⚠✻·›◦■□☝ﾊ\u00ad\u00a0\ufffd\u0600\U0001f1e6\U0001d400\U0001f3f5",
		2: "中文字あア한글（！　⌚⏩☕✅❌➕⭐〰㊗👍🏽🚀🦀🪿🫠\U00020000\U0002fffd\U0003fffd䷀㉈",
	} {
		for _, r := range list {
			if got := Of(r); got != want {
				t.Errorf("Of(%U %c) = %d, want %d", r, r, got, want)
			}
		}
	}
}

// TestZeroWidthIsTheRule holds the table of zero widths against the rule that
// it states, by Go's own Unicode tables. Those are of a later Unicode, so code
// points assigned since 14.0 are passed over.
func TestZeroWidthIsTheRule(t *testing.T) {
	own := map[rune]bool{0xad: true, 0x6dd: true, 0x70f: true, 0x890: true, 0x891: true, 0x8e2: true, 0x110bd: true, 0x110cd: true}
	for r := rune(0x600); r <= 0x605; r++ {
		own[r] = true
	}
	differ := 0
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		jamo := r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb && unicode.Is(unicode.Hangul, r)
		rule := jamo || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) && !own[r]
		zero := Of(r) == 0
		if zero && !rule {
			t.Errorf("%U has width 0 against the rule", r)
		}
		if rule && !zero {
			differ++
		}
	}
	if differ > 200 {
		t.Errorf("%d code points have width 0 by the rule only; it is more than Unicode has gained since 14.0", differ)
	}
	t.Logf("%d gained since 14.0 (Go has %s)", differ, unicode.Version)
}

func TestTablesAreSortedAndApart(t *testing.T) {
	for name, spans := range map[string][]span{"zeroWidth": zeroWidth, "doubleWidth": doubleWidth} {
		last := rune(0x9f)
		for _, s := range spans {
			if s.lo <= last || s.hi < s.lo {
				t.Errorf("%s: %U-%U comes after %U", name, s.lo, s.hi, last)
			}
			last = s.hi
		}
	}
	for _, s := range doubleWidth {
		if within(zeroWidth, s.lo) || within(zeroWidth, s.hi) {
			t.Errorf("%U-%U has two widths", s.lo, s.hi)
		}
	}
}

func TestPagesAgreeWithTheTables(t *testing.T) {
	for r := rune(0); r < 0x10000; r++ {
		want := 1
		if within(doubleWidth, r) {
			want = 2
		} else if within(zeroWidth, r) {
			want = 0
		}
		if got := Of(r); got != want {
			t.Fatalf("Of(%U) = %d, the tables say %d", r, got, want)
		}
	}
}

func TestQuickIsRightOrZero(t *testing.T) {
	known := 0
	for r := rune(0); r < 0x10000; r++ {
		if got := Quick(r); got != 0 {
			known++
			if want := Of(r); got != want || r >= 0xd800 && r <= 0xdfff {
				t.Fatalf("Quick(%U) = %d, Of says %d", r, got, want)
			}
		}
	}
	if known < 0xc000 {
		t.Errorf("Quick knows %d code points only", known)
	}
}

func TestCacheSaysTheSame(t *testing.T) {
	var c Cache
	for range 2 {
		for r := rune(0); r < 0x40000; r++ {
			if got, want := c.Of(r), Of(r); got != want {
				t.Fatalf("Cache.Of(%U) = %d, Of says %d", r, got, want)
			}
		}
		for _, r := range []rune{0x1f44d, 0x1f54d, 0x1f44d, 0, 0xe0100, 0x10ffff} {
			if got, want := c.Of(r), Of(r); got != want {
				t.Fatalf("Cache.Of(%U) = %d, Of says %d", r, got, want)
			}
		}
	}
}
