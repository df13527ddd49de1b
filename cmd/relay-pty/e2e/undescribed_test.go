package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// undescribed is a program that no profile knows, and that runs what it reads, takes keys for
// commands, or hands them on.
type undescribed struct {
	argv   string                         // words; a file "text" and a directory "repo" under git are there
	over   string                         // ends what outlives the terminal
	far    bool                           // tried only at full counts, where it is installed
	wants  string                         // another program that it needs
	serves func(t *testing.T, dir string) // starts the server that it talks to
}

var strangers = []undescribed{
	{argv: "less text"},
	{far: true, argv: "git -C repo log"},
	{far: true, argv: "man ls"},
	{argv: "vim -u NONE -i NONE text"},
	{far: true, argv: "vim -u NONE -i NONE -e text"},
	{argv: "top"},
	{far: true, argv: "watch date"},
	{argv: "tmux -L stranger -f /dev/null new bash --norc", over: "tmux -L stranger kill-server"},
	{far: true, argv: "script -q -c 'bash --norc' typescript"},
	{far: true, argv: "perl -de1"},
	{argv: "python3 -m pdb prog.py"},
	{far: true, argv: "sh -c 'less text; true'"},
	{far: true, argv: "env bash --norc"},
	{argv: "bash -c 'exec -a ssh sh'"},                       // a shell that says no prompt, as behind ssh -T
	{argv: "sh -c 'xargs -n1 sh -c; true'"},                  // behind a script
	{argv: "sh -c 'sleep 2; exec vim -u NONE -i NONE text'"}, // slow to start: so is a loaded machine

	{far: true, argv: "nano text"},
	{far: true, argv: "emacs -nw -Q text"},
	{far: true, argv: "htop"},
	{far: true, argv: "mc"},
	{far: true, argv: "lynx text"},
	{far: true, argv: "tig -C repo"},
	{far: true, argv: "sh -c 'ls | fzf'"},
	{far: true, argv: "screen -c /dev/null bash --norc", over: "screen -X quit"},
	{far: true, argv: "su"},
	{far: true, argv: "unshare bash --norc"},
	{far: true, argv: "unshare sh -s"},
	{far: true, argv: "chroot / sh"},
	{far: true, argv: "gdb -q -nx"},
	{far: true, argv: "ed text"},
	{far: true, argv: "ex -u NONE text"},
	{far: true, argv: "dc"},
	{far: true, argv: "m4 -"},
	{far: true, argv: "lua"},
	{far: true, argv: "irb"},
	{far: true, argv: "redis-cli"},
	{far: true, argv: "busybox sh"},
	{far: true, argv: "php -a"},
	{far: true, argv: "nvim --clean text"},
	{far: true, argv: "xargs -n1 sh -c"},
	{far: true, argv: "more text"},
	{far: true, argv: "python3 -m code"},
	{far: true, argv: "w3m text"},
	{far: true, argv: "ranger"},
	{far: true, argv: "ncdu ."},
	{far: true, argv: "joe text"},
	{far: true, argv: "dialog --inputbox name 8 40"},
	{far: true, argv: "ipython3"},
	{far: true, argv: "jshell"},
	{far: true, argv: "tclsh"},
	{far: true, argv: "bc -q"},
	{far: true, argv: "perl -MCPAN -e shell"},
	{far: true, argv: "env python3 -i"},
	{far: true, argv: "dtach -c sock -z bash --norc"},
	{far: true, argv: "strace -o trace sh -s", wants: "strace"},
	{far: true, argv: "sh -c 'sh -s; true'"},
	{far: true, argv: "sh -c 'ed text; true'"},
	{far: true, argv: "sh -c 'python3 -i | cat'"},
	{far: true, argv: "sh -c 'sqlite3 | cat'", wants: "sqlite3"},
	{far: true, argv: "sh -c 'node -i; true'", wants: "node"},
	{far: true, argv: "sh -c 'gdb -q -nx | cat'", wants: "gdb"},
	{far: true, argv: "env tmux -L outer -f /dev/null new 'env TMUX= tmux -L inner -f /dev/null new bash --norc'",
		wants: "tmux", over: "tmux -L inner kill-server; tmux -L outer kill-server"},
	{far: true, argv: "ssh -F ssh_config -t box 'cd DIR; exec bash --norc'", serves: sshServer},
	{far: true, argv: "ssh -F ssh_config -T box 'cd DIR; exec sh'", serves: sshServer},
	{far: true, argv: "ssh -F ssh_config -T box 'cd DIR; exec bash -i'", serves: sshServer},
	{far: true, argv: "sh -c 'ssh -F ssh_config -T box \"cd DIR; exec sh\"; true'", wants: "ssh", serves: sshServer},
	{far: true, argv: "mariadb --no-defaults -S my/s -u root x", wants: "mariadbd", serves: mariadb},
	{far: true, argv: "env mariadb --no-defaults -S my/s -u root x", wants: "mariadbd", serves: mariadb},
	{far: true, argv: "sh -c 'psql postgres; true'", wants: "initdb", serves: postgres},
	{far: true, argv: "sh -c 'psql postgres | cat'", wants: "initdb", serves: postgres},
}

// TestNothingIsTypedIntoWhatNobodyDescribed: messages to such a program wait until they expire,
// status says why and what would let them in, and nothing has run or changed.
func TestNothingIsTypedIntoWhatNobodyDescribed(t *testing.T) {
	t.Parallel()
	var tried atomic.Int32
	var missing []string
	t.Run("programs", func(t *testing.T) {
		for _, s := range strangers {
			if s.far && !proving() {
				continue
			}
			program, err := s.missing()
			if s.far && err != nil {
				missing = append(missing, program)
				continue
			}
			t.Run(s.argv, func(t *testing.T) {
				testrig.Require(t, program, err)
				t.Parallel()
				s.getsNothing(t)
				tried.Add(1)
			})
		}
	})
	shown(t, "programs that draw or hand on what they read, undescribed: messages typed", "0, into %d programs", tried.Load())
	if proving() {
		slices.Sort(missing)
		has := cmp.Or(strings.Join(slices.Compact(missing), ", "), "none")
		shown(t, "undescribed programs not tried, since not installed", "%s", has)
	}
}

// missing is the first program of those that it needs that is not installed.
func (s undescribed) missing() (program string, err error) {
	for _, program = range append(strings.Fields(s.wants), strings.Fields(s.argv)[0]) {
		if _, err = exec.LookPath(program); err != nil {
			return program, err
		}
	}
	return program, nil
}

// getsNothing sends it messages.
func (s undescribed) getsNothing(t *testing.T) {
	dir := strangersHome(t, strings.Contains(s.argv, "repo"))
	if s.serves != nil {
		s.serves(t, dir)
	}
	env := []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ",
		"TMUX_TMPDIR=" + dir, "SCREENDIR=" + dir, "PGHOST=" + dir + "/pg", "PGUSER=owner",
	}
	w := start(t, term.Options{Argv: shellWords(t, strings.ReplaceAll(s.argv, "DIR", dir)), Env: env, Dir: dir})
	if s.over != "" {
		over := exec.Command("sh", "-c", s.over)
		over.Env = env
		t.Cleanup(func() { over.Run() }) // it fails where the program never ran
	}
	bodies := append([]string{"dd ihello :q!", "q", "hi\n!touch canary", "->"}, payloads(runs(4, 16), "canary")...)
	expire := func(prefix string, ms int, bodies []string) {
		t.Helper()
		for i, body := range bodies {
			must(t, w.client.Send(map[string]any{"type": "inject", "id": fmt.Sprint(prefix, i), "from": "bob", "body": body, "timeout_ms": ms}))
		}
		for i := range bodies {
			if end := w.ends(fmt.Sprint(prefix, i)); end.Str("status") != "expired" {
				t.Errorf("%q: %s", bodies[i], end.Raw)
			}
		}
	}
	expire("m", 4000, bodies) // the first ones are there before it is
	w.saysWhy()
	expire("late", 2500, bodies[2:3]) // after two seconds of silence a program in raw mode might be ready
	if _, err := os.Stat(filepath.Join(dir, "canary")); err == nil {
		t.Error("a message ran")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || string(text) != strangersText {
		t.Errorf("the file is another: %v, %d bytes", err, len(text))
	}
}

// saysWhy waits until status tells why nothing is typed: what draws or hands on, or a shell in
// front.
func (w *wrapped) saysWhy() {
	w.t.Helper()
	becomes(w.t, "a status that says why", func() bool {
		f := w.status()
		why := f.Str("blocked_by")
		return f.Str("state") == "unknown" && (strings.Contains(why, "--agent generic") || strings.Contains(why, "another program has the terminal"))
	})
}

var strangersText = strings.Repeat("a line of text\n", 200)

// strangersHome is a directory with files for programs to show, and a repository if one is wanted.
func strangersHome(t *testing.T, repository bool) string {
	t.Helper()
	dir := scratch(t)
	must(t, os.WriteFile(filepath.Join(dir, "text"), []byte(strangersText), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "prog.py"), []byte("x = 1\nx = 2\n"), 0o600))
	if !repository {
		return dir
	}
	repo := filepath.Join(dir, "repo")
	git := []string{"git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", repo}
	must(t, command(t, "git", "init", "-q", repo).Run())
	must(t, command(t, append(git, "commit", "-q", "--allow-empty", "-m", strangersText)...).Run())
	return dir
}

// shellWords splits words as a shell does.
func shellWords(t *testing.T, words string) []string {
	t.Helper()
	out, err := command(t, "sh", "-c", `for w in `+words+`; do printf '%s\n' "$w"; done`).Output()
	must(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// TestWhoeverWrappedItMayLetMessagesIn: the profile's name spelled out, a prompt, and the program's
// own word each let messages into a program in raw mode. This one says its word at a key.
func TestWhoeverWrappedItMayLetMessagesIn(t *testing.T) {
	t.Parallel()
	const program = `stty raw -echo; printf 'up\r\n> '; head -c1 >/dev/null; printf '\r\n->pty:ready\r\n'; exec cat`
	for name, flags := range map[string][]string{
		"--agent generic":  {"--agent", "generic"},
		"--prompt-pattern": {"--prompt-pattern", "^> $"},
		"its own word":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, term.Options{Argv: []string{"sh", "-c", program}}, flags...)
			must(t, w.WaitText(patience(t, "the prompt"), "up"))
			w.inject("m1", "hello")
			if flags == nil {
				w.waitsFor("m1", "ready")
				w.saysWhy()
				must(t, w.Type("x"))
			}
			w.fails("m1", "unknown", "no_consume") // which shows nothing behind it
			must(t, w.WaitText(patience(t, "what it was given"), "hello"))
		})
	}
}
