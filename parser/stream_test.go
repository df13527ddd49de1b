package parser

import (
	"math/rand/v2"
	"strings"
	"testing"

	"relay-pty/parser/ansi"
	"relay-pty/protocol"
	"relay-pty/protocol/counts"
)

// stream feeds pieces to a new Stream and closes it.
func stream(pieces []string) []Item {
	var items []Item
	s := Stream{Emit: func(i Item) { items = append(items, i) }}
	for _, p := range pieces {
		s.Write([]byte(p))
	}
	s.Close()
	return items
}

// splits cuts s in the ways in which every result must be the same: whole, byte
// by byte, in two at every place (for short s), and 20 random ways.
func splits(s string) [][]string {
	all := [][]string{{s}, strings.Split(s, "")}
	bytewise := make([]string, len(s))
	for i := range len(s) {
		bytewise[i] = s[i : i+1]
	}
	all = append(all, bytewise)
	if len(s) < 300 {
		for i := range len(s) {
			all = append(all, []string{s[:i], s[i:]})
		}
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var pieces []string
		for rest := s; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 1+len(s)/4))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		all = append(all, pieces)
	}
	return all
}

func checkSplits(t *testing.T, in string, want []Item) {
	t.Helper()
	for i, pieces := range splits(in) {
		same(t, stream(pieces), want)
		if t.Failed() {
			t.Fatalf("cutting %d of %.200q", i, in)
		}
	}
}

func TestStreamReadsTheGrammarAtEverySplit(t *testing.T) {
	for _, c := range grammar {
		if strings.Contains(c.in, "\xff") || strings.Contains(c.in, "\r") {
			continue // a stream repairs UTF-8 and line ends
		}
		t.Run(c.name, func(t *testing.T) {
			checkSplits(t, c.in, c.want)
			checkSplits(t, strings.ReplaceAll(c.in, "\n", "\r\n"), c.want)
		})
	}
}

func TestStream(t *testing.T) {
	hi := []Item{to("bob", "hi", "->relay:bob hi")}
	const overwritten = "a part of the line was overwritten"
	for _, c := range []struct {
		name, in string
		want     []Item
	}{
		{"line ends become newlines", "->relay:bob <<<a\r\nb\r\r\nc>>>\r\n", []Item{to("bob", "a\nb\nc", "->relay:bob <<<a\nb\nc>>>")}},
		{"no newline at the end", "->relay:bob hi", hi},
		{"colours", "\x1b[1;31m->relay:\x1b[0mbob \x1b[38;2;1;2;3mhi\x1b[m\r\n", hi},
		{"title by BEL and by ST", "\x1b]0;->relay:eve x\n\a->relay:bob \x1b]8;;http://x\x1b\\hi\r\n", hi},
		{"DCS, APC, SOS, PM", "\x1bPq->relay:eve\n\x1b\\->re\x1b_a\x1b\\lay:\x1bXs\x1b\\bob\x1b^p\x1b\\ hi\n", hi},
		{"charsets, keypad, single shifts", "\x1b(B\x1b)0\x1b=\x1b>\x1b#8->relay:bob\x1bOA hi\x1b%G\n", hi},
		{"modes, cursor styles, queries", "\x1b[?25l\x1b[?2004h\x1b[2 q\x1b[>0q\x1b[6n\x1b[?u->relay:bob hi\x1b[!p\n", hi},
		{"a string cut off by another sequence", "\x1b]0;title\x1b[31m->relay:bob hi\n", hi},
		{"cancelled sequences", "\x1b[12\x18->relay:bob \x1b]x\x1ahi\n", hi},
		{"bells and nulls", "\a->relay\x00:bob hi\x07\x7f\n", hi},
		{"UTF-8 stays", "->relay:bob ä€𝄞\n", []Item{to("bob", "ä€𝄞", "->relay:bob ä€𝄞")}},
		{"other bytes are replaced", "->relay:bob a\xffb\xe2\x82\n", []Item{to("bob", "a\uFFFDb\uFFFD", "->relay:bob a\uFFFDb\uFFFD")}},

		{"progress bar, then a newline", " 10%\r 20%\r100%\r\n->relay:bob hi\n", hi},
		{"over a shorter line", "12%\r->relay:bob hi\r\n", hi},
		{"over a line wiped with blanks", "downloading 100% of it\r                      \r->relay:bob hi\n", hi},
		{"over a line wiped by EL", "downloading 100% of it\r\x1b[K->relay:bob hi\n", hi},
		{"over a line wiped by EL 2", "downloading 100% of it\x1b[2K\r->relay:bob hi\n", hi},
		{"wiped behind", "downloading 100% of it\r->relay:bob hi\x1b[K\n", hi},
		{"over a longer line", "downloading 100% of it\r->relay:bob hi\n", []Item{bad(overwritten, "->relay:bob hi0% of it")}},
		{"printed again over itself", "->relay:bob hi\r->relay:bob hi\n", hi},
		{"only the last counts", "->relay:bob a\r\x1b[2K->relay:bob hi\n", hi},
		{"wiped", "->relay:bob hi\r\x1b[2K\n->relay:bob hi\x1b[1K\n", nil},
		{"overwritten", "->relay:bob hi\rx\n", nil},
		{"backspaces", "->relay:bog\bb hello\b\b\b\bi\x1b[K\n", hi},
		{"backspaces at the edge", "x\b\b\b->relay:bob hi\n", hi},
		{"overwritten wide text", "日本\r->relay:bob 日本\n", []Item{to("bob", "日本", "->relay:bob 日本")}},
		{"overwritten with broken text", "日\r->relay:bob \xe6\x97x\xffy\n", []Item{to("bob", "\uFFFDx\uFFFDy", "->relay:bob \uFFFDx\uFFFDy")}},

		{"cursor addressing", "\x1b[5;1H->relay:eve x\n->relay:eve y\n", nil},
		{"cursor moves", "\x1b[3C->relay:eve x\n->relay:bob\x1b[1Chi\n->relay:eve\x1b[20G x\n\x1b[2@->relay:eve x\n->relay:bob hi\n", hi},
		{"an empty screen is a new start", "\x1b[H\x1b[2J\x1b[3J->relay:bob hi\n", hi},
		{"also in the other order", "junk\x1b[2J\x1b[H->relay:bob hi\n", hi},
		{"and by erasing from the corner", "\x1b[5;5Hx\x1b[1;1H\x1b[J->relay:bob hi\n", hi},
		{"erased from elsewhere", "\x1b[5;5H\x1b[J->relay:eve x\n", nil},
		{"redrawn", "->relay:bob hi\nx\n\x1b[2A\r->relay:bob hi\nx\n", hi},
		{"redrawn from the line above", "x\n->relay:bob hi\n\x1b[2Ay\n->relay:bob hi\n->relay:carol z\n", append(hi, to("carol", "z", "->relay:carol z"))},
		{"reverse index", "->relay:bob hi\n\x1bM\r->relay:bob hi\n", hi},
		{"alternate screen", "\x1b[?1049h->relay:eve x\n->relay:eve y\n\x1b[?1049l\r\n->relay:bob hi\n", hi},
		{"reset", "\x1b[?1049h->relay:eve x\x1bc->relay:bob hi\n", hi},
		{"a status line and back", "a\n\x1b7\x1b[24;1Hstatus\x1b8\n->relay:bob hi\n", hi},
		{"back to nowhere", "\x1b[3;3H\x1b8\n->relay:eve x\n", nil},
		{"painted inside a fence", "->relay:bob <<<a\n\x1b[Ab\n>>>\n->relay:bob hi\n", append([]Item{bad("the body was overwritten on the screen", "->relay:bob <<<a")}, hi...)},
		{"C1 controls", "\u009b->relay:eve x\n->relay:eve a\u0085b\n->relay:bob hi\n", hi},
		{"a line feed inside a sequence", "\x1b[3\n->relay:bob hi\n", hi},
		{"form feed", "\f->relay:eve x\n", nil},
		{"ready", "\x1b[32m->pty:ready\x1b[0m\r\n", []Item{Ready{}}},
	} {
		t.Run(c.name, func(t *testing.T) { checkSplits(t, c.in, c.want) })
	}
}

func TestStreamBoundsLines(t *testing.T) {
	hi := to("bob", "hi", "->relay:bob hi")
	long := strings.Repeat("a", 3*ansi.MaxLine)
	raw := ("->relay:bob " + long)[:maxQuote]
	for _, c := range []struct {
		name, in string
		want     []Item
	}{
		{"text", long + "\n->relay:bob hi\n", []Item{hi}},
		{"marker", "->relay:bob " + long + "\n->relay:bob hi\n", []Item{bad("body over 65536 bytes", raw), hi}},
		{"overwritten", long + "\rx" + long + long + "\r\x1b[K->relay:bob hi\n", []Item{hi}},
		{"edges of a body", "->relay:bob <<<\n" + strings.Repeat("a", protocol.MaxBody) + "\n>>>\n", []Item{
			to("bob", strings.Repeat("a", protocol.MaxBody), "->relay:bob <<<\n"+strings.Repeat("a", protocol.MaxBody)+"\n>>>")}},
	} {
		for _, size := range []int{1 << 30, ansi.MaxLine, 4096, 7, 1}[:counts.Runs(4, 5)] {
			var pieces []string
			for rest := c.in; rest != ""; {
				n := min(size, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			same(t, stream(pieces), c.want)
			if t.Failed() {
				t.Fatalf("%s in pieces of %d", c.name, size)
			}
		}
	}
}

func TestTurnEndInAStream(t *testing.T) {
	var items []Item
	s := Stream{Emit: func(i Item) { items = append(items, i) }}
	s.Write([]byte("->relay:bob <<<a\n```\n>>> "))
	same(t, items, nil)
	s.End()
	s.Write([]byte("\r\n```\n->relay:eve x\n"))
	s.End()
	s.Write([]byte("->relay:bob hi"))
	s.Close()
	same(t, items, []Item{bad(fenceOpen, "->relay:bob <<<a"), to("bob", "hi", "->relay:bob hi")})
}

func TestStreamAllocatesNothingForPlainOutput(t *testing.T) {
	text := plainOutput()
	s := Stream{Emit: func(i Item) { t.Errorf("item %v", i) }}
	s.Write(text)
	for _, size := range []int{len(text), 4096, 100} {
		if n := testing.AllocsPerRun(5, func() {
			for rest := text; len(rest) > 0; {
				k := min(size, len(rest))
				s.Write(rest[:k])
				rest = rest[k:]
			}
		}); n != 0 {
			t.Errorf("pieces of %d bytes: %v allocations", size, n)
		}
	}
}

// plainOutput is a mebibyte like that of compilers, ls and progress bars.
func plainOutput() []byte {
	const lines = "-rw-r--r-- 1 root root  4096 Nov 21 05:26 common.md\r\n" +
		"\x1b[01;34mdirectory\x1b[0m  plain file.txt - item one; 日本語 text with ä ö ü\r\n" +
		"- a list item\n* another\n1. numbered\n\tindented code\n> quoted -> arrow\n" +
		" 45% [====>      ]\r 46% [====>      ]\r100% [==========]\n" +
		"func main() { fmt.Println(\"hello, world\") } // and a rather long comment behind it\n"
	return []byte(strings.Repeat(lines, (1<<20)/len(lines)))
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"plain", []byte(strings.Repeat("func main() { fmt.Println(\"hello, world\") } // a comment behind it\r\n", 15000))},
		{"mixed", plainOutput()},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := Stream{Emit: func(Item) {}}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				for rest := c.text; len(rest) > 0; {
					k := min(32768, len(rest))
					s.Write(rest[:k])
					rest = rest[k:]
				}
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, c := range grammar {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var sc Scanner
		var lines []Item
		for line := range strings.SplitSeq(in, "\n") {
			lines = append(lines, sc.Line(line)...)
		}
		items := Text(in)
		same(t, append(lines, sc.End()...), items)
		for _, item := range items {
			c, ok := item.(Command)
			if !ok {
				continue
			}
			if !strings.Contains(in, c.Raw) || !strings.Contains(c.Raw, c.Body) || c.Body == "" || len(c.Body) > protocol.MaxBody || protocol.ValidTarget(c.To) != nil {
				t.Errorf("command %#v", c)
			}
			same(t, Text(c.Raw), []Item{c}) // what it says it was is what it means
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, c := range grammar {
		f.Add([]byte(c.in), uint64(1))
	}
	f.Add([]byte("\x1b[2J\x1b[H\r\b\x1b]0;t\a\x1b[?1049h\x1b7\x1b8\x9b\xc2\x9b1A"), uint64(3))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		want := stream([]string{string(in)})
		rng := rand.New(rand.NewPCG(seed, 1))
		var pieces []string
		for rest := string(in); rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 9))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		same(t, stream(pieces), want)
		var one []string
		for i := range in {
			one = append(one, string(in[i:i+1]))
		}
		same(t, stream(one), want)
	})
}
