// Package agentrig is one table of the real agents that tests and the demo run:
// pinned releases from our own cache, each in a fresh home, offline, against a
// fake model API on loopback. It never looks at what is on PATH, Node apart, nor
// at the user's own settings.
package agentrig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"relay-pty/cmd/internal/fakemodel"
)

// Agent is one release of one agent.
type Agent struct {
	Profile string // the wrapper's name for its kind
	Version string // the script .ci/agents fetches the same one; a test holds the two together

	variable string // environment variable with a program to be taken instead
	packed   string // directory in the cache, without the version
	program  string // pattern of the program's path in it
	node     bool   // the program is a script for Node
	wire     fakemodel.Wire
	settle   Change                   // writes the settings
	unwrap   func(text string) string // takes off what the agent itself adds to a user's text; nil: nothing

	Args     []string                    // with which it runs interactively, with its usual permissions
	Startups []Startup                   // with which it can be made to begin
	Question string                      // what it shows, in part, when TOUCH made it ask for permission
	Composes bool                        // it makes one character of a letter and its accent (NFC)
	Vim      Change                      // its vim mode, in which it begins in INSERT; nil: it has none
	Tools    func(argv ...string) Change // an MCP server, which it starts with argv
	// Recall is the key that steps back in the agent's own history of prompts, for an agent whose
	// model never gets a request again that was interrupted; else "".
	Recall string
}

// Startup is a dialog with which an agent may begin.
type Startup struct {
	Name   string
	Text   string // a row of it, in part
	Change Change // what provokes it
}

// All lists the agents in the order of the reports.
func All() []Agent {
	return []Agent{Claude(ClaudeNow), Claude("2.1.197"), Codex(), Gemini(), OpenCode()}
}

// For is the newest release in the table of the agent with that profile. The home that it prepares
// does for other releases, too: Claude Code 2.1.329 asks nothing in one for 2.1.100.
func For(profile string) (a Agent, known bool) {
	all := All()
	at := slices.IndexFunc(all, func(a Agent) bool { return a.Profile == profile })
	if at < 0 {
		return Agent{}, false
	}
	return all[at], true
}

// Name is the agent's kind and version, as "codex-0.169.0".
func (a Agent) Name() string { return a.Profile + "-" + a.Version }

// Find returns the path of the program: what the agent's variable says, else
// what .ci/agents put into the cache, below $RELAY_CACHE,
// $XDG_CACHE_HOME/relay-pty or ~/.cache/relay-pty.
func (a Agent) Find() (string, error) {
	if a.node {
		if _, err := exec.LookPath("node"); err != nil {
			return "", err
		}
	}
	if path := os.Getenv(a.variable); path != "" {
		return path, a.check(path, "$"+a.variable)
	}
	path, err := cached(a.packed+"-"+a.Version, a.program)
	if err != nil {
		return "", err
	}
	return path, a.check(path, "get it with `make agents`")
}

func (a Agent) check(path, hint string) error {
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || !a.node && info.Mode()&0o111 == 0) {
		err = fmt.Errorf("%s is not executable", path)
	}
	if err != nil {
		return fmt.Errorf("no %s %s: %w (%s)", a.Profile, a.Version, err, hint)
	}
	return nil
}

// Argv starts the agent at path with its arguments.
func (a Agent) Argv(path string) []string {
	argv := append([]string{path}, a.Args...)
	if a.node {
		argv = append([]string{"node"}, argv...)
	}
	return argv
}

// API starts the agent's model API, which the caller closes.
func (a Agent) API() (*fakemodel.Server, error) { return fakemodel.Start(a.wire) }

// Prepare makes a fresh home for the agent below dir, which must exist: with
// nothing to ask at the start and its model API at baseURL. It returns the
// agent's whole environment and its working directory, a git repository with one
// commit. Each of changes is made before the agent's first start.
func (a Agent) Prepare(dir, baseURL string, changes ...Change) (env []string, cwd string, err error) {
	if env, cwd, err = Plain(dir); err != nil {
		return nil, "", err
	}
	h := home{filepath.Join(filepath.Dir(cwd), "home"), cwd, baseURL}
	if err := h.repository(env); err != nil {
		return nil, "", err
	}
	env = append(env, "NO_PROXY=127.0.0.1")
	for _, change := range append([]Change{a.settle}, changes...) {
		if env, err = change(h, env); err != nil {
			return nil, "", err
		}
	}
	return env, cwd, nil
}

// Received is the user texts of t as the users meant them, joined by newlines:
// what the agent itself adds to them is removed. Compare it with Unwrap of what
// was sent; Turn.Text keeps the raw form.
func (a Agent) Received(t fakemodel.Turn) string { return a.Unwrap(t.UserText()) }

// Unwrap takes off what the agent itself adds to a user's text.
func (a Agent) Unwrap(text string) string {
	if a.unwrap == nil {
		return text
	}
	return a.unwrap(text)
}

// cached is the path beneath the cache's directory name; where no file matches pattern, the
// pattern's own. .ci/agents has the same rule for the cache's place.
func cached(name, pattern string) (string, error) {
	dir := os.Getenv("RELAY_CACHE")
	if dir == "" {
		caches := os.Getenv("XDG_CACHE_HOME")
		if caches == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("find the cache: %w", err)
			}
			caches = filepath.Join(home, ".cache")
		}
		dir = filepath.Join(caches, "relay-pty")
	}
	path := filepath.Join(dir, name, "package", pattern)
	if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
		return found[0], nil
	}
	return path, nil
}

// platform is this machine's name in npm packages.
func platform() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}
