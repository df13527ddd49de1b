package protocol

import (
	"bytes"
	"fmt"
	"testing"
)

// TestShownHoldsWhatPeopleSee, however text is cut into writes.
func TestShownHoldsWhatPeopleSee(t *testing.T) {
	const evil = "a\x1b[2J\x1b]0;t\a\x1bP1$r\x1b\\\r\b\v\f\x00\x7f\u009b31m\u0085\u202ex\u202c\u2066\u200b\u00ad\ufeff\U000e0041" +
		"\u2028\xffz\xc0\xafz\xed\xa0\x80\tz 日本 👩‍💻\n\xe6"
	const want = "a[2J]0;tP1$r\\31mx \ufffdz\ufffd\ufffdz\ufffd\ufffd\ufffd\tz 日本 👩‍💻\n"
	for size := 1; size <= len(evil); size++ {
		var out bytes.Buffer
		w := NewShown(&out)
		for at := 0; at < len(evil); at += size {
			if n, err := fmt.Fprint(w, evil[at:min(at+size, len(evil))]); err != nil || n != min(size, len(evil)-at) {
				t.Fatalf("by %d: %d, %v", size, n, err)
			}
		}
		if out.String() != want {
			t.Errorf("by %d: %q, want %q", size, out.String(), want)
		}
	}
	if got := Show(evil); got != want+"\ufffd" {
		t.Errorf("whole: %q, want %q", got, want+"\ufffd")
	}
}
