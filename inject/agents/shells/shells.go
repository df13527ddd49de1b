// Package shells is what is known of shells and REPLs, as data.
package shells

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay-pty/inject/agents/generic"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Profile is a program that runs what it reads: a message is typed in a form that
// its language ignores, and only at the program's own first prompt. Silence is
// no evidence there, since text may then be the rest of something begun.
var Profile = profile.Profile{
	Name:      "shell",
	Title:     "shells and REPLs",
	Questions: generic.Profile.Questions,
	Prompt:    posixPrompt, Continued: rx(posixContinued), Quote: profile.Quote{Posix: true},
	Rules: ready.Rules{NeedPrompt: true, PromptRest: 40 * time.Millisecond},
	Typing: profile.Typing{
		Newline: "\n", Submit: "\r",
		Clear: []string{"\x15", "\x03"},
		Echo:  10 * time.Second, KeyWait: time.Second, // a long paste takes a line editor seconds
		Confirm: 10 * time.Second,
	},
}

// dialect is the language of some shells, and how a command line reports whether
// they prompt for it or run a script.
type dialect struct {
	commands  []string
	quote     profile.Quote
	prompt    string
	continued *profile.Pattern
	runs      []string // options with which it does not prompt
	valued    []string // options whose value is the next argument
	operands  int      // arguments that are not a script
	prompts   string   // option with which it prompts whatever else there is
	kills     []string // those of which C-u removes the line, as measured
	ends      bool     // Ctrl-C may end it
	begun     func(text string) bool
}

// posixPrompt is a prompt of the usual signs, or one of the themes that end
// without any.
const posixPrompt = `[$#%>❯➜»λ›⟩→] ?$|^➜ .* $|^╰─.*$`

// The prompts for the rest of a command: PS2 of most shells, and zsh's, which
// names what is open.
const posixContinued = `^> ?$|^(?:(?:for|while|repeat|select|until|if|then|else|elif|elif-then|math|cond|cmdor|cmdand|pipe|errpipe|foreach|case|function|subsh|` +
	`cursh|array|quote|dquote|bquote|cmdsubst|mathsubst|heredoc|heredocd|brace|braceparam|always) ?)+> ?$`

var dialects = []dialect{
	{
		commands: []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"}, quote: profile.Quote{Posix: true},
		prompt: posixPrompt, continued: rx(posixContinued),
		runs: []string{"-c"}, valued: []string{"--rcfile", "--init-file", "-O", "+O", "-o", "+o"}, kills: []string{"bash", "zsh"}, begun: posixBegun,
	},
	{
		commands: []string{"fish"}, quote: profile.Quote{Comment: " # "}, // the blank keeps it out of the history
		prompt: posixPrompt, continued: rx(`^read> `),
		runs: []string{"-c", "--command"}, valued: []string{"-C", "--init-command", "-d", "-f", "-o"}, kills: []string{"fish"},
	},
	{
		commands: []string{"python", "python3"}, quote: profile.Quote{Comment: "# "}, prompt: `^>>> $`,
		runs: []string{"-c", "-m"}, valued: []string{"-W", "-X"}, prompts: "-i", kills: []string{"python", "python3"}, begun: pythonBegun,
	},
	{
		// A word at the end of its line would be completed by Enter; a blank cannot be.
		commands: []string{"node"}, quote: profile.Quote{Comment: "// ", End: " "}, prompt: `^> $`,
		runs: []string{"-e", "--eval", "-p", "--print", "-c", "--check"}, valued: []string{"-r", "--require", "--import"}, prompts: "-i",
	},
	{
		commands: []string{"sqlite3"}, quote: profile.Quote{Comment: "-- "}, prompt: `^sqlite> $`,
		runs: []string{"-batch"}, valued: []string{"-cmd", "-init", "-separator", "-newline", "-nullvalue"}, operands: 1, ends: true, begun: sqlBegun,
	},
	{
		commands: []string{"psql"}, quote: profile.Quote{Comment: "-- "}, prompt: `^\S+=[*!?]?[#>] $`,
		runs:     []string{"-c", "--command", "-f", "--file", "-l", "--list"},
		valued:   []string{"-d", "-h", "-p", "-U", "-v", "-P", "-F", "-R", "-T", "-L", "-o", "--dbname", "--host", "--port", "--username"},
		operands: 2, begun: sqlBegun,
	},
}

// For is the profile for a command line, that of a POSIX shell if the program is none that is
// known; prompts reports whether the line starts a shell which prompts.
func For(argv []string) (p *profile.Profile, prompts bool) {
	d, name := dialects[0], strings.TrimPrefix(filepath.Base(argv[0]), "-") // a login shell's name has the dash
	s := Profile
	for _, each := range dialects {
		if slices.Contains(each.commands, name) {
			d, prompts, s.Language = each, each.interactive(argv[1:]), name
		}
	}
	if slices.Contains(d.kills, name) {
		s.Typing.Stash, s.Typing.StashLine, s.Typing.Retype = "\x15", true, true
	}
	if d.ends {
		s.Typing.Clear = s.Typing.Clear[:1]
	}
	s.Quote, s.Prompt, s.Continued, s.Begun = d.quote, d.prompt, d.continued, d.begun
	return &s, prompts
}

// Running is the profile for a process that prompts, by its command line and the file that it was
// started from, which no name can hide; "" where the system does not tell. nil: it is no shell that
// is known, or one that runs a script.
func Running(argv []string, file string) *profile.Profile {
	file = bare(strings.TrimSuffix(file, " (deleted)"))
	for _, d := range dialects {
		for _, name := range d.commands {
			if bare(name) != file {
				continue
			}
			if p, prompts := For(append([]string{name}, argv[1:]...)); prompts {
				return p
			}
			return nil
		}
	}
	if file != "" && file != "busybox" {
		return nil
	}
	if p, prompts := For(argv); prompts {
		return p
	}
	return nil
}

// bare is a program's name without a release, as in python3.11 and ksh93; "" for no path.
func bare(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimRight(filepath.Base(path), "0123456789.-")
}

// interactive reports whether a shell with these arguments prompts.
func (d dialect) interactive(args []string) bool {
	if d.prompts != "" && slices.Contains(args, d.prompts) {
		return true
	}
	operands := 0
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(d.runs, arg) || d.cluster(arg):
			return false
		case slices.Contains(d.valued, arg):
			i++
		case arg == "--":
			operands += len(args) - i - 1
			i = len(args)
		case !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+"):
			operands++
		}
	}
	return operands <= d.operands
}

// cluster reports whether short options in one argument hold one that runs, as in -lc.
func (d dialect) cluster(arg string) bool {
	if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
		return false
	}
	return d.quote.Posix && strings.ContainsRune(arg[1:], 'c')
}

var rx = profile.NewPattern
