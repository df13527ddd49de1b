package screen

import (
	"fmt"
	"strings"
	"testing"
)

// hostile are short sequences that ask for much.
var hostile = []string{
	"\x1b[2147483647Z", "\x1b[65535I", "a\x1b[65535b", "中\x1b[65535b", "\x1b[65535@", "\x1b[65535P",
	"\x1b[65535L", "\x1b[65535M", "\x1b[65535S", "\x1b[65535T", "\x1b[65535X", "\x1b[2J", "\x1b[41m\x1b[2J\x1b[42m",
	"\x1b#8", "\x1b#8\x1b[1J", "\x1b[?1049h\x1b[?1049l", "\x1bc", "\x1bM", "\x1b[H\x1bM", "\x1b[2;3r", "\x1b[?3h", "\x1b[3g",
	"\x1b[4h\x1b[Hx", "\x1b[H\x1b[@", "\x1b]0;t\a", "\x1b[22t",
	"\x1b[?69h\x1b[2s\x1b[S", "\x1b[?69h\x1b[2s\x1b[L", "\x1b[120$x", "\x1b[?2J", "\x1b]133;A\a", "e\u0301", "👩\u200d💻",
}

func BenchmarkHostile(b *testing.B) {
	for _, size := range []int{50, MaxRows} {
		for _, in := range hostile {
			b.Run(fmt.Sprintf("%d/%q", size, in), func(b *testing.B) {
				s := New(size, min(4*size, MaxCols))
				data := []byte(strings.Repeat(in, 64))
				for b.Loop() {
					s.Write(data)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/seq")
			})
		}
	}
}
