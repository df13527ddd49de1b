package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testdata = "../../testdata"

// moments is how many evenly spread output events of a recording are looked at.
const moments = 8

// recording is the output of an asciinema v2 file, event by event.
type recording struct {
	name       string // agent/recording
	rows, cols int
	output     [][]byte
}

func recordings(t testing.TB) []recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "transcripts", "*", "*.cast"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var out []recording
	for _, path := range paths {
		out = append(out, readRecording(t, path))
	}
	return out
}

func readRecording(t testing.TB, path string) recording {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".cast")
	d := json.NewDecoder(bytes.NewReader(data))
	var head struct{ Width, Height int }
	if err := d.Decode(&head); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rec := recording{name: name, rows: head.Height, cols: head.Width}
	for d.More() {
		var at float64
		var kind, text string
		if err := d.Decode(&[]any{&at, &kind, &text}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kind == "o" {
			rec.output = append(rec.output, []byte(text))
		}
	}
	return rec
}

// moments returns after how many output events to look.
func (rec recording) moments() []int {
	var out []int
	for k := 1; k <= moments; k++ {
		if n := len(rec.output) * k / moments; n > 0 && (len(out) == 0 || out[len(out)-1] != n) {
			out = append(out, n)
		}
	}
	return out
}

// watch shows each part between two moments to write, and collects what look
// then sees.
func (rec recording) watch(write func([]byte), look func() look) string {
	var b strings.Builder
	done := 0
	for _, n := range rec.moments() {
		write(bytes.Join(rec.output[done:n], nil))
		done = n
		fmt.Fprintf(&b, "after %d of %d: %v", n, len(rec.output), look())
	}
	return b.String()
}

// TestRecordingsAsTmux holds our screen against what tmux 3.3a showed at the
// same moments of each recording: every row, the cursor, the dim cells, the title.
func TestRecordingsAsTmux(t *testing.T) {
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			golden := filepath.Join(testdata, "screens", rec.name+".txt")
			if *update {
				updateGolden(t, rec, golden)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			s := New(rec.rows, rec.cols)
			got := rec.watch(func(p []byte) { s.Write(p) }, func() look { return lookAt(s) })
			diffLines(t, got, withoutQuirks(string(want)))
		})
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
	screens := rec.watch(func(data []byte) {
		p.write(data)
	}, p.look)
	if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(golden, []byte(screens), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMomentsAreBetweenSequences holds what updating relies on: the barrier that
// follows each part does not fall into a sequence.
func TestMomentsAreBetweenSequences(t *testing.T) {
	for _, rec := range recordings(t) {
		plain, cut := New(rec.rows, rec.cols), New(rec.rows, rec.cols)
		n := 0
		for _, end := range rec.moments() {
			part := bytes.Join(rec.output[n:end], nil)
			n = end
			plain.Write(part)
			cut.Write(part)
			cut.Write([]byte(barrier))
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
