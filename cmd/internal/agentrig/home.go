package agentrig

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"relay-pty/cmd/internal/scratch"
)

// home is where an agent lives for one test.
type home struct {
	dir     string // as given to Prepare
	path    string // $HOME
	cwd     string
	baseURL string
}

type obj = map[string]any

// Change alters a home that Prepare made, or the environment.
type Change func(h home, env []string) ([]string, error)

func newHome(dir, baseURL string) (home, []string, error) {
	env, cwd, err := scratch.Plain(dir)
	if err != nil {
		return home{}, nil, err
	}
	h := home{dir: dir, path: filepath.Join(filepath.Dir(cwd), "home"), cwd: cwd, baseURL: baseURL}
	return h, append(env, "NO_PROXY=127.0.0.1"), nil
}

// write makes a file beneath the home: text as it is, anything else as JSON.
func (h home) write(name string, content any) error {
	text, ok := content.(string)
	if !ok {
		b, err := json.Marshal(content)
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	}
	path := filepath.Join(h.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// edits rewrites a JSON file beneath the home.
func edits(name string, change func(obj)) Change {
	return func(h home, env []string) ([]string, error) {
		b, err := os.ReadFile(filepath.Join(h.path, name))
		if err != nil {
			return nil, err
		}
		var v obj
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, err
		}
		change(v)
		return env, h.write(name, v)
	}
}

// stdio lists the MCP server that argv starts, as Claude Code and Gemini CLI write it.
func stdio(argv []string) obj { return obj{"rig": obj{"command": argv[0], "args": argv[1:]}} }

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
