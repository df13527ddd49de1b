package term

import (
	"testing"

	"relay-pty/pty/screen"
)

func TestQuestionsAreAnsweredInAnyCutting(t *testing.T) {
	const (
		asks = "ab\x1b[6n\x1b]0;title\x07c\x1b[1;3H\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[?2026$p\x1b[>0q\x1b[?u\x1b]10;?\x07\x1b]11;?\x1b\\" +
			"\x1bP+q544e\x1b\\\x1b[18t\x1b[31m\x1b(B\x1b[\x18\x1b[\x1b[5nend"
		want = "\x1b[1;3R\x1b[1;3R\x1b[?62;22c\x1b[>0;115;0c\x1b[0n\x1b[?2026;2$y\x1bP>|rig(1)\x1b\\\x1b[?0u" +
			"\x1b]10;rgb:ffff/ffff/ffff\x07\x1b]11;rgb:0000/0000/0000\x1b\\\x1bP0+r544e\x1b\\\x1b[8;5;20t\x1b[0n"
	)
	for size := 1; size <= len(asks); size++ {
		tm := &Term{scr: screen.New(5, 20), answers: true}
		got := ""
		for rest := []byte(asks); len(rest) > 0; {
			n := min(size, len(rest))
			got += tm.show(rest[:n])
			rest = rest[n:]
		}
		if got != want {
			t.Fatalf("in pieces of %d: got %q, want %q", size, got, want)
		}
	}
}
