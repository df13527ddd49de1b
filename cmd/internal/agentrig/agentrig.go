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
	"strings"

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
	args     []string
	wire     fakemodel.Wire
	settle   Change                   // writes the settings
	composes bool                     // see Composes
	unwrap   func(text string) string // takes off what the agent itself adds to a user's text; nil: nothing
	startups []Startup
	question string
	recall   string                     // see Recall
	vim      Change                     // see Vim; nil: it has none
	tools    func(argv []string) Change // see Tools
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

// Startups lists the dialogs with which the agent can be made to begin.
func (a Agent) Startups() []Startup { return a.startups }

// Question is what the agent shows, in part, when TOUCH made it ask for permission.
func (a Agent) Question() string { return a.question }

// Recall is the key that steps back in the agent's own history of prompts, for an
// agent whose model never gets a request again that was interrupted; else "".
func (a Agent) Recall() string { return a.recall }

// Composes says whether the agent makes one character of a letter and its accent (NFC).
func (a Agent) Composes() bool { return a.composes }

// Vim gives the agent its vim mode, in which it begins in INSERT; ok says whether it has one.
func (a Agent) Vim() (change Change, ok bool) { return a.vim, a.vim != nil }

// Tools gives the agent an MCP server, which it starts with argv.
func (a Agent) Tools(argv ...string) Change { return a.tools(argv) }

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

// Args are the arguments with which the agent runs interactively, with its usual permissions.
func (a Agent) Args() []string { return a.args }

// Argv starts the agent at path with its arguments.
func (a Agent) Argv(path string) []string {
	argv := append([]string{path}, a.args...)
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
	h, env, err := newHome(dir, baseURL)
	if err != nil {
		return nil, "", err
	}
	if err := repository(h.cwd, env); err != nil {
		return nil, "", err
	}
	for _, change := range append([]Change{a.settle}, changes...) {
		if env, err = change(h, env); err != nil {
			return nil, "", err
		}
	}
	return env, h.cwd, nil
}

// Received is the user texts of t as the users meant them, joined by newlines:
// what the agent itself adds to them is removed. Compare it with Unwrap of what
// was sent; Turn.Text keeps the raw form.
func (a Agent) Received(t fakemodel.Turn) string { return a.Unwrap(strings.Join(t.Text, "\n")) }

// Unwrap takes off what the agent itself adds to a user's text.
func (a Agent) Unwrap(text string) string {
	if a.unwrap == nil {
		return text
	}
	return a.unwrap(text)
}

// cached is the path beneath the cache's directory name; where no file matches
// pattern, the pattern's own.
func cached(name, pattern string) (string, error) {
	dir, err := cache()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name, "package", pattern)
	if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
		return found[0], nil
	}
	return path, nil
}

// cache follows the same rule as .ci/agents.
func cache() (string, error) {
	if dir := os.Getenv("RELAY_CACHE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "relay-pty"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	return filepath.Join(home, ".cache", "relay-pty"), nil
}

// platform is this machine's name in npm packages.
func platform() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}
