package screen

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTracesAreUndoneAndNothingElse(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"", ""},
		{"text\r\n\x1b[31mred\x1b[m\x1b[5;5H", ""},
		{"\x1b[?25l\x1b[?25h\x1b[?2026h\x1b[?2026l", ""},
		{"\x1b[?2004h", "\x1b[?2004l\x1b[m"},
		{"\x1b[?1049h", "\x1b[?1049l\x1b[m"},
		{"\x1b[?1049h\x1b[?1047l", ""},
		{"\x1b[?47h\x1b[?1049h", "\x1b[?47l\x1b[m"},
		{"\x1b[?1049h\x1b[2;3r", "\x1b[r\x1b[?1049l\x1b[m"},
		{"\x1b[2;3r", "\x1b7\x1b[r\x1b8\x1b[m"},
		{"\x1b[?1003;1006h\x1b[?25l\x1b[?7l", "\x1b[?25h\x1b[?7h\x1b[?1003l\x1b[?1006l\x1b[m"},
		{"\x1b[>1u\x1b[>3u\x1b[<u", "\x1b[<1u\x1b[m"},
		{"\x1b[>1u\x1b[<9u", ""},
		{"\x1b[>1u\x1b[?1049h\x1b[>5u\x1b[>5u", "\x1b[<2u\x1b[?1049l\x1b[<1u\x1b[m"},
		{"\x1b[=5;2u", "\x1b[=0u\x1b[m"},
		{"\x1b[=5u\x1b[=0u", ""},
		{"\x1b[>4;2m", "\x1b[>4m\x1b[m"},
		{"\x1b[>4;2m\x1b[>4;0m\x1b[>4;1m\x1b[>4m", ""},
		{"\x1b[6 q\x1b=\x1b[4h\x1b[20h", "\x1b[4l\x1b[20l\x1b>\x1b[0 q\x1b[m"},
		{"\x1b[?1049h\x1b[?1003h\x1b[>1u\x1b[6 q\x1bc", ""},
		{"\x1b[?25l\x1b[?1h\x1b[4h\x1b[?6h\x1b[?7l\x1b=\x1b[2;3r\x1b[!p", ""},
	} {
		s := with(4, 10, c.out)
		if got := s.Traces().Undo(); got != c.want {
			t.Errorf("after %q: undone by %q, want %q", c.out, got, c.want)
		}
	}
}

// TestUndoingLeavesNothing: what a program did in any order is undone by what is written then.
func TestUndoingLeavesNothing(t *testing.T) {
	parts := strings.Fields(`?1h ?7l ?9h ?25l ?47h ?47l ?1000h ?1002h ?1003l ?1006h ?1047h ?1049h ?1049l ?1004h ?2004h ?2026h ?2031h >1u >5u <u
		=1u =0u =3;2u =1;3u >4;2m >4m 4h 20h 2;3r r !p 2;5H`)
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var out strings.Builder
		for range r.IntN(12) {
			out.WriteString("\x1b[" + parts[r.IntN(len(parts))] + strings.Repeat("x", r.IntN(5)))
		}
		s := with(4, 10, out.String())
		before := s.Traces()
		s.Write([]byte(before.Undo()))
		if now := s.Traces(); now != (Traces{}) || s.Modes() != (Modes{}) {
			t.Fatalf("after %q and %q: %+v and %+v are left", out.String(), before.Undo(), now, s.Modes())
		}
	}
}
