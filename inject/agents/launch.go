package agents

import (
	"slices"
	"strings"

	"relay-pty/inject/profile"
)

// Line is a command line, and in it the one of the program that it comes to run.
type Line struct {
	Argv []string // the program, and what is behind it
	// Fetched says that the program is a package's name, to be found by what stands before it.
	Fetched bool

	before []string // what starts it, as `env X=1`
	quoted bool     // the program's line is one argument, a script, which begins …
	script []string // … with these words
	behind []string // arguments behind that script
}

// With is the whole command line with another one for the program.
func (l Line) With(argv []string) []string {
	if !l.quoted {
		return slices.Concat(l.before, argv)
	}
	return slices.Concat(l.before, []string{asScript(slices.Concat(l.script, argv))}, l.behind)
}

// Script reports whether a command line is of a shell that runs a script, which may come to run
// anything, or of a file that may be one.
func Script(argv ...string) bool {
	argv = Open(argv...).Argv
	return shellNames.Has(baseOf(argv[0])) && len(argv) > 1 || isScript(argv[0])
}

// launcher is a kind of command that runs the command line which stands behind its own arguments.
type launcher struct {
	commands profile.Words
	subs     profile.Words // one of these must follow; "": none
	valued   profile.Words // flags whose value is the next word
	refuses  profile.Words // flags with which it reads its command line in another way
	operands int           // words of its own before the command
	assigns  bool          // NAME=VALUE may stand before it
	dashed   bool          // it begins behind the first --
	fetches  bool          // its first word names a package
	script   bool          // it is a file that the launcher interprets
}

// launchers hand the terminal on as it is, so whatever is known of the program holds.
var launchers = []launcher{
	{commands: "env", valued: "-u --unset -C --chdir", refuses: "-S --split-string", assigns: true},
	{commands: "nice", valued: "-n --adjustment"},
	{commands: "ionice", valued: "-c --class -n --classdata", refuses: "-p --pid -P -u"},
	{commands: "timeout", valued: "-k --kill-after -s --signal", operands: 1},
	{commands: "stdbuf", valued: "-i --input -o --output -e --error"},
	{commands: "nohup setsid caffeinate"},
	{commands: "time", valued: "-f --format -o --output"},
	{commands: "npx bunx pnpx", refuses: "-c --call -p --package", fetches: true},
	{commands: "npm pnpm", subs: "exec x", refuses: "-c --call -p --package", dashed: true, fetches: true},
	{commands: "pnpm yarn", subs: "dlx", fetches: true},
	{commands: "bun", subs: "x", fetches: true},
	{commands: "mise rtx", subs: "exec x", refuses: "-c --command", dashed: true},
	{commands: "asdf", subs: "exec"},
	{commands: "direnv", subs: "exec", operands: 1},
	{commands: "op doppler infisical", subs: "run", dashed: true},
	{commands: "aws-vault", subs: "exec", dashed: true},
	{commands: "node nodejs bun deno", valued: "-r --require --import --loader --env-file -C --conditions", refuses: "-e --eval -p --print -c --check -i", script: true},
}

// shellNames are of those that read a script from the argument behind -c.
const shellNames profile.Words = "sh bash dash zsh ksh mksh ash"

// nested is how many launchers may stand before each other.
const nested = 8

// Open finds the program that a command line comes to run. A line that cannot be read for certain
// is taken for the program's own.
func Open(argv ...string) Line {
	return open(argv, nested)
}

func open(argv []string, depth int) Line {
	plain := Line{Argv: argv}
	if len(argv) < 2 || depth == 0 {
		return plain
	}
	name := baseOf(argv[0])
	if shellNames.Has(name) {
		return openScript(plain, depth)
	}
	for _, l := range launchers {
		at, ok := l.opens(name, argv)
		if !ok || l.script && brand(argv[at], true) == nil || l.fetches && packaged(argv[at]) == nil && brand(argv[at], false) == nil {
			continue
		}
		in := open(argv[at:], depth-1)
		in.before = slices.Concat(argv[:at], in.before)
		in.Fetched = in.Fetched || l.fetches
		return in
	}
	return plain
}

// opens tells where the command stands in the launcher's command line.
func (l launcher) opens(name string, argv []string) (at int, ok bool) {
	if !l.commands.Has(name) || l.subs != "" && !l.subs.Has(argv[1]) {
		return 0, false
	}
	at = 1
	if l.subs != "" {
		at++
	}
	operands := l.operands
	for ; at < len(argv); at++ {
		switch arg := argv[at]; {
		case arg == "--":
			at++
			return at + operands, at+operands < len(argv)
		case len(arg) > 1 && arg[0] == '-':
			if flag, _, joined := strings.Cut(arg, "="); l.refuses.Has(flag) {
				return 0, false
			} else if l.valued.Has(flag) && !joined {
				at++
			}
		case l.dashed, l.assigns && strings.Contains(arg, "="):
		case operands > 0:
			operands--
		default:
			return at, true
		}
	}
	return 0, false
}

// openScript finds the program of a shell's script that is one simple command.
func openScript(plain Line, depth int) Line {
	argv := plain.Argv
	at := 1
	for at < len(argv) && !strings.HasPrefix(argv[at], "--") && len(argv[at]) > 1 && argv[at][0] == '-' && !strings.Contains(argv[at], "c") {
		at++
	}
	if at+1 >= len(argv) || argv[at][0] != '-' || !strings.HasSuffix(argv[at], "c") {
		return plain
	}
	all, ok := simple(argv[at+1])
	first := 0
	for first < len(all) && assigns(all[first]) {
		first++
	}
	if first < len(all) && all[first] == "exec" {
		first++
	}
	if !ok || first == len(all) {
		return plain
	}
	in := open(all[first:], depth-1)
	if in.quoted || agentOf(in) == nil && hostOf(in.Argv) == "" {
		return plain
	}
	return Line{
		Argv: in.Argv, Fetched: in.Fetched, before: argv[:at+1], quoted: true,
		script: slices.Concat(all[:first], in.before), behind: argv[at+2:],
	}
}

func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !letter(r) })
}

func letter(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// bare reports whether a character stands for itself in a shell's script.
func bare(r rune) bool { return letter(r) || strings.ContainsRune("-+./:=@%,", r) || r >= 0x80 }

// simple are the words of a shell's script if it is one simple command, in which nothing is
// expanded.
func simple(script string) (list []string, ok bool) {
	word, begun, quote := "", false, rune(0)
	for _, r := range strings.Trim(script, " \t\n;") {
		switch {
		case r == quote && quote != 0:
			quote = 0
		case quote == '\'', quote == '"' && !strings.ContainsRune("$`\\!", r), quote == 0 && bare(r):
			word, begun = word+string(r), true
		case quote != 0:
			return nil, false
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				list = append(list, word)
			}
			word, begun = "", false
		default:
			return nil, false
		}
	}
	if begun {
		list = append(list, word)
	}
	return list, quote == 0 && len(list) > 0
}

// asScript is a script of these words.
func asScript(list []string) string {
	var script []string
	for _, w := range list {
		name, value, sets := strings.Cut(w, "=")
		switch {
		case w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !bare(r) }):
		case sets && assigns(w):
			w = name + "=" + inQuotes(value)
		default:
			w = inQuotes(w)
		}
		script = append(script, w)
	}
	return strings.Join(script, " ")
}

func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
