package profile

import "strings"

// words is a set of words, separated by blanks.
type words string

func (w words) has(word string) bool {
	for each := range strings.FieldsSeq(string(w)) {
		if each == word {
			return true
		}
	}
	return false
}

// Usage is how an agent reads its command line, as far as that tells a session, which a human or
// messages talk to, from a command that does one thing and ends. The source is its --help.
type Usage struct {
	Commands words // subcommands that are no session, with those that --help hides
	Sessions words // subcommands that begin one
	Once     words // flags with which it is none
	Valued   words // flags whose value is the next word
	Greedy   words // flags that take all words up to the next flag
	Lenient  words // flags that take the next word unless that is a flag
}

// Once reports whether a command line does one thing and ends, so that nothing is to be added to
// it. agent is what --agent says, "" if it says nothing. Of a program that is no known agent nobody
// can tell.
func Once(agent string, argv ...string) bool {
	p, l, _ := Kind(agent, argv...)
	return p != nil && p.Usage != nil && p.Usage.once(l.Argv[1:])
}

// once reads the words behind the program. A word that is neither a flag nor a flag's value is a
// subcommand if it is the first one, and a prompt otherwise.
func (u *Usage) once(args []string) bool {
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
		case first && u.Commands.has(arg):
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
		if u.Once.has(name) || joined {
			return u.Once.has(name), 0
		}
		return false, u.value(name, behind)
	}
	for i, letter := range arg[1:] { // flags of one letter, of which the last may have a value
		short := "-" + string(letter)
		switch rest := arg[1+i+len(string(letter)):]; {
		case u.Once.has(short):
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
	return u.Valued.has(flag) || u.Greedy.has(flag) || u.Lenient.has(flag)
}

// value is how many of the words behind a flag are its value.
func (u *Usage) value(flag string, behind []string) int {
	plain := 0
	for plain < len(behind) && !strings.HasPrefix(behind[plain], "-") {
		plain++
	}
	switch {
	case u.Valued.has(flag):
		return min(1, len(behind))
	case u.Greedy.has(flag):
		return plain
	case u.Lenient.has(flag):
		return min(1, plain)
	}
	return 0
}
