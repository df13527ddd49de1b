// Package claude runs the real Claude Code offline: the pinned binary from
// our own cache, in a fresh home, against a model API on loopback. It never
// looks at a claude on PATH nor at the user's own settings.
package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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

// Prepare makes a fresh home below dir, which must exist, with onboarding
// done, the working directory trusted and the API at baseURL. It returns the
// whole environment of Claude, in which nothing of ours stays but PATH, and
// its working directory, a git repository with one commit.
func Prepare(dir, baseURL string) (env []string, cwd string, err error) {
	// Trust is looked up by the path the kernel gives.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, "", err
	}
	home, run := filepath.Join(dir, "home"), filepath.Join(dir, "run")
	cwd = filepath.Join(dir, "work")
	for _, d := range []string{filepath.Join(home, ".claude"), run, cwd} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, "", err
		}
	}
	if err := settings(home, cwd); err != nil {
		return nil, "", err
	}
	env = environ(home, run, baseURL)
	return env, cwd, repository(cwd, env)
}

func settings(home, cwd string) error {
	state := map[string]any{
		"hasCompletedOnboarding": true,
		"lastOnboardingVersion":  Version,
		"theme":                  "dark",
		"numStartups":            20,
		"autoUpdates":            false,
		"customApiKeyResponses":  map[string]any{"approved": []string{"dummy"}, "rejected": []string{}},
		"hasSeenTasksHint":       true,
		"effortCalloutDismissed": true,
		"projects": map[string]any{cwd: map[string]any{
			"hasTrustDialogAccepted":        true,
			"hasCompletedProjectOnboarding": true,
			"projectOnboardingSeenCount":    5,
			"allowedTools":                  []string{},
		}},
	}
	b, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(home, ".claude.json"), b, 0o600),
		os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte("{}\n"), 0o600),
	)
}

func environ(home, run, baseURL string) []string {
	return []string{
		"HOME=" + home,
		"PATH=" + os.Getenv("PATH"),
		"XDG_RUNTIME_DIR=" + run,
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"SHELL=/bin/sh",
		"ANTHROPIC_BASE_URL=" + baseURL,
		"ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1",
		"NO_PROXY=127.0.0.1",
	}
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
