package profile

import (
	"slices"
	"strings"
)

// Words is a set of words, separated by blanks.
type Words string

func (w Words) Has(word string) bool {
	return slices.Contains(strings.Fields(string(w)), word)
}

// Usage is how an agent reads its command line, as far as that tells a session, which a human or
// messages talk to, from a command that does one thing and ends. The source is its --help.
type Usage struct {
	Commands Words // subcommands that are no session, with those that --help hides
	Sessions Words // subcommands that begin one
	Once     Words // flags with which it is none
	Valued   Words // flags whose value is the next word
	Greedy   Words // flags that take all words up to the next flag
	Lenient  Words // flags that take the next word unless that is a flag
	Answers  bool  // with a prompt that is no flag's value it answers that, and ends
}

// Ends reports whether the words behind the program make it do one thing and end. A word that is
// neither a flag nor a flag's value is a subcommand if it is the first one, and a prompt otherwise.
func (u *Usage) Ends(args []string) bool {
	first, flags := true, true
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case flags && arg == "--":
			flags = false
		case flags && len(arg) > 1 && arg[0] == '-':
			once, taken := u.flag(arg, args[i+1:])
			if once {
				return true
			}
			i += taken
		case first && u.Commands.Has(arg):
			return true
		case u.Answers && !u.Sessions.Has(arg):
			return true
		default:
			first = false
		}
	}
	return false
}

// flag reads one word of flags, and tells how many of the words behind it are its value.
func (u *Usage) flag(arg string, behind []string) (once bool, taken int) {
	name, _, joined := strings.Cut(arg, "=")
	if strings.HasPrefix(arg, "--") {
		if u.Once.Has(name) || joined {
			return u.Once.Has(name), 0
		}
		return false, u.value(name, behind)
	}
	for i, letter := range arg[1:] { // flags of one letter, of which the last may have a value
		short := "-" + string(letter)
		switch rest := arg[1+i+len(string(letter)):]; {
		case u.Once.Has(short):
			return true, 0
		case !u.takes(short):
		case rest != "":
			return false, 0
		default:
			return false, u.value(short, behind)
		}
	}
	return false, 0
}

func (u *Usage) takes(flag string) bool {
	return u.Valued.Has(flag) || u.Greedy.Has(flag) || u.Lenient.Has(flag)
}

// value is how many of the words behind a flag are its value.
func (u *Usage) value(flag string, behind []string) int {
	plain := 0
	for plain < len(behind) && !strings.HasPrefix(behind[plain], "-") {
		plain++
	}
	switch {
	case u.Valued.Has(flag):
		return min(1, len(behind))
	case u.Greedy.Has(flag):
		return plain
	case u.Lenient.Has(flag):
		return min(1, plain)
	}
	return 0
}
