package parser

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"relay-pty/parser/ansi"
	"relay-pty/protocol/counts"
	"relay-pty/pty/screen/streams"
)

// thorough is a Stream that looks at every line in the same way. Its reader, which is told of
// nothing that it may pass over, is held against a model of its own.
type thorough struct {
	Stream
	lines ansi.Reader
}

func (s *thorough) read(l ansi.Line) {
	switch {
	case l.Painted || l.Fresh < len(l.Text):
		s.refuse(l)
	case hasC1(l.Text):
		s.refuse(ansi.Line{Painted: true})
	default:
		s.take(l.Text)
	}
}

func (s *thorough) do(verb, text string) {
	switch verb {
	case "mask":
		s.Mask(text)
	case "type":
		s.Typed([]byte(text))
	case "out":
		for p := []byte(text); len(p) > 0; {
			l, n, ok := s.lines.Next(p)
			if ok {
				s.read(l)
			}
			p = p[n:]
		}
	case "end":
		s.lines.Resync()
		s.End()
	}
}

func (s *thorough) close() {
	if l, ok := s.lines.Rest(); ok {
		s.read(l)
	}
	s.End()
}

// checkThorough plays steps to a Stream and to a thorough one.
func checkThorough(t *testing.T, steps []string) {
	t.Helper()
	var want []Item
	s := thorough{Stream: Stream{Emit: func(i Item) { want = append(want, i) }}}
	for _, step := range steps {
		verb, text, _ := strings.Cut(step, " ")
		s.do(verb, text)
	}
	s.close()
	got := play(steps...)
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Fatalf("got  %s\nwant %s\n%.3000q", show(got), show(want), fmt.Sprint(steps))
	}
}

var (
	said = []string{
		"\n", "\n", "\r\n", "\r\n", "\r\n", "\r", "\b", "\v", " ", "x", "plain text there",
		"a line\r\n", "日本", "\xff", "\u009b",
		"->relay:bob hi", "->relay:bob hi\n", "->relay:bob <<<a\n", "\n>>>\n", ">>>",
		"->relay:bob <<<b>>>\n", "->pty:ready\n", "-\x1b[1m>\x1b[mrelay:bob hi\r\n", "$ ", ">>> ",
		"```\n", "~~~\n", "    ", "- ", "> ", "● ", "a masked line of text", "->relay:x evil\n",
		"a masked line of text\n->relay:x <<<\nevil\n>>>\n",
		"a first line\n```\n->relay:bob hi\n",
		"\x1b[m", "\x1b[1;32m", "\x1b[K", "\x1b[2K", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[4;4H",
		"\x1b[H", "\x1b[J", "\x1b[2J", "\x1b7", "\x1b8", "\x1bc",
		"\x1b[?1049h", "\x1b[?1049l", "\x1b]0;t->\a", "\x1b(B",
		strings.Repeat("plain text\r\n", 30), strings.Repeat("\x1b[1;32mcoloured\x1b[0m ", 30),
		strings.Repeat("\x1b[3;3Hpainted \x1b[7mtext\x1b[m", 20),
	}
	masks = []string{
		"a masked line of text", "a masked line of text\n->relay:x <<<\nevil\n>>>", "->relay:x evil",
		"->relay:bob hi", "a first line\n```",
	}
)

func TestStreamIsThorough(t *testing.T) {
	for seed := range uint64(counts.Runs(800, 4000)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var steps []string
		for range 1 + rng.IntN(12) {
			switch rng.IntN(16) {
			case 0:
				steps = append(steps, "mask "+masks[rng.IntN(len(masks))])
			case 1:
				steps = append(steps, "type "+masks[rng.IntN(len(masks))]+"\r")
			case 2:
				steps = append(steps, "end")
			}
			var b strings.Builder
			for range 1 + rng.IntN(12) {
				b.WriteString(said[rng.IntN(len(said))])
			}
			steps = append(steps, outs(rng, b.String())...)
		}
		checkThorough(t, steps)
	}
}

// TestStreamFindsMarkersInFloods puts markers between what means nothing.
func TestStreamFindsMarkersInFloods(t *testing.T) {
	for i, k := range streams.Kinds {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		flood := string(k.Make(20_000))
		for range 30 {
			at, n := rng.IntN(len(flood)), rng.IntN(2000)
			text := flood[at:min(at+n, len(flood))] + said[rng.IntN(len(said))] +
				"\x1b[2J\x1b[H->relay:bob <<<hi\n" + flood[:n] + "\n>>>\n" +
				"\x1b[2J\x1b[H->relay:bob hi\n" + flood[at:]
			checkThorough(t, outs(rng, text))
		}
	}
}

// outs cuts text in pieces, a few of them bytes.
func outs(rng *rand.Rand, text string) (steps []string) {
	for text != "" {
		n := 1 + rng.IntN(min(len(text), 1<<rng.IntN(14)))
		steps, text = append(steps, "out "+text[:n]), text[n:]
	}
	return steps
}
