package screen

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testdata = "../../testdata"

// moments is how many evenly spread output events of a recording are looked at.
const moments = 8

// recording is the output of an asciinema v2 file and the sizes of its terminal,
// event by event.
type recording struct {
	name       string // agent/recording
	golden     string // file of what tmux showed
	rows, cols int
	events     []event
	typed      []int // how many events there were before each input
}

// event is output, or where rows is not 0 a new size.
type event struct {
	output     []byte
	rows, cols int
}

// all is the whole output.
func (rec recording) all() []byte {
	var out []byte
	for _, e := range rec.events {
		out = append(out, e.output...)
	}
	return out
}

// play gives events [from, to) to a terminal, output in pieces as long as can be.
func (rec recording) play(from, to int, write func([]byte), resize func(rows, cols int)) {
	var out []byte
	for _, e := range rec.events[from:to] {
		if out = append(out, e.output...); e.rows > 0 {
			write(out)
			resize(e.rows, e.cols)
			out = nil
		}
	}
	write(out)
}

func recordings(t testing.TB) []recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "transcripts", "*", "*.cast*"))
	must(t, err)
	agents, err := filepath.Glob("../../inject/agents/*/testdata/transcripts/*.cast*")
	must(t, err)
	if len(paths) == 0 || len(agents) == 0 {
		t.Fatalf("recordings: %d of programs, %d of agents", len(paths), len(agents))
	}
	paths = append(agents, paths...)
	var out []recording
	for _, path := range paths {
		out = append(out, readRecording(t, path))
	}
	return out
}

func readRecording(t testing.TB, path string) recording {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	base, packed := strings.CutSuffix(filepath.Base(path), ".gz")
	base = strings.TrimSuffix(base, ".cast")
	dir := strings.TrimSuffix(filepath.Dir(path), "/testdata/transcripts")
	name := filepath.Base(dir) + "/" + base
	var data io.Reader = f
	if packed {
		if data, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	d := json.NewDecoder(data)
	var head struct{ Width, Height int }
	if err := d.Decode(&head); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	golden := filepath.Join(strings.ReplaceAll(filepath.Dir(path), "/transcripts", "/screens"), base+".txt")
	rec := recording{name: name, golden: golden, rows: head.Height, cols: head.Width}
	for d.More() {
		var at float64
		var kind, text string
		if err := d.Decode(&[]any{&at, &kind, &text}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch kind {
		case "o":
			rec.events = append(rec.events, event{output: []byte(text)})
		case "i":
			rec.typed = append(rec.typed, len(rec.events))
		case "r":
			var e event
			if _, err := fmt.Sscanf(text, "%dx%d", &e.cols, &e.rows); err != nil {
				t.Fatalf("%s: size %q", name, text)
			}
			rec.events = append(rec.events, e)
		}
	}
	return rec
}

// moments returns after how many events to look.
func (rec recording) moments() []int {
	var out []int
	for k := 1; k <= moments; k++ {
		n := rec.settled(len(rec.events) * k / moments)
		if n > 0 && (len(out) == 0 || n > out[len(out)-1]) {
			out = append(out, n)
		}
	}
	return out
}

// settled moves a moment n that lies in the redraw after a new size to before that.
// Until a program has redrawn, terminals differ in what stands in a row that was
// cut and is long again; in tmux 3.3a the old text does.
func (rec recording) settled(n int) int {
	const redraw = 3 // events
	for back := 1; back <= redraw && back <= n; back++ {
		if rec.events[n-back].rows > 0 {
			return n - back
		}
	}
	return n
}

// watch plays each part between two moments, and collects what look then sees.
func (rec recording) watch(write func([]byte), resize func(rows, cols int), look func() look) string {
	var b strings.Builder
	done := 0
	for _, n := range rec.moments() {
		rec.play(done, n, write, resize)
		done = n
		fmt.Fprintf(&b, "after %d of %d: %v", n, len(rec.events), look())
	}
	return b.String()
}

// TestRecordingsAsTmux holds our screen against what tmux 3.3a showed at the
// same moments of each recording: every row, the cursor, the dim cells, the title.
func TestRecordingsAsTmux(t *testing.T) {
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			if *update {
				updateGolden(t, rec, rec.golden)
			}
			want, err := os.ReadFile(rec.golden)
			must(t, err)
			s := New(rec.rows, rec.cols)
			got := rec.watch(func(p []byte) { s.Write(p) }, s.Resize, func() look { return lookAt(s) })
			diffLines(t, got, withoutQuirks(string(want)))
		})
	}
}

// TestMarginsShowTheSame plays what tmux sent, side by side panes and all, for the
// same keys to a terminal that it knew nothing of and to one that called itself
// XTerm, for which it uses left and right margins (DECSLRM). tmux has none itself,
// so it cannot be the judge. Before each key both terminals must look the same.
func TestMarginsShowTheSame(t *testing.T) {
	dir := filepath.Join(testdata, "transcripts", "tmux")
	plain, fenced := readRecording(t, filepath.Join(dir, "tmux.cast")), readRecording(t, filepath.Join(dir, "margins", "tmux.cast"))
	if !bytes.Contains(fenced.all(), []byte("\x1b[42;80s")) {
		t.Fatal("the recording has no margins: the test looks at nothing")
	}
	const keys = 30 // from the end; the first inputs are answers, which differ
	a, b := New(plain.rows, plain.cols), New(fenced.rows, fenced.cols)
	doneA, doneB := 0, 0
	for k := keys; k > 0; k-- {
		toA, toB := plain.typed[len(plain.typed)-k], fenced.typed[len(fenced.typed)-k]
		plain.play(doneA, toA, func(p []byte) { a.Write(p) }, a.Resize)
		fenced.play(doneB, toB, func(p []byte) { b.Write(p) }, b.Resize)
		doneA, doneB = toA, toB
		if got, want := lookAt(b).String(), lookAt(a).String(); got != want {
			t.Errorf("with %d keys to come", k)
			diffLines(t, got, want)
		}
	}
}

// graphicsQuery is how OpenCode asks for the kitty graphics protocol, in an APC.
// tmux 3.3a takes any APC for a title; ECMA-48 leaves its meaning to the two
// sides, and in xterm and kitty it never is a title. The files keep what tmux
// said.
const graphicsQuery = "Gi=31337,s=1,v=1,a=q,t=d,f=24;AAAA"

func withoutQuirks(want string) string {
	return strings.ReplaceAll(want, fmt.Sprintf("title %q", graphicsQuery), `title ""`)
}

func updateGolden(t *testing.T, rec recording, golden string) {
	t.Helper()
	p := newPane(t, rec.rows, rec.cols)
	screens := rec.watch(p.write, p.resize, p.look)
	must(t, os.MkdirAll(filepath.Dir(golden), 0o755))
	must(t, os.WriteFile(golden, []byte(screens), 0o644))
}

// TestMomentsAreBetweenSequences holds what updating relies on: the barrier that
// follows each part does not fall into a sequence.
func TestMomentsAreBetweenSequences(t *testing.T) {
	for _, rec := range recordings(t) {
		plain, cut := New(rec.rows, rec.cols), New(rec.rows, rec.cols)
		rec.play(0, len(rec.events), func(p []byte) { plain.Write(p) }, plain.Resize)
		n := 0
		for _, end := range rec.moments() {
			rec.play(n, end, func(p []byte) { cut.Write(append(p, barrier...)) }, cut.Resize)
			n = end
		}
		if got, want := lookAt(cut).String(), lookAt(plain).String(); got != want {
			t.Errorf("%s: with barriers\n%s\nwithout\n%s", rec.name, got, want)
		}
	}
}

func diffLines(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	moment, shown := "", 0
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if strings.HasPrefix(b, "after ") {
			moment, _, _ = strings.Cut(b, ":")
		}
		if a != b && shown < 12 {
			shown++
			t.Errorf("%s, line %d:\n got %q\nwant %q", moment, i+1, a, b)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
