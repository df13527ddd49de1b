package prompt

import (
	"regexp"
	"testing"
)

type pattern struct{ *regexp.Regexp }

func (p pattern) Match(row string) bool { return p.MatchString(row) }

var continued = pattern{regexp.MustCompile(`^> $`)}

func TestAt(t *testing.T) {
	for _, c := range []struct {
		name  string
		row   Row
		parts Pattern // of something begun
		want  bool
	}{
		{"the same prompt", Row{Line: "$ ", Read: true}, continued, true},
		{"one that ends alike", Row{Line: "~/src $ ", Read: true, Ever: true}, continued, true},
		{"a continuation", Row{Line: "> ", Read: true, Ever: true}, continued, false},
		{"one with another end", Row{Line: ">> ", Read: true, Ever: true}, continued, false},
		{"another end, where there are no continuations", Row{Line: ">> ", Read: true, Ever: true}, nil, true},
	} {
		var w Watch
		w.At(Row{Line: "$ ", Read: true}, c.parts)
		if got := w.At(c.row, c.parts); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestAtOneThatEdits: where the first prompt was a line editor's, the others must be, too.
func TestAtOneThatEdits(t *testing.T) {
	for _, edits := range []bool{false, true} {
		for _, later := range []bool{false, true} {
			var w Watch
			w.At(Row{Line: "$ ", Read: true, Edits: edits}, continued)
			want := later || !edits
			if got := w.At(Row{Line: "who $ ", Read: true, Ever: true, Edits: later}, continued); got != want {
				t.Errorf("first %v, then %v: %v, want %v", edits, later, got, want)
			}
			draft := Row{Line: "$ ls", Read: true, Ever: true, Typed: true, Edits: later}
			if got := w.Continues(draft, true); got != want {
				t.Errorf("a line; first %v, then %v: %v, want %v", edits, later, got, want)
			}
		}
	}
}

// TestAtOneThatAsksAlike: a shell that leaves its line to the terminal is told from its builtins by
// how it waits.
func TestAtOneThatAsksAlike(t *testing.T) {
	for _, c := range []struct {
		seen, late, later string // the first two before any key
		want              bool
	}{
		{"8192", "", "8192", true},
		{"8192", "", "1", false},
		{"", "8192", "1", false},
		{"", "8192", "8192", true},
		{"8192", "", "", false}, // on its way to a read, nobody knows to which
		{"", "", "1", true},
	} {
		var w Watch
		w.At(Row{Line: "# ", Read: true, ReadPlace: c.seen}, continued)
		w.At(Row{Line: "# ", Read: true, ReadPlace: c.late}, continued)
		if got := w.At(Row{Line: "# ", Read: true, Ever: true, ReadPlace: c.later}, continued); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
		draft := Row{Line: "# ls", Read: true, Ever: true, Typed: true, ReadPlace: c.later}
		if got := w.Continues(draft, true); got != c.want {
			t.Errorf("a line; %+v: %v, want %v", c, got, c.want)
		}
	}
}

func TestWhatStandsBehindThePrompt(t *testing.T) {
	typed := func(line, after string) Row {
		return Row{Line: line, After: after, Typed: true, Ever: true, Read: true}
	}
	for _, c := range []struct {
		name     string
		row      Row
		goes, is bool // it goes on at the prompt; it is a draft
		text     string
	}{
		{"nothing", Row{Line: "$ ", Read: true}, false, false, ""},
		{"keys that left nothing", typed("$ ", ""), false, false, ""},
		{"a line", typed("$ ls -la", ""), true, true, "ls -la"},
		{"a line, the cursor within", typed("$ ls", " -la"), true, true, "ls -la"},
		{"a line, the cursor at its start", typed("$ ", "ls -la"), false, true, "ls -la"},
	} {
		var w Watch
		w.At(Row{Line: "$ ", Read: true}, nil)
		if goes, is, text := w.Continues(c.row, false), w.Changed(c.row), w.Text(c.row); goes != c.goes || is != c.is || text != c.text {
			t.Errorf("%s: goes on %v, a draft %v, %q; want %v, %v, %q", c.name, goes, is, text, c.goes, c.is, c.text)
		}
	}
}

func TestNoPromptSeen(t *testing.T) {
	var w Watch
	row := Row{Line: "Loading", Typed: true, Ever: true}
	if w.Text(row) != "" || w.Continues(row, true) {
		t.Error("there is a draft where no prompt was")
	}
	w.At(Row{Line: "$ half", Typed: true, Ever: true}, nil) // typed before anybody looked
	if w.Text(row) != "" {
		t.Error("what was typed counts as a prompt")
	}
}
