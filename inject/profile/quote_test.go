package profile

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// quoted is one quoted part of a word.
var quoted = regexp.MustCompile(`'([^']*)'|"(')"`)

func unquote(t *testing.T, line string) string {
	t.Helper()
	arg, ok := strings.CutPrefix(line, " : ")
	if !ok {
		t.Fatalf("%q is no null command", line)
	}
	var b strings.Builder
	for len(arg) > 0 {
		m := quoted.FindStringSubmatchIndex(arg)
		if m == nil || m[0] != 0 {
			t.Fatalf("%q has something outside of quotes: %q", line, arg)
		}
		for _, g := range [][2]int{{m[2], m[3]}, {m[4], m[5]}} {
			if g[0] >= 0 {
				b.WriteString(arg[g[0]:g[1]])
			}
		}
		arg = arg[m[1]:]
	}
	return b.String()
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", "it's", "''", "'; x", "a\nb\n", "\u2028x", `"'"`, `\`, "!x 'y'", "\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Split(lineEnds.Replace(text), "\n")
		for i, line := range strings.Split(Quote{Posix: true}.Text(text), "\n") {
			if got := unquote(t, line); i >= len(want) || got != want[i] {
				t.Fatalf("line %d of %q says %q", i, text, got)
			}
		}
		for i, line := range strings.Split(Quote{Comment: "// ", End: " "}.Text(text), "\n") {
			if i >= len(want) || line != "// "+want[i]+" " || strings.ContainsAny(line, "\u2028\u2029") {
				t.Fatalf("line %d of %q is %q", i, text, line)
			}
		}
		if got := (Quote{}).Text(text); got != text {
			t.Fatalf("no quote made %q of %q", got, text)
		}
	})
}

func TestARealShellReadsTheTextBack(t *testing.T) {
	text := "it's \"so\" $(x) `y` \\ !z '' '\"'\"' \\'\n\nlast '"
	script := "set -f\n"
	for _, line := range strings.Split(Quote{Posix: true}.Text(text), "\n") {
		script += "printf '%s\\n' " + strings.TrimPrefix(line, " : ") + "\n"
	}
	out, err := exec.Command("sh", "-c", script).Output()
	if err != nil || string(out) != text+"\n" {
		t.Errorf("sh read %q, %v, want %q", out, err, text)
	}
}
