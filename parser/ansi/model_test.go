package ansi

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/pty/screen/streams"
)

// model is Reader without anything to save work: every byte by itself, every line.
type model struct {
	line  line
	place place
	state escapeState
	seq   sequence
	first bool // the first parameter is being read
	isOSC bool
	size  int // of a string
}

// next takes a byte and reports whether it ended the line l.
func (m *model) next(c byte) (l Line, ended bool) {
	if m.state != inText || c == 0x1B {
		if m.escape(c) {
			m.line.applyReturn()
			m.place.obey(m.seq, &m.line)
		}
		if c != '\n' && c != '\r' || m.state != inText {
			return Line{}, false
		}
	}
	switch {
	case c == '\n':
		return m.newline(), true
	case c == '\r':
		m.line.carriage()
	case c == '\b':
		m.line.back()
	case c == '\v' || c == '\f':
		m.place.tainted = true
	case c >= ' ' && c != 0x7F || c == '\t':
		m.place.print()
		m.line.put(c)
	}
	return Line{}, false
}

func (m *model) newline() Line {
	l := Line{Painted: m.place.painted()}
	l.Text, l.Fresh = m.line.end()
	m.place.newline()
	return l
}

// escape takes a byte of a sequence and reports whether it completes m.seq.
func (m *model) escape(c byte) bool {
	switch {
	case m.state == inString || m.state == stringESC:
		m.inString(c)
	case c == 0x1B:
		m.state, m.seq = afterESC, sequence{number: -1}
	case c == 0x18 || c == 0x1A:
		m.state = inText
	case c == '\n' || c == '\r':
		m.state, m.seq = inText, sequence{final: 'E'}
		return true
	case c < ' ' || c == 0x7F:
	case m.state == afterESC:
		return m.escaped(c)
	case m.state == inCSI:
		return m.csi(c)
	default:
		m.state = inText
	}
	return false
}

func (m *model) escaped(c byte) bool {
	switch c {
	case '[':
		m.state, m.first = inCSI, true
	case ']', 'P', 'X', '^', '_':
		m.state, m.size, m.isOSC = inString, 0, c == ']'
	case '(', ')', '*', '+', '-', '.', '/', ' ', '#', '%', 'N', 'O':
		m.state = oneMore
	default:
		m.state, m.seq.final = inText, c
		return true
	}
	return false
}

func (m *model) csi(c byte) bool {
	switch {
	case c >= '0' && c <= '9':
		if m.first {
			m.seq.number = min(max(m.seq.number, 0)*10+int(c-'0'), 1<<20)
		}
	case c >= '<' && c <= '?':
		m.seq.prefix = c
	case c == ':' || c == ';':
		m.first = false
	case c >= ' ' && c <= '/':
		m.seq.middle = true
	case c >= '@' && c <= '~':
		m.state, m.seq.kind, m.seq.final = inText, '[', c
		return true
	default:
		m.state = inText
	}
	return false
}

func (m *model) inString(c byte) {
	m.size++
	switch {
	case c == 0x07 && m.isOSC, c == 0x18, c == 0x1A, m.size > maxString:
		m.state = inText
	case c == 0x1B:
		m.state = stringESC
	case m.state == stringESC && c == '\\':
		m.state = inText
	case m.state == stringESC:
		m.state, m.seq = afterESC, sequence{number: -1}
		m.escaped(c)
	}
}

// kept is a Line that outlives the next call.
type kept struct {
	text    string
	fresh   int
	painted bool
}

func keep(l Line) kept { return kept{string(l.Text), l.Fresh, l.Painted} }

// piece is some output; the turn ends before it if resync is set.
type piece struct {
	text   string
	resync bool
}

func byModel(pieces []piece) (all []kept) {
	var m model
	for _, p := range pieces {
		if p.resync {
			m.place.lost = false
		}
		for i := range len(p.text) {
			if l, ended := m.next(p.text[i]); ended {
				all = append(all, keep(l))
			}
		}
	}
	if !m.line.empty() {
		all = append(all, keep(m.newline()))
	}
	return all
}

func byReader(r Reader, pieces []piece) (wanted []kept) {
	for _, p := range pieces {
		if p.resync {
			r.Resync()
		}
		for rest := []byte(p.text); len(rest) > 0; {
			l, n, ok := r.Next(rest)
			if ok {
				wanted = append(wanted, keep(l))
			}
			rest = rest[n:]
		}
	}
	if l, ok := r.Rest(); ok {
		wanted = append(wanted, keep(l))
	}
	return wanted
}

// checkModel compares Reader, with all that it can be told, and the model. A line that
// is not wanted may come all the same.
func checkModel(t *testing.T, pieces []piece) {
	t.Helper()
	all := byModel(pieces)
	const among = ">`~"
	settings := []Reader{{}, {SkipPainted: true}, {Among: among}, {SkipPainted: true, Among: among}}
	for _, r := range settings {
		got := byReader(r, pieces)
		for i, line := range all {
			if len(got) > 0 && got[0] == line {
				got = got[1:]
				continue
			}
			dull := r.Among != "" && !strings.ContainsAny(line.text, r.Among)
			if dull || line.painted && r.SkipPainted {
				continue
			}
			t.Fatalf("skip painted %v, among %q: line %d is %+v, want %+v\n%.2000q",
				r.SkipPainted, r.Among, i, got[:min(1, len(got))], line, fmt.Sprint(pieces))
		}
		if len(got) > 0 && !(got[0].painted && r.SkipPainted) {
			t.Fatalf("skip painted %v, among %q: %+v more\n%.2000q",
				r.SkipPainted, r.Among, got[0], fmt.Sprint(pieces))
		}
	}
}

// fragments are what hostile output is made of.
var fragments = []string{
	"\n", "\n", "\r\n", "\r\n", "\r", "\b", "\t", "\v", "\f", "\a", "\x00", "\x7f", "\x18",
	"\x1b", "\x1b[", "[", "[-m", "m", "K", ";", "3",
	"a", " ", "text of a line", "->relay:bob hi", "->", "-", ">", "```", "~~~", "日本", "\xff",
	"\xe6\x97", "\xc2\x9b",
	"\x1b[m", "\x1b[31m", "\x1b[1;38;5;200m", "\x1b[38;2;255;255;255;48;2;1;2;3m", "\x1b[>1m",
	"\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[?K", "\x1b[ K",
	"\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3C", "\x1b[D", "\x1b[5G", "\x1b[H", "\x1b[1;1H",
	"\x1b[7;3H", "\x1b[J", "\x1b[2J", "\x1b[3J", "\x1b[1J",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bc",
	"\x1bM", "\x1bD", "\x1b(B", "\x1b(\n", "\x1b[d", "\x1b[2;9r",
	"\x1b]0;a title\a", "\x1b]8;;http://x\x1b\\", "\x1bPq->\x1b\\", "\x1b]0;\n", "\x1b[\x7f1m",
	"\x1b[1\rm", "\x1b[1\x1b[31m",
	strings.Repeat("long plain text ", 12), strings.Repeat("\x1b[32mgreen\x1b[0m ", 12),
	strings.Repeat("\x1b[32mgreen\x1b[0m\r\n", 9), strings.Repeat("\x1b[3;3H\x1b[7mpainted\x1b[m", 8),
}

// cut cuts text in pieces, a few of them bytes.
func cut(rng *rand.Rand, text string) (pieces []piece) {
	for text != "" {
		n := 1 + rng.IntN(min(len(text), 1<<rng.IntN(14)))
		pieces, text = append(pieces, piece{text[:n], rng.IntN(20) == 0}), text[n:]
	}
	return pieces
}

func TestReaderIsTheModel(t *testing.T) {
	for seed := range uint64(6000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		for range 1 + rng.IntN(60) {
			b.WriteString(fragments[rng.IntN(len(fragments))])
		}
		checkModel(t, cut(rng, b.String()))
	}
}

func TestReaderIsTheModelOnStreams(t *testing.T) {
	for i, k := range streams.Kinds {
		rng := rand.New(rand.NewPCG(uint64(i), 4))
		text := string(k.Make(40_000))
		checkModel(t, []piece{{text: text}})
		for range 5 {
			at := rng.IntN(len(text)) // what is known must not depend on how it began
			checkModel(t, cut(rng, text[at:]+fragments[rng.IntN(len(fragments))]+text[:at]))
		}
	}
}

func TestReaderIsTheModelOnRecordings(t *testing.T) {
	files, err := filepath.Glob("../../testdata/transcripts/*/*.cast*")
	agents, err2 := filepath.Glob("../../inject/agents/*/testdata/transcripts/*.cast*")
	if files = append(agents, files...); err != nil || err2 != nil || len(files) < 40 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for i, file := range files {
		name := filepath.Base(strings.TrimSuffix(filepath.Dir(file), "/testdata/transcripts")) + "/" + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			pieces := recorded(t, file)
			checkModel(t, pieces)
			var all strings.Builder
			for _, p := range pieces {
				all.WriteString(p.text)
			}
			for part := range uint64(2) {
				checkModel(t, cut(rand.New(rand.NewPCG(uint64(i), part)), all.String()))
			}
		})
	}
}

// recorded is the output in an asciinema recording.
func recorded(t *testing.T, file string) (pieces []piece) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	dec := json.NewDecoder(in)
	for {
		var event any
		if err := dec.Decode(&event); err == io.EOF {
			return pieces
		} else if err != nil {
			t.Fatal(err)
		}
		if e, ok := event.([]any); ok && len(e) == 3 && e[1] == "o" {
			pieces = append(pieces, piece{text: e[2].(string)})
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add(strings.Join(fragments, ""), uint64(1))
	f.Fuzz(func(t *testing.T, in string, seed uint64) {
		checkModel(t, []piece{{text: in}})
		checkModel(t, cut(rand.New(rand.NewPCG(seed, 1)), in))
	})
}
