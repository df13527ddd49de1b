package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
	ptyterm "relay-pty/pty/term"
)

// A shellState is one into which a human can bring a shell: no empty prompt, though it may look
// like one, or one that reads another language than the program that was started.
type shellState struct {
	kind, name string
	argv       []string
	files      map[string]string // start files in its home
	steps      []step            // what the human types
	then       string            // keys by which the human ends it; "": it is an empty prompt, and messages go
	usual      bool              // it runs outside of `make prove`, too
}

// step is keys, and the row of the cursor after them: the next one, if the keys hold an Enter.
type step struct{ keys, row string }

const (
	esc   = "\x1b"
	ctrlC = "\x03"
)

var (
	aBash, aZsh, aPython = []string{"bash", "--norc"}, []string{"zsh", "-f"}, []string{"python3", "-q"}
	aFish                = []string{"fish", "--no-config", "-C", "set -g fish_autosuggestion_enabled 0; function fish_prompt; echo -n '$ '; end"}
)

// viByFile is the start file of readline that chooses vi's keys.
var viByFile = map[string]string{".inputrc": "set editing-mode vi\n"}

// inVi are line editors in vi's command mode, where keys are commands and the prompt looks the
// same.
// An Esc that comes before an editor has set up its terminal is lost, so a line comes first.
var inVi = []shellState{
	{"vi", "bash", aBash, nil, []step{{"set -o vi\r", "$"}, {esc, "$"}}, "i", true},
	{"vi", "bash without paste", aBash, nil, []step{{"set -o vi; bind 'set enable-bracketed-paste off'\r", "$"}, {esc, "$"}}, "i", false},
	{"vi", "bash by inputrc", aBash, viByFile, []step{{"true\r", "$"}, {esc, "$"}}, "a", false},
	{"vi", "bash, an operator begun", aBash, nil, []step{{"set -o vi\r", "$"}, {esc, "$"}, {"d", "$"}}, esc + "i", false},
	{"vi", "bash, a replacement begun", aBash, nil, []step{{"set -o vi\r", "$"}, {esc, "$"}, {"r", "$"}}, esc + "i", false},
	{"vi", "bash, back in insert mode", aBash, nil, []step{{"set -o vi\r", "$"}, {esc, "$"}, {"i", "$"}}, "", false},
	{"vi", "zsh", aZsh, nil, []step{{"PS1='$ '\r", "$"}, {"bindkey -v\r", "$"}, {esc, "$"}}, "i", true},
	{"vi", "zsh without paste", aZsh, nil, []step{{"PS1='$ '\r", "$"}, {"bindkey -v; unset zle_bracketed_paste\r", "$"}, {esc, "$"}}, "i", false},
	{"vi", "zsh, each line", aZsh, nil, []step{{"PS1='$ '\r", "$"}, {"bindkey -v; zle-line-init() zle -K vicmd; zle -N zle-line-init\r", "$"}},
		"izle -D zle-line-init; bindkey -v\r", false},
	{"vi", "fish", []string{"fish"}, map[string]string{".config/fish/config.fish": "fish_vi_key_bindings; " +
		"function fish_greeting; end; function fish_prompt; echo -n '$ '; end; function fish_mode_prompt; end"}, []step{{esc, "$"}}, "i", false},
	{"vi", "ksh", []string{"ksh"}, nil, []step{{"set -o vi\r", "$"}, {esc, "$"}}, "i", false},
	{"vi", "python", aPython, viByFile, []step{{"import readline\r", ">>>"}, {esc, ">>>"}}, "i", false},
	{"vi", "sqlite3", []string{"sqlite3"}, viByFile, []step{{".mode list\r", "sqlite>"}, {esc, "sqlite>"}}, "i", false},
	{"vi", "psql", nil, viByFile, []step{{"\\set x 1\r", "postgres=#"}, {esc, "postgres=#"}}, "i", false},
	{"keys", "bash, a search begun", aBash, nil, []step{{"\x12", "(reverse-i-search)`':"}}, ctrlC, false},
	{"keys", "bash, an argument", aBash, nil, []step{{esc + "5", "(arg: 5)"}}, ctrlC, false},
}

// inAnother are shells that have become another one.
var inAnother = []shellState{
	{"another", "bash to fish by .bashrc", []string{"bash"}, map[string]string{".bashrc": "exec fish --no-config"}, nil, "", true},
	{"another", "zsh to fish by .zshrc", []string{"zsh"}, map[string]string{".zshrc": "exec fish --no-config"}, nil, "", false},
	{"another", "fish to zsh by config.fish", []string{"fish"}, map[string]string{".config/fish/config.fish": "exec zsh -f"}, nil, "", true},
	{"another", "bash to zsh", aBash, nil, []step{{"export PS1='$ '; exec zsh -f\r", "$"}}, "", false},
	{"another", "bash to fish", aBash, map[string]string{"c": "function fish_prompt; echo -n '$ '; end"}, []step{{"exec fish --no-config -C 'source c'\r", "$"}}, "", false},
	{"another", "zsh to fish", aZsh, map[string]string{"c": "function fish_prompt; echo -n '❯ '; end"},
		[]step{{"PS1='❯ '\r", "❯"}, {"exec fish --no-config -C 'source c'\r", "❯"}}, "", false},
	{"another", "fish to bash", aFish, nil, []step{{"exec bash --norc\r", "$"}}, "", false},
	{"another", "bash to dash", aBash, nil, []step{{"exec dash\r", "$"}}, "", false},
	{"another", "python to zsh", aPython, nil, []step{{"import os; os.environ['PS1']='>>> '; os.execvp('zsh', ['zsh', '-f'])\r", ">>>"}}, "", false},
	{"another", "bash to what nobody knows", aBash, map[string]string{"p": "$| = 1; while (1) { print '$ '; $_ = <STDIN>; last if /^end/; system $_ }; exec 'bash', '--norc'"},
		[]step{{"exec perl p\r", "$"}}, "end\r", true},
	{"another", "bash to a script of bash", aBash, map[string]string{"p": "while read -ep '$ ' x; do [ \"$x\" = end ] && break; eval \"$x\"; done; PS1='$ ' exec bash --norc"},
		[]step{{"exec bash p\r", "$"}}, "end\r", false},
}

// inTheMiddle are prompts for the rest of something begun that look like the first prompt.
var inTheMiddle = []shellState{
	{"middle", "bash, a double quote", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo \"open\r", "$"}}, "\"\r", true},
	{"middle", "bash, a quote", aBash, nil, []step{{"PS2='more $ '\r", "$"}, {"echo 'open\r", "more $"}}, "'\r", false},
	{"middle", "bash, a quote of two lines", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo 'open\r", "$"}, {"and \"more\r", "$"}}, "'\r", false},
	{"middle", "bash, a here-document", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"cat <<EOF\r", "$"}}, "EOF\r", false},
	{"middle", "bash, a here-document's lines", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"cat <<-'E F' | cat\r", "$"}, {"it's\r", "$"}}, "E F\r", false},
	{"middle", "bash, a backslash", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo a \\\r", "$"}}, "\r", false},
	{"middle", "bash, a loop", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"for i in 1; do\r", "$"}}, "true; done\r", false},
	{"middle", "bash, a substitution", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo $(\r", "$"}}, "true)\r", false},
	{"middle", "bash, a pipe", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo |\r", "$"}}, "cat\r", false},
	{"middle", "bash, another sign", []string{"bash"}, map[string]string{".bashrc": "PS1='❯ ' PS2='❯❯ '"}, []step{{"echo \"open\r", "❯❯"}}, "\"\r", false},
	{"middle", "bash, given up", aBash, nil, []step{{"PS2='$ '\r", "$"}, {"echo \"open\r", "$"}, {ctrlC, "$"}}, "", false},
	{"middle", "zsh, a double quote", aZsh, nil, []step{{"PS1='$ ' PS2='$ '\r", "$"}, {"echo \"open\r", "$"}}, "\"\r", true},
	{"middle", "zsh, a here-document", aZsh, nil, []step{{"PS1='$ ' PS2='$ '\r", "$"}, {"cat <<EOF\r", "$"}}, "EOF\r", false},
	{"middle", "dash, a double quote", []string{"dash"}, nil, []step{{"PS2='$ '\r", "$"}, {"echo \"open\r", "$"}}, "\"\r", false},
	{"middle", "dash, a here-document", []string{"dash"}, nil, []step{{"PS2='$ '\r", "$"}, {"cat <<EOF\r", "$"}}, "EOF\r", false},
	{"middle", "ksh, a double quote", []string{"ksh"}, nil, []step{{"PS2='$ '\r", "$"}, {"echo \"open\r", "$"}}, "\"\r", false},
	{"middle", "python, a string", aPython, nil, []step{{"import sys; sys.ps2 = '>>> '\r", ">>>"}, {"'''\r", ">>>"}}, "'''\r", true},
	{"middle", "python, a bracket", aPython, nil, []step{{"import sys; sys.ps2 = '>>> '\r", ">>>"}, {"x = (\r", ">>>"}}, "1)\r", false},
	{"middle", "python, a block", aPython, nil, []step{{"import sys; sys.ps2 = '>>> '\r", ">>>"}, {"if 1:\r", ">>>"}}, " pass\r\r", false},
	{"middle", "sqlite3, a string", []string{"sqlite3"}, nil, []step{{".prompt 'sqlite> ' 'sqlite> '\r", "sqlite>"}, {"select '\r", "sqlite>"}}, "';\r", false},
	{"middle", "sqlite3, a comment", []string{"sqlite3"}, nil, []step{{".prompt 'sqlite> ' 'sqlite> '\r", "sqlite>"}, {"/* a\r", "sqlite>"}}, "*/;\r", false},
	{"middle", "psql, a string", nil, nil, []step{{"\\set PROMPT2 '%/%R%# '\r", "postgres=#"}, {"\\set PROMPT2 'postgres=# '\r", "postgres=#"}, {"select '\r", "postgres=#"}}, "';\r", false},
	{"middle", "fish, a quote", aFish, nil, []step{{"echo \"open\r", ""}}, "\"\r", false},
	{"middle", "node, a string", []string{"node"}, nil, []step{{"`a\r", "..."}}, "`\r", false},
}

// atRest are empty prompts that merely follow something that looks begun.
var atRest = []shellState{
	{"rest", "bash, a comment", aBash, nil, []step{{"# it's\r", "$"}}, "", true},
	{"rest", "bash, a comment behind a command", aBash, nil, []step{{"true # it's \"so\r", "$"}}, "", false},
	{"rest", "bash, quotes of all kinds", aBash, nil, []step{{"true it\\'s \"it's\" $'it\\'s' '\"' \"\\\"\" `true` $((1<<2)) ${x:-\"}\"}\r", "$"}}, "", false},
	{"rest", "bash, a string of two lines", aBash, nil, []step{{"true \"a\r", ">"}, {"b'\"\r", "$"}}, "", false},
	{"rest", "bash, a here-document that ended", aBash, nil, []step{{"true <<EOF\r", ">"}, {"it's\r", ">"}, {"EOF\r", "$"}}, "", false},
	{"rest", "bash, a here-string", aBash, nil, []step{{"true <<<\"a\"\r", "$"}}, "", false},
	{"rest", "bash, a loop that ended", aBash, nil, []step{{"for i in 1; do\r", ">"}, {"true; done\r", "$"}}, "", false},
	{"rest", "bash, a case that ended", aBash, nil, []step{{"case a in a) true;; (b) true;; esac\r", "$"}}, "", false},
	{"rest", "bash, words that begin nothing", aBash, nil, []step{{"true if for case { ( && echo\r", "bash: syntax error near unexpected token `('"}}, "", false},
	{"rest", "bash, a line out of its history", aBash, nil, []step{{"true\r", "$"}, {"\x10\r", "$"}}, "", false},
	{"rest", "bash, what another program read", aBash, nil,
		[]step{{"sh -c 'echo up; exec cat'\r", "up"}, {"it's\r", ""}, {"\x04", "$"}}, "", false},
	{"rest", "bash, what its builtin read", aBash, nil, []step{{"read x; echo \"[$x]\"\r", ""}, {"it's\r", "[it's]"}}, "", false},
	{"rest", "bash, an error", aBash, nil, []step{{"true )\r", "bash: syntax error near unexpected token `)'"}}, "", false},
	{"rest", "zsh, a comment", aZsh, nil, []step{{"PS1='$ '; setopt interactivecomments\r", "$"}, {"# it's\r", "$"}}, "", false},
	{"rest", "python, a comment", aPython, nil, []step{{"x = 1 # it's (\r", ">>>"}}, "", false},
	{"rest", "python, a block that ended", aPython, nil, []step{{"if 1:\r", "..."}, {" x = {'a': \"it's\"}\r", "..."}, {"\r", ">>>"}}, "", false},
	{"rest", "sqlite3, a statement", []string{"sqlite3"}, nil, []step{{"create table t(a); -- it's\r", "sqlite>"}, {".headers on\r", "sqlite>"}}, "", false},
	{"rest", "psql, a command", nil, nil, []step{{"\\set x 'it''s'\r", "postgres=#"}, {"set timezone = 'UTC';\r", "SET"}}, "", false},
}

// stateBodies run something, in one language or another, in one of these states.
func stateBodies(canary string) []string {
	var all []string
	for _, body := range []string{
		"; X #", "\\'\";X;#", "$(X)", "x\na;X", "x\ni;X", "x\nddi;X", "\"; X #", "'; X; '", "\nEOF\nX", "\nE F\nX", "`X`",
		"'''+str(open('P','w'))+'''", "'; attach 'P' as z; create table z.t(a); select '", "'; \\! X", "*/; .shell X", "\n.shell X",
	} {
		all = append(all, strings.NewReplacer("X", "touch "+canary, "P", canary).Replace(body))
	}
	return all
}

var execs = regexp.MustCompile(`exec(?:vp\('| )(\w+)`)

// needs lists the programs that the state takes.
func (st shellState) needs() []string {
	programs, text := st.argv[:1], fmt.Sprint(st.files, st.steps)
	for _, m := range execs.FindAllStringSubmatch(text, -1) {
		programs = append(slices.Clip(programs), m[1])
	}
	return programs
}

// stateRun is a shell that is brought into a state, and what became of the messages there.
type stateRun struct {
	*wrapped
	shellState
	canary string
	faults []string
}

// fault adds to what went wrong.
func (r *stateRun) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// startState starts the shell and does the steps.
func startState(t *testing.T, st shellState) *stateRun {
	t.Helper()
	dir := scratch(t)
	if st.argv == nil {
		postgres(t, dir)
		st.argv = []string{"psql", "-h", dir + "/pg", "-U", "owner", "postgres"}
	}
	for _, program := range st.needs() {
		_, err := exec.LookPath(program)
		testrig.Require(t, program, err)
	}
	for name, text := range st.files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "HISTFILE="}
	w := start(t, term.Options{Argv: st.argv, Env: env, Dir: dir, Rows: 1000, Cols: 500})
	w.state("ready")
	r := &stateRun{wrapped: w, shellState: st, canary: filepath.Join(dir, "canary")}
	for _, s := range st.steps {
		r.step(s)
	}
	return r
}

func (r *stateRun) step(s step) {
	r.t.Helper()
	var was int
	below := strings.HasSuffix(s.keys, "\r")
	must(r.t, r.WaitScreen(patience(r.t, "the prompt"), func(sc *screen.Screen) bool { was, _ = sc.Cursor(); return true }))
	if s.keys == esc {
		r.readsKeys()
	}
	must(r.t, r.Type(s.keys))
	must(r.t, r.WaitScreen(bounded(r.t, 20*time.Second, fmt.Sprintf("%q after %q", s.row, s.keys)), func(sc *screen.Screen) bool {
		row, _ := sc.Cursor()
		above := row > 0 && sc.Row(row-1) == s.row // an output of one line stands above the prompt
		return (row > was || !below) && (sc.Row(row) == s.row || above && below)
	}))
}

// readsKeys waits until the editor has its terminal raw: a key that comes before is a key of the
// line, though the prompt is there (ksh writes it first).
func (r *stateRun) readsKeys() {
	r.t.Helper()
	pid, _ := r.status().Fields["pid"].(float64)
	tty, err := exec.Command("ps", "-o", "tty=", "-p", strconv.Itoa(int(pid))).Output()
	must(r.t, err)
	f, err := os.OpenFile("/dev/"+strings.TrimSpace(string(tty)), os.O_RDWR|unix.O_NOCTTY, 0)
	must(r.t, err)
	defer f.Close()
	becomes(r.t, "the shell to read key by key", func() bool {
		modes, err := ptyterm.GetModes(int(f.Fd()))
		return err == nil && modes.Lflag&unix.ICANON == 0
	})
}

// send sends the messages, and tells what went wrong: one was typed where there is no empty prompt,
// ran, was not delivered though there was one, or was told as delivered and is not shown.
func (r *stateRun) send(bodies []string) []string {
	r.t.Helper()
	for i, body := range bodies {
		r.sendsAnswer(fmt.Sprintf("m%d", i), body, body)
	}
	if r.then != "" {
		if end := r.outcome("m0", 4*time.Second); end != "" || strings.Contains(r.Screen(), "relay m0") {
			r.fault("typed where there is no prompt: %q", end)
		}
		r.ran()
		must(r.t, r.Type(r.then))
	}
	for i := range bodies {
		id := fmt.Sprintf("m%d", i)
		end := r.outcome(id, 20*time.Second)
		if end == "delivered" && r.WaitText(bounded(r.t, 5*time.Second, id), "[end "+id+" ·") != nil {
			r.fault("%s is told as delivered, and is not shown", id)
		}
		if end != "delivered" {
			r.fault("%s %q: %q", id, bodies[i], end)
			break
		}
	}
	r.ran()
	return r.faults
}

func (r *stateRun) ran() {
	if _, err := os.Stat(r.canary); err == nil {
		r.fault("a message ran")
	}
}

func allStates() []shellState {
	var all []shellState
	for _, list := range [][]shellState{inVi, inAnother, inTheMiddle, atRest} {
		all = append(all, list...)
	}
	return all
}

// TestRealShellsRunNothingInAnyState: a message to a shell that is not at an empty prompt waits,
// and one to a shell that has become another is quoted in the language of that.
func TestRealShellsRunNothingInAnyState(t *testing.T) {
	t.Parallel()
	for _, st := range allStates() {
		if st.usual {
			t.Run(st.kind+" "+st.name, func(t *testing.T) {
				t.Parallel()
				r := startState(t, st)
				if faults := r.send(stateBodies(r.canary)[:4]); faults != nil {
					t.Errorf("%s", strings.Join(faults, "\n"))
				}
			})
		}
	}
}

// TestProveShellsRunNothingInAnyState is the same in all states, with all bodies.
func TestProveShellsRunNothingInAnyState(t *testing.T) {
	for _, st := range allStates() {
		t.Run(st.kind+" "+st.name, func(t *testing.T) {
			t.Parallel()
			r := startState(t, st)
			bodies := stateBodies(r.canary)
			if faults := r.send(bodies); faults != nil {
				t.Errorf("%s", strings.Join(faults, "\n"))
			}
			shown(t, "state of a shell: "+st.kind+", "+st.name+": messages, nothing run", "%d of %d", len(bodies), len(bodies))
		})
	}
}
