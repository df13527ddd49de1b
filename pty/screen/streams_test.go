package screen

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// streams are the kinds of output that speed is measured on, about size bytes of
// each.
func streams(size int) map[string][]byte {
	return map[string][]byte{
		"text":  generate(size, plainText),
		"sgr":   generate(size, colouredText),
		"tui":   generate(size, redraw),
		"boxes": generate(size, boxes),
		"world": generate(size, world),
	}
}

func generate(size int, part func(*strings.Builder, *rand.Rand)) []byte {
	var b strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); b.Len() < size; {
		part(&b, r)
	}
	return []byte(b.String())
}

const letters = "the quick brown fox jumps over a lazy dog and then sleeps until noon because nothing else is to be done "

func words(r *rand.Rand, n int) string {
	from := r.IntN(len(letters) - n)
	return letters[from : from+n]
}

// plainText is what a compiler or cat writes.
func plainText(b *strings.Builder, r *rand.Rand) {
	b.WriteString(words(r, 20+r.IntN(80)))
	b.WriteString("\r\n")
}

// colouredText is ls and git: a colour every few letters.
func colouredText(b *strings.Builder, r *rand.Rand) {
	for range 8 {
		fmt.Fprintf(b, "\x1b[%d;%dm%s\x1b[0m ", r.IntN(2), 31+r.IntN(7), words(r, 5+r.IntN(10)))
	}
	b.WriteString("\r\n")
}

// redraw is htop: positioned pieces of a full screen.
func redraw(b *strings.Builder, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[%d;%dH\x1b[38;5;%dm%s\x1b[K", 1+r.IntN(50), 1+r.IntN(100), r.IntN(256), words(r, 10+r.IntN(30)))
	if r.IntN(8) == 0 {
		b.WriteString("\x1b[?25l\x1b[m\x1b[H\x1b[2;40r\x1b[r\x1b[?25h")
	}
}

// boxes is an Ink frame: rules, borders, glyphs, then up again.
func boxes(b *strings.Builder, r *rand.Rand) {
	b.WriteString("\x1b[2m╭" + strings.Repeat("─", 78) + "╮\x1b[22m\r\n")
	for range 3 {
		fmt.Fprintf(b, "│ \x1b[38;2;%d;120;%dm❯\x1b[39m %-40s ● ✳ ⎿ … │\x1b[K\r\n", r.IntN(4)*60, r.IntN(4)*60, words(r, 30))
	}
	b.WriteString("╰" + strings.Repeat("─", 78) + "╯\r\n\x1b[2K\x1b[5A\x1b[G")
}

// world is text of many scripts, emoji and what joins and combines with them, one
// row in four of each kind.
func world(b *strings.Builder, r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		b.WriteString("漢字かな交じり文、全角の句読点。한국어 문장도 있습니다")
	case 1:
		b.WriteString("Ünïcödé façade naïve, Ελληνικά, кириллица, ✓ done → next")
	case 2:
		b.WriteString("🚀 launch 👍🏽 ok 👩‍💻 dev 🇦🇺 flag ⚠️ warn ❤️‍🔥")
	case 3:
		b.WriteString("e\u0301a\u0300o\u0308 हिन्दी ไทย " + words(r, 30))
	}
	b.WriteString("\r\n")
}

// chunk is how much a PTY gives in one read.
const chunk = 4096

func writeChunks(s *Screen, data []byte) {
	for len(data) > 0 {
		n := min(chunk, len(data))
		s.Write(data[:n])
		data = data[n:]
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, data := range streams(1 << 20) {
		b.Run(name, func(b *testing.B) {
			s := New(50, 200)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				writeChunks(s, data)
			}
		})
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	for name, data := range streams(1 << 20) {
		s := New(50, 200)
		if n := testing.AllocsPerRun(3, func() { writeChunks(s, data) }); n != 0 {
			t.Errorf("%s: %v allocations for 1 MB, want 0", name, n)
		}
	}
}

func TestCombiningAllocatesNothing(t *testing.T) {
	s := New(24, 80)
	in := []byte("e\u0301 👨\u200d👩\u200d👧 中\u0301\r\n")
	if n := testing.AllocsPerRun(100, func() { s.Write(in) }); n != 0 {
		t.Errorf("%v allocations for known clusters, want 0", n)
	}
}

func TestHeapIsSmall(t *testing.T) {
	const screens = 8
	data := streams(1 << 18)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make([]*Screen, screens)
	for i := range kept {
		kept[i] = New(50, 200)
		for _, d := range data {
			writeChunks(kept[i], d)
		}
		kept[i].Write([]byte("\x1b[?1049h"))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / screens
	t.Logf("%d bytes a screen of 50 by 200 with both pages", each)
	if each > 500_000 {
		t.Errorf("%d bytes, want at most 500000", each)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(data)
}
