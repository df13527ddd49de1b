package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// shell is a real one that the profile shell is measured on.
type shell struct {
	name string
	argv []string
	run  func(path string) string // makes it append a + to the file
}

// allShells lists them, and at full counts psql with a server of its own.
func allShells(t *testing.T) []shell {
	t.Helper()
	if !proving() {
		return shells
	}
	dir := scratch(t)
	postgres(t, dir)
	argv := []string{"psql", "-h", dir + "/pg", "-U", "owner", "postgres"}
	psql := shell{"psql", argv, func(p string) string { return "\\! printf + >>" + p }}
	return append(slices.Clone(shells), psql)
}

var shells = []shell{
	{"bash", []string{"bash", "--norc"}, posixTouch},
	{"zsh", []string{"zsh", "-f"}, posixTouch},
	{"dash", []string{"dash"}, posixTouch},
	{"fish", []string{"fish", "--no-config", "-C", "set -g fish_autosuggestion_enabled 0"}, posixTouch},
	{"python", []string{"python3", "-q"}, func(p string) string { return fmt.Sprintf("x = open(%q, 'a').write('+')", p) }},
	{"node", []string{"node"}, func(p string) string { return fmt.Sprintf("void require('fs').appendFileSync(%q, '+')", p) }},
	{"sqlite3", []string{"sqlite3"}, func(p string) string { return ".shell printf + >>" + p }},
}

func posixTouch(p string) string { return "printf + >>" + p }

// startShell starts a real shell in a scratch directory on a screen that holds
// all that is typed.
func startShell(t *testing.T, argv []string, flags ...string) (w *wrapped, dir string) {
	t.Helper()
	_, err := exec.LookPath(argv[0])
	testrig.Require(t, argv[0], err)
	dir = scratch(t)
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "HISTFILE="}
	w = start(t, term.Options{Argv: argv, Env: env, Dir: dir, Rows: 1000, Cols: 500}, flags...)
	w.state("ready")
	return w, dir
}

// hostile are texts that would run something if they were ever read as code;
// X stands for a command that makes a file.
var hostile = []string{
	"'; X", "\"; X", "' ; X #", "'\"'\"'; X", "\\'; X", "''; X; ''", "$(X)", "`X`", "${IFS}$(X)", "<(X)", "\nX", "\n\nX\n\n",
	"' && X && '", "'\nX\n'", "' | X", ")\nX\n(", "EOF\nX", "\\\nX", "x \\", "!!", "!X", "^a^X", "a !b $!c", "{X,}", "~/../$(X)", "*", "?",
	"\x1b[201~\rX\r", "\x1b\x1b[201~[201~\rX\r", "\x1b[20\x1b[201~1~X", "\u009b201~\rX", "\x03X\r", "\x04X\r", "\x1aX", "\x15X\r", "\rX\r", "\r\nX\r\n", "\x0fX", "\x16\rX", "a\tX\t\t",
	"*/ X /*", "\u2028X", "\u2029X\u2028", "\vX", "\fX", "\u0085X", "\"\"\"\nX\n\"\"\"", "'''\nX\n'''", "\\u000aX", "\\\n\\\nX",
	"; X", "-- \nX", "*/; X", "\\! X", "\n.shell X", "\n.system X", "\n\\! X", "\n:X", "%X", "@X", "\n!X", "\n/X", "# \nX", "// \nX", "<!-- X", "--> X", "#!X", "[relay z from eve]\nX", "[end m1]\nX",
}

// payloads is n messages that try to run something that makes the canary.
func payloads(n int, canary string) []string {
	commands := []string{
		"touch " + canary, "printf x >" + canary, "__import__('os').system('touch " + canary + "')",
		"require('child_process').execSync('touch " + canary + "')", ".shell touch " + canary, ".output " + canary, "\\! touch " + canary,
	}
	var all []string
	for i := range n {
		body := strings.ReplaceAll(hostile[i%len(hostile)], "X", commands[i/len(hostile)%len(commands)])
		switch i / len(hostile) / len(commands) % 4 {
		case 1:
			body = "it's " + body + " isn't it"
		case 2:
			body = strings.Repeat("日本 é ", 40) + body
		case 3:
			body = body + "\n" + body
		}
		all = append(all, body)
	}
	return all
}

// TestShellsReceiveMessagesAndRunNothing is over when every message stands on
// the screen once, the canary was never made, and the shell still works.
func TestRealShellsReceiveMessagesAndRunNothing(t *testing.T) {
	t.Parallel()
	for _, sh := range allShells(t) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			n := runs(20, len(hostile)*5)
			w, dir := startShell(t, sh.argv)
			canary := filepath.Join(dir, "canary")
			for i, body := range payloads(n, canary) {
				id := fmt.Sprintf("m%d.", i)
				w.sendsAnswer(id, body, body)
				w.delivers(id, "echo")
				if i%20 == 19 || i == n-1 {
					checkScreen(t, w, i)
				}
			}
			if _, err := os.Stat(canary); err == nil {
				t.Errorf("a message ran")
			}
			proof := filepath.Join(dir, "proof")
			w.state("ready")
			must(t, w.Type(sh.run(proof)+"\r"))
			waitFile(t, proof, "+")
			if files, _ := os.ReadDir(dir); len(files) > 1 && sh.name != "fish" { // fish keeps files of its own
				for _, f := range files {
					if n := f.Name(); n != "proof" && n[0] != '.' {
						t.Errorf("there is a file %s", n)
					}
				}
			}
			shown(t, "shell "+sh.name+": messages with break-outs, each once, nothing run", "%d of %d", n, n)
		})
	}
}

// checkScreen sees that the newest messages stand on the screen exactly once.
func checkScreen(t *testing.T, w *wrapped, last int) {
	t.Helper()
	must(t, w.WaitText(patience(t), fmt.Sprintf("[end m%d. ·", last))) // our end of the terminal may lag
	screen := w.Screen()
	for i := last - last%20; i <= last; i++ {
		head, foot := fmt.Sprintf("[relay m%d. from bob", i), fmt.Sprintf("[end m%d. ·", i)
		if h, f := strings.Count(screen, head), strings.Count(screen, foot); h > 1 || f > 1 {
			t.Errorf("message %d stands on the screen %d times by its header, %d by its footer", i, h, f)
		}
	}
}

// waitFile waits until a file that the shell writes holds want.
func waitFile(t *testing.T, path, want string) {
	t.Helper()
	becomes(t, path+" to hold "+want, func() bool {
		b, err := os.ReadFile(path)
		return err == nil && string(b) == want
	})
}

func TestProveShellsReceiveLongMessages(t *testing.T) {
	for _, sh := range allShells(t) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			w, _ := startShell(t, sh.argv)
			line := strings.Repeat("0123456789abcdef", 20) + "\n" // dash reads lines of at most 4095 bytes
			w.inject("lines", strings.Repeat(line, 100)+"last line")
			w.delivers("lines", "echo")
			if sh.name == "dash" {
				return
			}
			w.inject("long", strings.Repeat("x", 60<<10)+" end of it")
			w.delivers("long", "echo")
			must(t, w.WaitText(patience(t), "end of it"))
		})
	}
}

func TestRealShellHoldsUntilItsLineIsAPrompt(t *testing.T) {
	t.Parallel()
	w, _ := startShell(t, []string{"bash", "--norc"})
	must(t, w.Type("echo first\r"))
	ctx := patience(t, "the output of echo and the prompt below it")
	must(t, w.WaitScreen(ctx, func(s *screen.Screen) bool { return strings.Contains(term.Dump(s), "\nfirst\n$") }))
	w.state("ready")
	for i, c := range []struct {
		name, keys string
		reason     string
		shows      string // the cursor's row
		away       string
	}{
		{"a draft", "echo half", "draft", "$ echo half", "\x15"},
		{"a draft that ends like a prompt", "cat foo > ", "draft", "$ cat foo >", "\x15"},
		{"a draft, the cursor at its start", "echo there\x01", "draft", "$ echo there", "\x0b"},
		{"a command out of the history", " true\r\x1b[A", "draft", "$  true", "\x15"},
		{"an open quote", "echo \"open\r", "turn", ">", "\x03"},
		{"a here-document", "cat <<EOF\r", "turn", ">", "\x03"},
		{"a job in front", "sh -c 'printf up; exec cat'\r", "ready", "up", "\x03"},
		{"a program that asks", "read -p 'Password: '\r", "dialog", "Password:", "\x03"},
	} {
		id := fmt.Sprintf("h%d", i)
		must(t, w.Type(c.keys))
		must(t, w.WaitScreen(patience(t, fmt.Sprintf("the row %q", c.shows)), func(s *screen.Screen) bool {
			row, _ := s.Cursor()
			return s.Row(row) == c.shows
		}))
		w.inject(id, "$(touch canary)")
		w.waitsFor(id, c.reason)
		must(t, w.Type(c.away))
		w.delivers(id, "echo")
		w.state("ready")
	}
}

// TestRealShellBuiltinThatAsks: what it asks with may look like the prompt; a message is not the
// answer.
func TestRealShellBuiltinThatAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		argv       []string
		asks, says string
	}{
		"bash":       {[]string{"bash", "--norc"}, "read -p 'you $ ' v; echo \"[$v]\"\r", "you $"},
		"dash":       {[]string{"dash"}, "while printf 'you $ '; read v; do echo \"[$v]\"; break; done\r", "you $"},
		"plain bash": {[]string{"bash", "--norc", "--noediting"}, "read -p 'you $ ' v; echo \"[$v]\"\r", "you $"},
		"zsh":        {[]string{"zsh", "-f"}, "PS1='$ '\rread 'v?you $ '; echo \"[$v]\"\r", "you $"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := startShell(t, c.argv)
			must(t, w.Type(c.asks))
			must(t, w.WaitScreen(patience(t, "the builtin's question"), func(s *screen.Screen) bool {
				row, _ := s.Cursor()
				return s.Row(row) == c.says
			}))
			w.inject("m1", "hello")
			w.held("m1", "turn", 2*time.Second)
			must(t, w.Type("mine\r"))
			w.delivers("m1", "echo")
			must(t, w.WaitText(patience(t, "what the builtin has read"), "[mine]"))
		})
	}
}

// waitsFor waits until a message that is not typed waits for one of the given things.
func (w *wrapped) waitsFor(id, reasons string) {
	w.t.Helper()
	holds := func(f testrig.Frame) bool { return slices.Contains(strings.Fields(reasons), f.Str("waiting_for")) }
	f, err := w.client.Wait(patience(w.t, id+" waiting for "+reasons), func(f testrig.Frame) bool {
		if f.Str("id") != id || f.Type() == "inject_result" && f.Str("status") != "queued" {
			return f.Str("id") == id
		}
		return holds(f)
	})
	must(w.t, err)
	if !holds(f) {
		w.t.Fatalf("%s does not wait for %s: %s", id, reasons, f.Raw)
	}
}

func TestRealShellsRunCommandsOnceWhenAllowed(t *testing.T) {
	t.Parallel()
	for _, sh := range allShells(t) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			w, dir := startShell(t, sh.argv, "--allow-command")
			proof := filepath.Join(dir, "proof")
			for i := range 20 {
				id := fmt.Sprintf("c%d", i)
				must(t, w.client.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "kind": "command", "body": sh.run(proof)}))
				w.delivers(id, "echo")
			}
			waitFile(t, proof, strings.Repeat("+", 20))
			shown(t, "shell "+sh.name+": commands, each run once when allowed", "20 of 20")
		})
	}
}

func TestRealShellRunsNoCommandUnlessAllowed(t *testing.T) {
	t.Parallel()
	w, dir := startShell(t, []string{"bash", "--norc"})
	canary := filepath.Join(dir, "canary")
	for i := range 20 {
		id := fmt.Sprintf("c%d", i)
		must(t, w.client.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "kind": "command", "body": "touch " + canary}))
		if end := w.ends(id); end.Type() != "error" || end.Str("code") != "not_authorized" {
			t.Fatalf("got %s", end.Raw)
		}
	}
	w.inject("m1", "after them")
	w.delivers("m1", "echo")
	if _, err := os.Stat(canary); err == nil {
		t.Error("a command ran")
	}
	shown(t, "commands without --allow-command: refused as not_authorized", "20 of 20")
}

// A line editor's draft older than --draft-timeout is removed, and typed again
// behind the message.
func TestRealShellsGetTheirDraftsBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv         []string
		draft, shows string
	}{
		{[]string{"bash", "--norc"}, `echo "$((6*7)) é 数" | tr a-z A-Z`, "42 é 数"},
		{[]string{"zsh", "-f"}, `echo "$((6*7)) é 数" | tr a-z A-Z`, "42 é 数"},
		{[]string{"fish", "--no-config"}, `echo (math 6 x 7) é 数 | string upper`, "42 É 数"},
		{[]string{"python3", "-q"}, `print(6*7, "é 数")`, "42 é 数"},
	} {
		t.Run(c.argv[0], func(t *testing.T) {
			t.Parallel()
			w, _ := startShell(t, c.argv, "--draft-timeout", "1500")
			n := runs(2, 10)
			for i := range n {
				began := time.Now()
				must(t, w.Type(c.draft))
				must(t, w.WaitText(patience(t), c.draft))
				id := fmt.Sprintf("m%d", i)
				w.inject(id, "first line\nand second")
				w.notBefore(id, began.Add(1500*time.Millisecond))
				w.delivers(id, "echo")
				_, err := w.client.Wait(patience(t, "draft_restored of "+id), func(f testrig.Frame) bool { return f.Type() == "draft_restored" && f.Str("id") == id })
				must(t, err)
				must(t, w.Type("\r"))
				ctx := patience(t, c.shows+" and the prompt below it")
				must(t, w.WaitScreen(ctx, func(s *screen.Screen) bool {
					parts := strings.Split(term.Dump(s), "\n"+c.shows+"\n")
					return len(parts) == i+2 && strings.TrimSpace(parts[i+1]) != ""
				}))
				w.state("ready")
			}
			shown(t, c.argv[0]+": a draft set aside for a message, and back as it was", "%d of %d", n, n)
		})
	}
}
