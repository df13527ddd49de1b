package profile

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
)

func TestWhichCommandLinesPrompt(t *testing.T) {
	for line, want := range map[string]string{
		"bash": "shell", "/bin/bash -l": "shell", "-bash": "shell", "bash --norc -i": "shell", "bash --rcfile x": "shell", "zsh -f": "shell",
		"bash -c ls": "generic", "bash -lc ls": "generic", "sh script.sh": "generic", "sh -- script.sh": "generic", "bash -O extglob": "shell",
		"fish": "shell", "fish -c ls": "generic", "python3": "shell", "python3 -q": "shell", "python3 x.py": "generic", "python3 -m http.server": "generic",
		"python3 -i x.py": "shell", "python3 -c 1": "generic", "python -W ignore": "shell", "node": "shell", "node cli.js": "generic", "node -e 1": "generic",
		"sqlite3": "shell", "sqlite3 a.db": "shell", "sqlite3 a.db .dump": "generic", "sqlite3 -batch": "generic",
		"psql": "shell", "psql -h localhost db me": "shell", "psql -c 1": "generic", "psql db me x": "generic",
		"claude": "claude", "cat": "generic", "ipython": "generic", "bashful": "generic",
	} {
		if got := For(strings.Fields(line)...).Name; got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}

func TestNamedShellSpeaksTheCommandsLanguage(t *testing.T) {
	for line, want := range map[string]Quote{
		"mywrapper": {Posix: true}, "fish -c x": {Comment: " # "}, "": {Posix: true}, "node x.js": {Comment: "// ", End: " "},
	} {
		p, ok := Named("shell", strings.Fields(line)...)
		if !ok || p.Quote != want {
			t.Errorf("shell for %q quotes by %+v, want %+v", line, p.Quote, want)
		}
	}
}

func TestPromptsOfShells(t *testing.T) {
	for _, c := range []struct {
		shell, row string
		first      bool // a prompt, not one for the rest of something begun
	}{
		{"bash", "$ ", true}, {"bash", "bob@host:~/src$ ", true}, {"bash", "root@host:/# ", true}, {"zsh", "host% ", true},
		{"zsh", "➜  src git:(main) ✗ ", true}, {"zsh", "❯ ", true}, {"zsh", "╰─ ", true}, {"zsh", "in ~/src λ ", true},
		{"bash", "> ", false}, {"dash", "> ", false}, {"zsh", "quote> ", false}, {"zsh", "dquote> ", false}, {"zsh", "for dquote> ", false},
		{"zsh", "heredoc> ", false}, {"zsh", "pipe quote> ", false}, {"bash", "ready> ", true}, {"bash", "Password: ", false}, {"bash", "", false},
		{"fish", "bob@host ~> ", true}, {"fish", "read> ", false},
		{"python3", ">>> ", true}, {"python3", "... ", false}, {"node", "> ", true}, {"node", "... ", false}, {"node", "| ", false},
		{"sqlite3", "sqlite> ", true}, {"sqlite3", "   ...> ", false}, {"sqlite3", "'  ...> ", false},
		{"psql", "postgres=# ", true}, {"psql", "db=> ", true}, {"psql", "db=*# ", true}, {"psql", "db-# ", false}, {"psql", "db'# ", false}, {"psql", "db(> ", false},
	} {
		p := For(c.shell)
		ok, err := regexp2.MustCompile(p.Prompt, regexp2.None).MatchString(c.row)
		if err != nil {
			t.Fatal(err)
		}
		if got := ok && (p.Continued == nil || !p.Continued.Match(c.row)); got != c.first {
			t.Errorf("%s: %q is a prompt: %v, want %v", c.shell, c.row, got, c.first)
		}
	}
}

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
