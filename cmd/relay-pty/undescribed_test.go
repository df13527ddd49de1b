package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// undescribed is a program that no profile knows, and that runs what it reads, takes keys for
// commands, or hands them on.
type undescribed struct {
	argv string // words; a file "text" and a directory "repo" under git are there
	over string // ends what outlives the terminal
	far  bool   // tried only at full counts, where it is installed
}

var strangers = []undescribed{
	{argv: "less text"},
	{argv: "git -C repo log"},
	{argv: "man ls"},
	{argv: "vim -u NONE -i NONE text"},
	{argv: "vim -u NONE -i NONE -e text"},
	{argv: "top"},
	{argv: "watch date"},
	{argv: "tmux -L stranger -f /dev/null new bash --norc", over: "tmux -L stranger kill-server"},
	{argv: "script -q -c 'bash --norc' typescript"},
	{argv: "perl -de1"},
	{argv: "python3 -m pdb prog.py"},
	{argv: "sh -c 'less text; true'"},
	{argv: "env bash --norc"},
	{argv: "bash -c 'exec -a ssh sh'"}, // a shell that says no prompt, as behind ssh -T

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
}

// TestNothingIsTypedIntoWhatNobodyDescribed: messages to such a program wait until they expire,
// status says why and what would let them in, and nothing has run or changed.
func TestNothingIsTypedIntoWhatNobodyDescribed(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, s := range strangers {
		if s.far && !proving() {
			continue
		}
		t.Run(s.argv, func(t *testing.T) {
			argv := shellWords(t, s.argv)
			if _, err := exec.LookPath(argv[0]); s.far && err != nil {
				t.Skip(err)
			} else {
				testrig.Require(t, argv[0], err)
			}
			dir := strangersHome(t)
			env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "TMUX_TMPDIR=" + dir, "SCREENDIR=" + dir}
			w := start(t, term.Options{Argv: argv, Env: env, Dir: dir})
			if s.over != "" {
				over := exec.Command("sh", "-c", s.over)
				over.Env = env
				t.Cleanup(func() { over.Run() }) // it fails where the program never ran
			}
			bodies := append([]string{"dd ihello :q!", "q", "hi\n!touch canary", "->"}, payloads(runs(4, 16), "canary")...)
			for i, body := range bodies {
				must(t, w.client.Send(map[string]any{"type": "inject", "id": fmt.Sprintf("m%d", i), "from": "bob", "body": body, "timeout_ms": 4000}))
			}
			for i := range bodies {
				if end := w.ends(fmt.Sprintf("m%d", i)); end.Str("status") != "expired" {
					t.Errorf("%q: %s", bodies[i], end.Raw)
				}
			}
			w.saysWhy()
			if _, err := os.Stat(filepath.Join(dir, "canary")); err == nil {
				t.Error("a message ran")
			}
			if text, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || string(text) != strangersText {
				t.Errorf("the file is another: %v, %d bytes", err, len(text))
			}
			tried++
		})
	}
	shown(t, "programs that draw or hand on what they read, undescribed: messages typed", "0, into %d programs", tried)
}

// saysWhy checks that status tells why nothing is typed: what draws or hands on, or a shell in front.
func (w *wrapped) saysWhy() {
	w.t.Helper()
	f, err := w.client.Request(patience(w.t, "the status"), map[string]any{"type": "status"})
	must(w.t, err)
	why := f.Str("blocked_by")
	if f.Str("state") != "unknown" || !strings.Contains(why, "--agent generic") && !strings.Contains(why, "another program has the terminal") {
		w.t.Errorf("status says %s", f.Raw)
	}
}

var strangersText = strings.Repeat("a line of text\n", 200)

// strangersHome is a directory with files for programs to show.
func strangersHome(t *testing.T) string {
	t.Helper()
	dir := scratch(t)
	must(t, os.WriteFile(filepath.Join(dir, "text"), []byte(strangersText), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "prog.py"), []byte("x = 1\nx = 2\n"), 0o600))
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
			w.delivers("m1", "echo", "consumed")
		})
	}
}
