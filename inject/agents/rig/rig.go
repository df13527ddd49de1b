// Package rig starts a real agent for tests and the demo: a pinned release from our own cache, in a
// fresh home, offline, against a model API on loopback. It never looks at what is on PATH, Node
// apart, nor at the user's own settings. What one agent needs is data of inject/agents/NAME/rig.
package rig

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Agent is one release of one agent.
type Agent struct {
	Profile string // the wrapper's name for its kind
	Pin

	Variable string                   // environment variable with a program to be taken instead
	Node     bool                     // the program is a script for Node
	Wire     string                   // the model API that it speaks, by the fake's name
	Settle   Change                   // writes the settings
	Unwrap   func(text string) string // takes off what the agent itself adds to a user's text; nil: nothing

	Args     []string                    // with which it runs interactively, with its usual permissions
	Startups []Startup                   // with which it can be made to begin
	Idle     string                      // what it shows, in part, when it waits for a prompt that nobody has begun
	Question string                      // what it shows, in part, when TOUCH made it ask for permission
	Ask      string                      // the tool by which its model asks the user to choose; "": none that is known
	Composes bool                        // it makes one character of a letter and its accent (NFC)
	Longest  int                         // bytes of a line: a longer one hangs it, as its page says; 0: none does
	Looks    []Look                      // in which it draws otherwise
	Vim      Change                      // its vim mode, in which it begins in INSERT; nil: it has none
	Tools    func(argv ...string) Change // an MCP server, which it starts with argv
	Hasty    Change                      // it soon gives up what its API refuses, or does not answer; nil: it has no such settings
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

// Name is the agent's kind and version, as "codex-0.169.0".
func (a Agent) Name() string { return a.Profile + "-" + a.Version }

// Find returns the path of the program: what the agent's variable says, else
// what .ci/agents put into the cache, below $RELAY_CACHE,
// $XDG_CACHE_HOME/relay-pty or ~/.cache/relay-pty.
func (a Agent) Find() (string, error) {
	if a.Node {
		if _, err := exec.LookPath("node"); err != nil {
			return "", err
		}
	}
	if path := os.Getenv(a.Variable); path != "" {
		return path, a.check(path, "$"+a.Variable)
	}
	path, err := Cached(a.Pin)
	if err != nil {
		return "", err
	}
	return path, a.check(path, "get it with `make agents`")
}

func (a Agent) check(path, hint string) error {
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || !a.Node && info.Mode()&0o111 == 0) {
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
	if a.Node {
		argv = append([]string{"node"}, argv...)
	}
	return argv
}

// Prepare makes a fresh home for the agent below dir, which must exist: with
// nothing to ask at the start and its model API at baseURL. It returns the
// agent's whole environment and its working directory, a git repository with one
// commit. Each of changes is made before the agent's first start.
func (a Agent) Prepare(dir, baseURL string, changes ...Change) (env []string, cwd string, err error) {
	if env, cwd, err = Plain(dir); err != nil {
		return nil, "", err
	}
	h := Home{filepath.Join(filepath.Dir(cwd), "home"), cwd, baseURL}
	if err := h.repository(env); err != nil {
		return nil, "", err
	}
	env = append(env, "NO_PROXY=127.0.0.1")
	for _, change := range append([]Change{a.Settle}, changes...) {
		if env, err = change(h, env); err != nil {
			return nil, "", err
		}
	}
	return env, cwd, nil
}

// Cache is where .ci/agents keeps the packages, which has the same rule for it.
func Cache() (string, error) {
	if dir := os.Getenv("RELAY_CACHE"); dir != "" {
		return dir, nil
	}
	caches := os.Getenv("XDG_CACHE_HOME")
	if caches == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the cache: %w", err)
		}
		caches = filepath.Join(home, ".cache")
	}
	return filepath.Join(caches, "relay-pty"), nil
}

// Cached is the path of what a pinned package runs, in the cache; where no file matches, the
// pattern's own.
func Cached(p Pin) (string, error) {
	dir, err := Cache()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, p.Place(), "package", p.Runs)
	if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
		return found[0], nil
	}
	return path, nil
}

// Pin is an npm package that .ci/agents fetches, one row of a file pins.json. PLATFORM stands for
// the machine's name in npm packages.
type Pin struct {
	Directory string            // in the cache, without the version
	Version   string            // of the package
	Package   string            // as npm is asked for it
	Runs      string            // pattern of the path of what runs, in the package
	Spare     string            // pattern of what is not needed
	SHA512    map[string]string // of the package's archive, by platform, or any
}

// Pins reads a file pins.json. The shell reads it by rows: each stands on one line.
func Pins(text []byte) (pins []Pin) {
	if err := json.Unmarshal(text, &pins); err != nil {
		panic(err) // it is built in
	}
	return pins
}

// Place is the package's directory in the cache.
func (p Pin) Place() string {
	return strings.ReplaceAll(p.Directory, "PLATFORM", platform()) + "-" + p.Version
}

// platform is this machine's name in npm packages.
func platform() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}
