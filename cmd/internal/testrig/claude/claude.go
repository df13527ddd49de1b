// Package claude runs the real Claude Code offline: the pinned binary from
// our own cache, in a fresh home, against a model API on loopback. It never
// looks at a claude on PATH nor at the user's own settings.
package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"relay-pty/cmd/relay-pty/check/scratch"
)

// Version is the release that everything here was measured with. The script
// .ci/agents fetches the same one; a test holds the two together.
const Version = "2.1.329"

// Argv starts the interactive Claude at path with its usual permissions.
func Argv(path string) []string { return []string{path, "--permission-mode", "default"} }

// Package is the npm package of this machine's native binary.
func Package() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return "claude-code-" + runtime.GOOS + "-" + arch
}

// Find returns the path of the binary: $RELAY_CLAUDE, else the one that
// .ci/agents put into the cache, below $RELAY_CACHE, $XDG_CACHE_HOME/relay-pty
// or ~/.cache/relay-pty.
func Find() (string, error) {
	if os.Getenv("RELAY_E2E") == "off" {
		return "", errors.New("real agents are off (RELAY_E2E=off)")
	}
	if path := os.Getenv("RELAY_CLAUDE"); path != "" {
		return path, executable(path, "$RELAY_CLAUDE")
	}
	dir, err := cache()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, Package()+"-"+Version, "package", "claude")
	return path, executable(path, "get it with `make agents`")
}

func executable(path, hint string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("no Claude Code %s: %w (%s)", Version, err, hint)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("no Claude Code %s: %s is not executable (%s)", Version, path, hint)
	}
	return nil
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

// Prepare makes a fresh home as scratch.Claude does and makes the working
// directory a git repository with one commit.
func Prepare(dir, baseURL string) (env []string, cwd string, err error) {
	if env, cwd, err = scratch.Claude(dir, baseURL, Version); err != nil {
		return nil, "", err
	}
	return env, cwd, repository(cwd, env)
}

func repository(cwd string, env []string) error {
	for _, args := range []string{
		"init --quiet",
		"-c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message=start",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir, cmd.Env = cwd, append(env, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args, err, out)
		}
	}
	return nil
}

// Install runs the script at root/.ci/agents, root being the checkout, which
// fetches the binary into the cache unless it is there, and returns its path.
func Install(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(root, ".ci", "agents"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install Claude Code %s: %w: %s", Version, err, out)
	}
	return Find()
}
