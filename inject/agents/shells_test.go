package agents

import (
	"strings"
	"testing"

	"github.com/dlclark/regexp2"

	"relay-pty/inject/profile"
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
	for line, want := range map[string]profile.Quote{
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
