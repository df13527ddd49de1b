// Package scratch prepares a home in which an agent runs offline, against a
// model API on loopback, without a look at the user's own settings.
package scratch

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Claude makes a fresh home for Claude Code below dir, which must exist: with
// onboarding done, the working directory trusted, nothing left to update and the
// API at baseURL. version is what Claude calls itself. It returns Claude's whole
// environment, in which nothing of ours stays but PATH, and its working
// directory, which is empty.
func Claude(dir, baseURL, version string) (env []string, cwd string, err error) {
	home, env, cwd, err := directories(dir)
	if err != nil {
		return nil, "", err
	}
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
		return nil, "", err
	}
	if err := claudeSettings(home, cwd, version); err != nil {
		return nil, "", err
	}
	env = append(env,
		"ANTHROPIC_BASE_URL="+baseURL,
		"ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_TMPDIR="+temporary(dir), // it does not heed TMPDIR
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1",
		"NO_PROXY=127.0.0.1",
	)
	return env, cwd, nil
}

// Plain makes a fresh home for any program.
func Plain(dir string) (env []string, cwd string, err error) {
	_, env, cwd, err = directories(dir)
	return env, cwd, err
}

// directories makes what an agent lives in, below dir alone: what agents leave in the system's
// temporary directory they share with all others, and some leave libraries of 14 MB.
func directories(dir string) (home string, env []string, cwd string, err error) {
	// Trust is looked up by the path the kernel gives.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", nil, "", err
	}
	home, cwd = filepath.Join(dir, "home"), filepath.Join(dir, "work")
	run, tmp := filepath.Join(dir, "run"), temporary(dir)
	for _, d := range []string{home, run, cwd, tmp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", nil, "", err
		}
	}
	return home, environ(home, run, tmp), cwd, nil
}

// temporary is the agent's own directory for temporary files; short, as agents put sockets
// there, whose paths may have 107 bytes.
func temporary(dir string) string { return filepath.Join(dir, "t") }

func environ(home, run, tmp string) []string {
	return []string{
		"HOME=" + home,
		"PATH=" + os.Getenv("PATH"),
		"XDG_RUNTIME_DIR=" + run,
		"TMPDIR=" + tmp,
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"SHELL=/bin/sh",
	}
}

func claudeSettings(home, cwd, version string) error {
	v, err := json.Marshal(version)
	if err != nil {
		return err
	}
	dir, err := json.Marshal(cwd)
	if err != nil {
		return err
	}
	state := `{"hasCompletedOnboarding":true,"lastOnboardingVersion":` + string(v) + `,"theme":"dark","numStartups":20,"autoUpdates":false,` +
		`"customApiKeyResponses":{"approved":["dummy"],"rejected":[]},"hasSeenTasksHint":true,"effortCalloutDismissed":true,` +
		`"projects":{` + string(dir) + `:{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true,"projectOnboardingSeenCount":5,"allowedTools":[]}}}`
	return errors.Join(
		os.WriteFile(filepath.Join(home, ".claude.json"), []byte(state), 0o600),
		os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte("{}\n"), 0o600),
	)
}
