package e2e

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/inject/agents"
)

// usageTold is what an agent's --help says of its command line.
type usageTold struct {
	commands []string
	valued   map[string]bool // each flag, and whether a word behind it is its value
}

// Rows of an agent's --help: clap's and commander's, or yargs'.
var (
	commandRow = regexp.MustCompile(`^  ([a-z][a-z-]*(?:\|[a-z-]+)*)(?: .*)?$`)
	usageRow   = regexp.MustCompile(`^  (?:gemini|opencode|qwen) ([a-z]+)\b`)
	aliasRow   = regexp.MustCompile(`\[aliases: ([a-z, -]+)\]`)
	flagRow    = regexp.MustCompile(`^ {2,6}((?:-\w, )?--[\w-]+(?:, --[\w-]+)?|-\w)(.*)$`)
	flagName   = regexp.MustCompile(`--?[\w-]+`)
	kindRow    = regexp.MustCompile(`\[(string|number|array)\]`)
)

// help is what the agent's program tells of itself. yargs names the kind of a flag's value at the
// end of its row or of the next.
func help(t *testing.T, argv []string) usageTold {
	t.Helper()
	cmd := exec.CommandContext(testrig.Within(t, time.Minute), argv[0], append(argv[1:], "--help")...)
	cmd.Env = []string{"HOME=" + testrig.Dir(t), "PATH=/usr/bin:/bin", "COLUMNS=100"}
	cmd.Dir = cmd.Env[0][len("HOME="):]
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	h, heading, last := usageTold{valued: map[string]bool{}}, "", []string(nil)
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' {
			heading = line
		}
		if heading == "Commands:" {
			h.commands = append(h.commands, commandsIn(line)...)
			continue
		}
		if m := flagRow.FindStringSubmatch(line); m != nil {
			last = flagName.FindAllString(m[1], -1)
			for _, f := range last {
				h.valued[f] = strings.HasPrefix(m[2], " <") || strings.HasPrefix(m[2], " [")
			}
		}
		if kindRow.MatchString(line) {
			for _, f := range last {
				h.valued[f] = true
			}
		}
	}
	return h
}

func commandsIn(line string) (names []string) {
	if m := usageRow.FindStringSubmatch(line); m != nil {
		names = append(names, m[1])
	} else if m := commandRow.FindStringSubmatch(line); m != nil && !slices.Contains([]string{"opencode", "gemini", "qwen"}, m[1]) {
		names = strings.Split(m[1], "|")
	}
	if m := aliasRow.FindStringSubmatch(line); m != nil {
		names = append(names, strings.Split(m[1], ", ")...)
	}
	return names
}

// TestRealAgentsTellNoOtherUsage: each subcommand of an agent's --help is known to be a session or
// none, and each flag to have a value or none. A release that has more of them fails here.
func TestRealAgentsTellNoOtherUsage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN with -short: the usage of real agents")
	}
	for _, a := range agentrig.All() {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			path, err := a.Find()
			testrig.Require(t, a.Name(), err)
			p, _ := agents.Named(a.Profile)
			argv := a.Argv(path)
			h := help(t, argv[:len(argv)-len(a.Args)])
			if len(h.commands) < 5 || len(h.valued) < 10 {
				t.Fatalf("the help was not understood: %v", h)
			}
			once := ""
			for _, c := range h.commands {
				session := strings.Contains(" "+strings.Join(strings.Fields(string(p.Usage.Sessions)), " ")+" ", " "+c+" ")
				if none := agents.Once("", a.Profile, c); none == session {
					t.Errorf("whether %s %s begins a session is not known", a.Profile, c)
				} else if none {
					once = c
				}
			}
			for flag, valued := range h.valued {
				if ends := agents.Once("", a.Profile, flag); ends {
					continue // whatever it takes
				}
				if takes := !agents.Once("", a.Profile, flag, once); takes != valued {
					t.Errorf("%s %s: a value is %t by the help, and %t by the table", a.Profile, flag, valued, takes)
				}
			}
			t.Logf("%d subcommands, %d flags", len(h.commands), len(h.valued))
		})
	}
}
