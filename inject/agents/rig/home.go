package rig

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Home is where an agent lives for one test.
type Home struct {
	Path string // $HOME
	CWD  string
	Base string // URL of the model API
}

// Object is a JSON object of settings.
type Object = map[string]any

// Change alters a home that Prepare made, or the environment.
type Change func(h Home, env []string) ([]string, error)

// Plain makes a fresh home for any program below dir, which must exist. It returns the program's
// whole environment, in which nothing of ours stays but PATH, and its working directory.
//
// All of it is below dir: what agents leave in the system's temporary directory they share with
// all others, and some leave libraries of 14 MB. The names are short, as agents put sockets there,
// whose paths may have 107 bytes.
func Plain(dir string) (env []string, cwd string, err error) {
	dir, err = filepath.EvalSymlinks(dir) // trust is looked up by the path the kernel gives
	if err != nil {
		return nil, "", err
	}
	env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
	for name, variable := range map[string]string{"home": "HOME", "run": "XDG_RUNTIME_DIR", "t": "TMPDIR", "work": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, "", err
		}
		if variable != "" {
			env = append(env, variable+"="+path)
		}
	}
	return env, filepath.Join(dir, "work"), nil
}

// Write makes a file beneath the home: text as it is, anything else as JSON.
func (h Home) Write(name string, content any) error {
	text, ok := content.(string)
	if !ok {
		b, err := json.Marshal(content)
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	}
	path := filepath.Join(h.Path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// Edits rewrites a JSON file beneath the home.
func Edits(name string, change func(Object)) Change {
	return func(h Home, env []string) ([]string, error) {
		b, err := os.ReadFile(filepath.Join(h.Path, name))
		if err != nil {
			return nil, err
		}
		var v Object
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, err
		}
		change(v)
		return env, h.Write(name, v)
	}
}

// Stdio lists the MCP server that argv starts in a file, as several agents have it.
func Stdio(name string) func(argv ...string) Change {
	return func(argv ...string) Change {
		return Edits(name, func(v Object) { v["mcpServers"] = Object{"rig": Object{"command": argv[0], "args": argv[1:]}} })
	}
}

// repository makes the working directory a git repository with one commit.
func (h Home) repository(env []string) error {
	cmd := exec.Command("/bin/sh", "-c", "git init --quiet && git -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message=start")
	cmd.Dir, cmd.Env = h.CWD, append(env, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
