package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig/term"
)

// bash under `run`, without anyone's own settings.
func bash(name string, acts func(*stage)) script {
	return script{name: name, argv: []string{"bash", "--norc", "--noprofile", "-i"}, acts: acts}
}

// jobs is a shell with job control in front, whose words start `run`.
func jobs(name string, acts func(*stage)) script {
	sc := bash(name, acts)
	sc.direct = true
	return sc
}

// sh is a shell's words under `run`.
func sh(name, words string, acts func(*stage)) script {
	return script{name: name, argv: []string{"sh", "-c", words}, acts: acts}
}

// sized starts words under `run` on a terminal of that size, which may be 0×0.
func sized(name string, rows, cols int, words string, acts func(*stage)) script {
	return script{name: name, argv: []string{"sh", "-c", "echo first; read _; exec run " + words}, direct: true, acts: func(s *stage) {
		s.sees("first\r\n")
		s.resizes(rows, cols)
		s.types("\r")
		acts(s)
	}}
}

const (
	ps1    = "\x1b[?2004h$ " // bash's prompt
	cursor = "\x1b[?25h"     // where vim's repaint ends
	// reader reads lines, and is process $$ of $PPID.
	reader = `sh -c 'echo $$ $PPID >pids; echo up; while read x; do echo "got $x"; [ "$x" = q ] && exit 6; done'`
)

// silent makes vim ask the terminal nothing: how its questions' answers fall between its repaints
// is chance.
var silent = []string{"vim", "-N", "--cmd", "set t_RV= t_u7= t_RF= t_RB= t_RC= t_RS=", "-u", "vimrc", "-i", "NONE", "-n"}

var scripts = []script{
	{
		name: "vim: insert, undo, write and quit", needs: "vim", argv: append(silent, "new.txt"), acts: vimInserts,
	},
	{
		name: "vim: syntax, search, visual block, split windows and resize", needs: "vim", argv: append(silent, "code.c"), acts: vimSplits,
	},
	{
		name: "vim: its questions to the terminal and their answers (screens)", needs: "vim", byEye: true,
		argv: []string{"vim", "-N", "-u", "vimrc", "-i", "NONE", "-n", "code.c"},
		acts: func(s *stage) {
			s.shows("main(void)")
			s.types(":set background? ambiwidth? t_RV?\r")
			s.shows("Press ENTER or type command to continue")
			s.remembers()
			s.types("\r")
			s.types(":qa!\r")
		},
	},
	{
		name: "less: pages, search and the next file", needs: "less", argv: []string{"less", "long.txt", "notes.txt"},
		acts: func(s *stage) {
			s.sees("(file 1 of 2)", "\x1b[K")
			s.types(" ")
			s.sees("line 046", ":\x1b[K")
			s.types("/needle\r")
			s.sees("line 057", ":\x1b[K")
			s.types("n")
			s.sees("line 114", ":\x1b[K")
			s.types("G")
			s.sees("line 300", "\x1b[K")
			s.types(":n\r")
			s.sees("harbour", "\x1b[K")
			s.types("q")
		},
	},
	{
		name: "less: a new size (screens)", needs: "less", argv: []string{"less", "long.txt"}, byEye: true,
		acts: func(s *stage) {
			s.shows("line 023")
			s.resizes(12, 60)
			s.types("r") // less may miss a size just before it reads
			s.waitsFor("line 011 and the prompt of less", func() bool { return strings.Contains(s.Screen(), "line 011") && strings.HasSuffix(s.Screen(), "\n:") })
			s.remembers()
			s.types("q")
		},
	},
	{
		name: "git log and git diff in a pager", needs: "git", argv: []string{"sh", "-c", gitHistory + "git log --stat; git diff --color HEAD~3"},
		env: []string{"GIT_PAGER=less", "LESS=R"},
		acts: func(s *stage) {
			s.sees("commit ", ":\x1b[K")
			s.types(" ")
			s.sees("commit ", ":\x1b[K")
			s.types("q")
			s.sees("diff --git", "\x1b[K")
			s.types("q")
		},
	},
	{
		name: "man in its pager", needs: "man", argv: []string{"man", "./page.1"}, env: []string{"PAGER=less", "MANPAGER=less"},
		acts: func(s *stage) {
			s.sees("NAME", "\x1b[K")
			s.types("/harbour\r")
			s.sees("\x1b[K")
			s.types("q")
		},
	},
	bash("bash: editing keys, history, completion and search", func(s *stage) {
		s.sees(ps1)
		s.types("echo one two\x01\x05\x17\x7f\x7f\x7f\x7fsix three\r")
		s.sees("six three\r\n", ps1)
		s.types("\x10")
		s.sees("echo six three")
		s.types("\x1b[D\x1b[D!\x1b[A\x1b[B\r")
		s.sees(ps1)
		s.types("cat no\t")
		s.sees("notes.txt ")
		s.types("\r")
		s.sees("brush.\r\n", ps1)
		s.types("\x12six")
		s.sees("i-search", "six", "")
		s.types("\x07")
		s.sees("$ \x1b[K")
		s.types("cat \t\t")
		s.sees("vimrc", "$ cat ")
		s.types("\x15") // at ^C behind a list bash 5.2 may print no prompt, with nothing around it
		s.sees("\x1b[K")
		s.types("exit 3\r")
	}),
	bash("bash: job control within, ^Z, jobs, bg and fg", func(s *stage) {
		s.sees(ps1)
		s.types(reader + "\r")
		s.sees("up\r\n")
		s.types("abc\r")
		s.sees("got abc\r\n")
		s.types("\x1a")
		s.sees("Stopped", ps1)
		s.types("echo $?; jobs\r")
		s.sees("148\r\n", "Stopped", ps1)
		s.types("fg\r")
		s.sees("done'\r\n")
		s.types("def\r")
		s.sees("got def\r\n")
		s.types("\x03")
		s.sees("^C\r\n", ps1)
		s.types("\x04")
	}),
	bash("bash: here-document and a paste of many lines", func(s *stage) {
		s.sees(ps1)
		s.types("cat <<END\r")
		s.sees("> ")
		s.types("one $((1+1))\r")
		s.sees("> ")
		s.types("END\r")
		s.sees("one 2\r\n", ps1)
		s.types("\x1b[200~echo p1\necho p2\necho p3\x1b[201~")
		s.sees("echo p3", "")
		s.types("\r")
		s.sees("p1\r\np2\r\np3\r\n", ps1)
		s.types("exit\r")
	}),
	bash("bash: ^C, ^\\ and ^D", func(s *stage) {
		s.sees(ps1)
		for _, key := range []string{"\x03", "\x1c", "\x04"} {
			s.types("ulimit -c 0; sh -c 'echo up; exec cat'\r")
			s.sees("up\r\n")
			s.types(key)
			s.sees(ps1)
		}
		s.types("\x04")
	}),
	{
		// The line does not echo: as the program dies of the key at once, the kernel may throw the
		// key's echo away with it.
		name: "^C and ^\\ at the program", direct: true,
		argv: []string{"sh", "-c", `trap : INT QUIT; ulimit -c 0; s=$(stty -g); stty -echo
for i in 1 2; do run sh -c "echo up; exec cat"; echo $?; done 2>/dev/null; stty "$s"`},
		acts: func(s *stage) {
			s.sees("up\r\n")
			s.types("half\x03")
			s.sees("130\r\n", "up\r\n")
			s.types("half\x1c")
			s.sees("131\r\n")
		},
	},
	sh("line mode: erase, kill, word erase, literal next, end of file", "echo up; exec cat", func(s *stage) {
		s.sees("up\r\n")
		s.types("abc\x7fd\x08 e\x15new words here\x17\x16\x03漢字\x7f\r")
		s.sees("\r\n", "\r\n")
		s.types("half\x04")
		s.sees("half", "half")
		s.types("\r\x04")
	}),
	jobs("dash ignores ^Z at its prompt", func(s *stage) {
		s.sees(ps1)
		s.types("run dash -i\r")
		s.sees("\x1b[?2004l\r", "$ ")
		s.types("half a line\x1a")
		s.sees("^Z")
		s.rests()
		s.types("echo on\r")
		s.sees("on\r\n", "$ ")
		s.types("exit 5\r")
		s.sees(ps1)
		s.types("exit\r")
	}),
	{
		name: "zsh: editing, history and completion", needs: "zsh", argv: []string{"zsh", "-f", "-i"},
		acts: func(s *stage) {
			s.sees("$ ", "\x1b[?2004h")
			s.types("echo one two\x01\x05\x17three\r")
			s.sees("one three\r\n", "\x1b[?2004h")
			s.types("\x10")
			s.sees("echo one three")
			s.types("\r")
			s.sees("one three\r\n", "\x1b[?2004h")
			s.types("cat no\t")
			s.sees("notes.txt", "\x1b[0m")
			s.types("\x1a")
			s.rests()
			s.types("\r")
			s.sees("brush", "\x1b[?2004h")
			s.types("exit\r")
		},
	},
	{
		name: "fish: suggestions and completion (screens)", needs: "fish", argv: []string{"fish", "--no-config", "-C", "function fish_prompt; echo -n '% '; end"}, byEye: true,
		acts: func(s *stage) {
			s.shows("%")
			s.types("echo one two\r")
			s.shows("\none two\n%")
			s.types("cat no\t")
			s.shows("cat notes.txt")
			s.types("\r")
			s.shows("left the brush.\n%")
			s.remembers()
			s.types("exit\r")
		},
	},
	{
		name: "python: its prompt, a block, input, history, an error", needs: "python3", argv: []string{"python3", "-q"},
		acts: func(s *stage) {
			s.sees(">>> ")
			s.types("def f(n):\r")
			s.sees("... ")
			s.types("\treturn n*'漢'\r")
			s.sees("... ")
			s.types("\r")
			s.sees(">>> ")
			s.types("f(3)\r")
			s.sees("'漢漢漢'", ">>> ")
			s.types("input('name? ')[::-1]\r")
			s.sees("name? ")
			s.types("lucy\r")
			s.sees("'ycul'", ">>> ")
			s.types("\x10")
			s.sees("lucy")
			s.types("\x15")
			s.sees("\x1b[K")
			s.types("1/0\r")
			s.sees("ZeroDivisionError", ">>> ")
			s.types("\x04")
		},
	},
	{
		name: "node: its prompt with previews (screens)", needs: "node", argv: []string{"node", "--no-warnings"}, byEye: true,
		acts: func(s *stage) {
			s.shows("\n>")
			s.types("[1,2].map(x=>x*7)\r")
			s.shows("[ 7, 14 ]\n>")
			s.remembers()
			s.types(".exit\r")
		},
	},
	{
		name: "sqlite3: statements, tables, history", needs: "sqlite3", argv: []string{"sqlite3", "-box"},
		acts: func(s *stage) {
			s.sees("sqlite> ")
			s.types("select 1 as a,\r")
			s.sees("...> ")
			s.types("'漢字' as b;\r")
			s.sees("漢字", "sqlite> ")
			s.types("\x10\x10")
			s.sees("select 1 as a,", "")
			s.types("\x15")
			s.types(".quit\r")
		},
	},
	{
		name: "tmux within (screens)", needs: "tmux", argv: []string{"tmux", "-f", "tmux.conf", "new-session", "sh"}, byEye: true, acts: inTmux,
	},
	{
		name: "a wrapper within tmux (screens)", needs: "tmux", argv: []string{"tmux", "-f", "tmux.conf", "new-session", "run sh"}, byEye: true, direct: true, acts: inTmux,
	},
	{
		name: "a wrapper within a wrapper", argv: []string{"run", "bash", "--norc", "--noprofile", "-i"},
		acts: func(s *stage) {
			s.sees(ps1)
			s.types("stty size; stty -a; exit 9\r")
		},
	},
	{
		name: "watch: a curses program (screens)", needs: "watch", byEye: true, argv: []string{"watch", "-t", "-n", "1000", "cat notes.txt; tput cols"},
		acts: func(s *stage) {
			s.sees("left the brush", "80\x1b[24;80H")
			s.remembers()
			s.types("\x03")
		},
	},
	sh("stty -a and terminfo's colours", "stty -a; tput cols; tput lines; tput colors; for i in 0 1 7 12 200; do tput setaf $i; tput setab $i; echo $i; done; tput sgr0; tput cup 3 5; tput el; tput smcup; tput rmcup", nil),
	{
		name: "raw input: every byte, reports of the mouse, a paste", fake: "echo",
		acts: func(s *stage) {
			s.sees("ready")
			all := make([]byte, 0, 256)
			for i := range 256 {
				if i != 4 {
					all = append(all, byte(i))
				}
			}
			for _, keys := range []string{"x", string(all), "\x1b[<0;10;10M\x1b[I\x1b[M !!\x1bOA\x1b[1;5A", "\x1b[200~pasted\r\n\x1b[201~", strings.Repeat("0123456789", 300)} {
				s.types(keys)
				s.sees(keys)
			}
			s.types("\x04")
		},
	},
	{
		name: "line input: what a line program reads and answers", fake: "line",
		acts: func(s *stage) {
			s.sees("> ")
			for _, line := range []string{"hello", "", "日本 \t tab", strings.Repeat("long ", 500), "\xff\xfe invalid"} {
				s.types(line + "\r")
				s.sees("ACK", "> ")
			}
			s.types("\x04")
		},
	},
	{
		name: "a composer: what it reads (screens)", fake: "composer", byEye: true,
		acts: func(s *stage) {
			s.shows("❯")
			s.types("one\\\rtwo")
			s.shows("two")
			s.types("\x1b[200~ pasted\ntext\x1b[201~")
			s.shows("text")
			s.remembers()
			s.types("\r")
			s.shows("ACK")
			s.types("\x04")
			s.shows("Press again to exit")
			s.types("\x04")
		},
	},
	sh("a line too long for line mode", "echo up; exec cat", func(s *stage) {
		s.sees("up\r\n")
		s.types(strings.Repeat("x", 4000))
		s.sees(strings.Repeat("x", 4000))
		s.types(strings.Repeat("y", 300))
		s.types("\r")
		s.sees("\r\n", "\r\n")
		s.types("\x04")
	}),
	sh("random bytes out", "s=$(stty -g); stty raw -echo; cat random; stty $s; cat random", nil),
	{name: "every kind of escape sequence, and questions", argv: []string{"sh", "escapes.sh"}},
	sh("one byte a write", `i=0; while [ $i -lt 400 ]; do printf 'a'; printf '\r'; printf '\n'; printf '\033'; printf '['; printf 'm'; i=$((i+1)); done`, nil),
	sh("CR, LF and CRLF under all output modes", `s=$(stty -g); for m in onlcr -onlcr ocrnl -ocrnl onlret -onlret -opost opost tab3 tab0; do stty $m; printf 'a\rb\nc\r\nd\n\re\tf\v\f\b'; done; stty "$s"`, nil),
	sh("NUL and invalid UTF-8", `printf '\000a\000\377\376\200\303(\360\237\000\355\240\200\300\257z\302\205\n'`, nil),
	withEnv(bash("TERM=dumb", func(s *stage) {
		s.sees("$ ")
		s.types("echo $TERM; tput cup 1 1; exec less notes.txt\r")
		s.sees("dumb", "RETURN", "")
		s.types("\r")
		s.sees("brush.\r\n", "")
		s.types("q")
	}), "TERM=dumb"),
	withEnv(sh("no TERM at all", "echo ${TERM-none}; tput cols; exec cat notes.txt", nil), "TERM"),
	sized("a window of 0×0", 0, 0, "bash --norc --noprofile -i", func(s *stage) {
		s.sees(ps1)
		s.types("stty size; echo $COLUMNS $LINES; exec less long.txt\r")
		s.sees("line 005", "\x1b[K")
		s.types("q")
	}),
	sized("a window of 1×1", 1, 1, "bash --norc --noprofile -i", func(s *stage) {
		s.sees("\x1b[?2004h\r")
		s.types("stty size\r")
		s.sees("1 1\r\n", "\x1b[?2004h\r")
		s.types("exit\r")
	}),
	sized("a window of 1000×1000", 1000, 1000, "less long.txt", func(s *stage) {
		s.sees("line 300", "\x1b[K")
		s.types("q")
	}),
	{
		name: "input from /dev/null", argv: []string{"sh", "-c", "cat; test -t 1 && echo on a terminal"},
		streams: func(s *stage, o *term.Options) { o.Stdin = s.opens(os.DevNull) },
	},
	{
		name: "input from a file", argv: []string{"cat"},
		streams: func(s *stage, o *term.Options) { o.Stdin = s.opens(filepath.Join(s.home, "long.txt")) },
	},
	{
		// Wrapped, the program writes to a terminal all the same: its lines end as there, \r\n.
		name: "output to a file, but for the ends of lines", argv: []string{"cat", "notes.txt"}, byEye: true,
		streams: func(s *stage, o *term.Options) {
			f, err := os.Create(filepath.Join(s.home, "out"))
			must(s.t, err)
			s.t.Cleanup(func() { f.Close() })
			o.Stdout = f
		},
		after: func(s *stage) {
			b, err := os.ReadFile(filepath.Join(s.home, "out"))
			must(s.t, err)
			s.seen = append(s.seen, strings.ReplaceAll(string(b), "\r\n", "\n"))
		},
	},
	{
		name: "exit statuses and deaths by signal", direct: true,
		argv: []string{"sh", "-c", `exec 2>/dev/null
for n in 0 1 2 7 42 126 127 128 200 255; do run sh -c "exit $n"; echo $?; done
for n in HUP INT QUIT ABRT KILL SEGV PIPE ALRM TERM USR1; do run sh -c "ulimit -c 0; printf last; kill -$n \$\$"; echo $?; done
run no-such-program; echo $?; run ./plain; echo $?; run /; echo $?`},
	},
	jobs("^Z and fg under a shell's job control", func(s *stage) {
		s.sees(ps1)
		s.types("run " + reader + "\r")
		s.sees("up\r\n")
		s.types("abc\r")
		s.sees("got abc\r\n")
		for range 3 {
			s.types("half\x1a")
			s.sees("Stopped", ps1)
			s.types("echo $?\r")
			s.sees("148\r\n", ps1)
			s.types("fg\r")
			s.goesOn()
			s.types("def\r")
			s.sees("got def\r\n")
		}
		s.types("q\r")
		s.sees(ps1)
		s.types("exit\r")
	}),
	jobs("^Z stops the program's work", func(s *stage) {
		s.sees(ps1)
		s.types(`run sh -c 'trap "echo again" CONT; echo x >ticks; echo up; until [ -e enough ]; do echo x >>ticks; done'` + "\r")
		s.sees("up\r\n")
		s.types("\x1a")
		s.sees("Stopped", ps1)
		s.types("wc -l <ticks >a; sleep 0.2; wc -l <ticks >b; cmp a b && echo still\r")
		s.sees("still\r\n", ps1)
		s.types("touch enough; fg\r")
		s.sees("again\r\n", ps1)
		s.types("exit\r")
	}),
	jobs("a program that asks to hear of ^Z, and stays", func(s *stage) {
		s.sees(ps1)
		s.types(`run sh -c 'stty -echo; trap "echo not me" TSTP; echo up; until [ -e enough ]; do :; done; stty echo'` + "\r")
		s.sees("up\r\n")
		s.types("\x1a")
		s.sees("not me\r\n") // the line's ^Z may come before or after that, so it does not echo
		s.rests()
		must(s.t, os.WriteFile(filepath.Join(s.home, "enough"), nil, 0o600))
		s.sees(ps1)
		s.types("exit\r")
	}),
	jobs("stopped and continued by kill", func(s *stage) {
		s.sees(ps1)
		s.types("run " + reader + "\r")
		s.sees("up\r\n")
		pid := s.runs()
		s.mark = len(s.Output())
		must(s.t, syscall.Kill(pid, syscall.SIGSTOP))
		s.sees("Stopped", ps1)
		s.types("fg\r")
		s.goesOn()
		s.types("def\r")
		s.sees("got def\r\n")
		s.types("q\r")
		s.sees(ps1)
		s.types("exit\r")
	}),
	{
		name: "a storm of resizes: the last size (screens)", byEye: true,
		argv: []string{"sh", "-c", `trap : WINCH; echo up; while :; do read x; [ "$x" = q ] && exit; stty size; done`},
		acts: func(s *stage) {
			s.sees("up\r\n")
			for i := range 300 {
				must(s.t, s.Resize(20+i%17, 60+i%31))
			}
			must(s.t, s.Resize(33, 99))
			s.waitsFor("the last size", func() bool {
				s.types("\r")
				s.sees("\r\n", "\r\n")
				return bytes.HasSuffix(s.Output(), []byte("33 99\r\n"))
			})
			s.types("q\r")
			s.seen = append(s.seen, "33 99")
		},
	},
	sh("someone left behind holds the terminal", `(trap "" HUP; sleep 2) & echo mine; exit 4`, nil),
	sh("a program that closes its terminal for a while", `echo a; exec </dev/null >/dev/null 2>&1; sleep 0.2; exec >/dev/tty; echo b; exit 3`, nil),
	sh("a password is not shown", `stty -echo; printf 'Password: '; read -r p; stty echo; echo; echo "got $p"`, func(s *stage) {
		s.sees("Password: ")
		s.types("secret\r")
	}),
	sh("^S and ^Q", "stty -echo; echo up; read x; seq 2000; read y; echo end $x; stty echo", func(s *stage) {
		s.sees("up\r\n")
		s.types("\x13go\r")
		s.rests()
		s.types("\x11")
		s.sees("2000\r\n")
		s.types("\r")
	}),
}

func withEnv(sc script, changes ...string) script {
	sc.env = append(sc.env, changes...)
	return sc
}

// gitHistory makes a repository with a few commits that are the same every time.
const gitHistory = `exec 3>&1 >/dev/null 2>&1
git init -q -b main repo; cd repo
for i in 1 2 3 4 5 6 7 8; do
  seq $i $((i*9)) >file$((i%3)); git add .
  GIT_AUTHOR_DATE="2026-01-0${i}T12:00:00Z" GIT_COMMITTER_DATE="2026-01-0${i}T12:00:00Z" git -c user.name=Ann -c user.email=ann@example.com commit -q -m "Change $i"
done
exec >&3 2>&3
`

func vimInserts(s *stage) {
	s.sees("new.txt", cursor+"\x1b[?4m")
	s.types("i")
	s.sees("INSERT", cursor)
	s.types("Hello\rworld, 漢字")
	s.sees("漢字", cursor)
	s.types("\x1b")
	s.sees(cursor)
	s.types(":silent undo\r") // or it would tell how long ago that was
	s.sees("0,0-1", cursor)
	s.types(":silent redo\r")
	s.sees("Hello", cursor)
	s.types(":w\r")
	s.sees("written", cursor)
	s.types(":q\r")
}

func vimSplits(s *stage) {
	s.sees("code.c", cursor+"\x1b[?4m")
	s.types("/words\r")
	s.sees(cursor)
	s.types("n")
	s.sees(cursor)
	s.types("\x16jjl")
	s.sees("VISUAL BLOCK", cursor)
	s.types("\x1b")
	s.sees(cursor)
	s.types(":split notes.txt\r")
	s.sees("harbour", cursor)
	s.resizes(30, 100)
	s.sees("harbour", cursor)
	s.types(":vsplit\r")
	s.sees("harbour", cursor)
	s.types(":qa!\r")
}

func inTmux(s *stage) {
	s.t.Cleanup(func() { // the server outlives a test that failed
		kill := command(s.t, "tmux", "kill-server")
		kill.Env = environ(s.home, nil)
		kill.Run()
	})
	s.shows("$")
	s.types("cat notes.txt\r")
	s.shows("left the brush")
	s.types("\x02%")
	s.shows("│$")
	s.types("stty size\r")
	s.shows("│24 39")
	s.resizes(20, 70)
	s.shows("🚢 │$\nand")
	s.shows("eft the brush.                     │\n$ ")
	s.remembers()
	s.types("\x02k")
}

// runs is the process that the shell's job is: the wrapper's front, or the program.
func (s *stage) runs() int {
	s.t.Helper()
	pgrp, err := syscall.Getpgid(s.process())
	must(s.t, err)
	return pgrp
}

// process is the wrapper, or the program.
func (s *stage) process() int {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.home, "pids"))
	must(s.t, err)
	own, parent, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	if s.wrapped {
		own = parent
	}
	pid, err := strconv.Atoi(own)
	must(s.t, err)
	return pid
}

// opens opens a file for reading.
func (s *stage) opens(path string) *os.File {
	s.t.Helper()
	f, err := os.Open(path)
	must(s.t, err)
	s.t.Cleanup(func() { f.Close() })
	return f
}

// remembers keeps what the human sees now.
func (s *stage) remembers() { s.seen = append(s.seen, s.Screen()) }

// rests gives what should not happen time to happen.
func (s *stage) rests() { <-time.After(500 * time.Millisecond) }

// waitsFor waits for what no output tells.
func (s *stage) waitsFor(what string, is func() bool) {
	s.t.Helper()
	becomes(s.t, s.name()+": "+what, is)
}

// goesOn waits until the shell has continued the job that is reader.
func (s *stage) goesOn() {
	s.t.Helper()
	s.sees("done'\r\n") // said by the shell: the terminal is no longer its own
	s.waitsFor("the terminal in the program's modes", func() bool {
		raw, err := s.Raw()
		must(s.t, err)
		return raw == s.wrapped
	})
}
