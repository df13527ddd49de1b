package agents

import (
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"relay-pty/inject/agents/shells"
	"relay-pty/inject/profile"
	"relay-pty/protocol/regular"
)

// baseOf is a program's name. A login shell's has a dash.
func baseOf(program string) string { return strings.TrimPrefix(filepath.Base(program), "-") }

// agentOf is the profile of the agent that a line runs; nil: it is none that has one.
func agentOf(l Line) *profile.Profile {
	if l.Fetched {
		if p := packaged(l.Argv[0]); p != nil {
			return p
		}
	}
	return brand(l.Argv[0], false)
}

// brand is the profile of the agent whose program that is: by its name, or by the file that the
// name leads to, perhaps over links. nil: it is no agent's. file says that it is a path, and is
// not looked up.
func brand(program string, file bool) *profile.Profile {
	if p := byCommand(program); p != nil {
		return p
	}
	path := program
	if !file {
		found, err := exec.LookPath(program)
		if err != nil && found == "" {
			return nil
		}
		path = found
	}
	return byFile(path)
}

func byCommand(program string) *profile.Profile {
	name := baseOf(program)
	return first(func(p *profile.Profile) bool {
		return slices.ContainsFunc(p.Commands, func(c string) bool { return name == c || name == c+".js" || name == c+".mjs" })
	})
}

// byFile is the profile of the agent that a file belongs to: by where its links end, or by the
// package that it is in.
func byFile(path string) *profile.Profile {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	if p := byCommand(real); p != nil {
		return p
	}
	if p := first(func(p *profile.Profile) bool { return p.Installed != nil && p.Installed.Match(real) }); p != nil {
		return p
	}
	return inPackage(real)
}

// scriptMost is how much of a script is read, in bytes.
const scriptMost = 64 << 10

// Mentioned is the profile of the first agent that a shell's script names, which a command line
// runs: its arguments cannot be reached there. nil: it names none, or is no such script.
func Mentioned(argv ...string) *profile.Profile {
	argv = Open(argv...).Argv
	var text []byte
	switch at := 1; {
	case isScript(argv[0]):
		text = beginning(argv[0])
	case !shellNames.Has(baseOf(argv[0])):
		return nil
	default:
		for at < len(argv)-1 && strings.HasPrefix(argv[at], "-") && !strings.HasSuffix(argv[at], "c") {
			at++
		}
		switch {
		case at == len(argv):
			return nil
		case strings.HasPrefix(argv[at], "-"):
			text = []byte(strings.Join(argv[at+1:], " "))
		default:
			text = beginning(argv[at])
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !bare(r) }) {
			if p := byCommand(word); p != nil {
				return p
			}
		}
	}
	return nil
}

// beginning is what a file begins with; nothing of one that cannot be read.
func beginning(program string) []byte {
	path, err := exec.LookPath(program)
	if err != nil && path == "" {
		path = program
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()                                      // only read
	text, _ := io.ReadAll(io.LimitReader(f, scriptMost)) // what was read tells
	return text
}

// isScript reports whether a program is a script of a shell's.
func isScript(program string) bool {
	line, _, _ := strings.Cut(string(beginning(program)), "\n")
	names, ok := strings.CutPrefix(line, "#!")
	for name := range strings.FieldsSeq(names) {
		if ok && shellNames.Has(baseOf(name)) {
			return true
		}
	}
	return false
}

// packageMost is the largest description of a package that is read, in bytes.
const packageMost = 256 << 10

// inPackage is the profile of the agent whose npm package a file is in; the nearest one counts.
func inPackage(file string) *profile.Profile {
	for dir, up := filepath.Dir(file), 0; up < 4 && filepath.Dir(dir) != dir; dir, up = filepath.Dir(dir), up+1 {
		path := filepath.Join(dir, "package.json")
		text, err := regular.Read(path, packageMost)
		if err != nil {
			continue
		}
		var is struct{ Name string }
		if json.Unmarshal(text, &is) == nil && is.Name != "" {
			return packaged(is.Name)
		}
	}
	return nil
}

// packaged is the profile of the agent that comes in an npm package of that name, which may end in
// a version.
func packaged(name string) *profile.Profile {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	return first(func(p *profile.Profile) bool { return p.Packages.Has(name) })
}

// Running is the profile of the agent that a process is, by its command line and the file that it
// was started from, "" where the system does not tell; nil: it is none that has one. What merely
// starts an agent is none.
func Running(argv []string, file string) *profile.Profile {
	if len(argv) == 0 || argv[0] == "" {
		return nil
	}
	name := baseOf(argv[0])
	for _, l := range launchers {
		if at, ok := l.opens(name, argv); ok && l.script {
			return brand(argv[at], true)
		}
	}
	if p := byCommand(argv[0]); p != nil || file == "" {
		return p
	}
	return byFile(file)
}

// Reading is the profile of the shell that a process is which prompts, by the same; nil: it is none
// that has one.
func Reading(argv []string, file string) *profile.Profile {
	if len(argv) == 0 || argv[0] == "" {
		return nil
	}
	return shells.Running(argv, file)
}
