package shells

import "testing"

// TestRunning: neither a name given to exec nor the release in a file's name hides a shell.
func TestRunning(t *testing.T) {
	for _, c := range []struct {
		file string
		argv []string
		want string
	}{
		{"/usr/bin/bash", []string{"-bash"}, "bash"},
		{"/usr/bin/fish", []string{"bash", "--norc"}, "fish"},
		{"/usr/bin/fish (deleted)", []string{"fish"}, "fish"},
		{"/opt/py/bin/python3.11", []string{"python"}, "python"},
		{"/usr/bin/ksh93", []string{"ksh"}, "ksh"},
		{"/usr/bin/zsh-5.9", []string{"zsh"}, "zsh"},
		{"/usr/lib/postgresql/15/bin/psql", []string{"/usr/lib/postgresql/15/bin/psql", "-h", "x", "db"}, "psql"},
		{"/bin/busybox", []string{"ash"}, "ash"},
		{"", []string{"zsh", "-f"}, "zsh"},
		{"/usr/bin/bash", []string{"/bin/bash", "/usr/bin/pyenv"}, ""},
		{"/usr/bin/bash", []string{"bash", "-c", "true"}, ""},
		{"/usr/bin/perl", []string{"bash"}, ""},
		{"/usr/bin/perl", []string{"perl"}, ""},
		{"", []string{"cat"}, ""},
	} {
		got := ""
		if p := Running(c.argv, c.file); p != nil {
			got = p.Language
		}
		if got != c.want {
			t.Errorf("%q %q is %q, want %q", c.file, c.argv, got, c.want)
		}
	}
}
