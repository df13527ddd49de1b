package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/scratch"
)

// actor is an agent on stage, and how it looks.
type actor struct {
	name  string
	title string // of the real agent
	is    string // in sentences
	why   error  // why it is not the real one; nil when it is, or was not asked for
	argv  []string
	env   []string
	cwd   string

	api    *fakemodel.Server // its model; nil: it has none
	source string            // where its markers are read
	read   func(t fakemodel.Turn) string

	prompt   string                   // what stands before a draft
	question string                   // what it asks before it touches anything
	key      string                   // the human's answer …
	keyName  string                   // … in words
	answered func(screen string) bool // the question is over
}

// part is a role: its name, the agent that plays it where it can be had, and what its model thinks.
type part struct {
	name  string
	title string // of the real agent
	agent func(version string) agentrig.Agent
	look  func(a *actor)
	think mind
}

var parts = []part{
	{"alice", "Claude Code", agentrig.Claude, func(a *actor) { a.prompt, a.key, a.keyName = "❯\u00a0", "\r", "Enter (Yes)" }, alices},
	{"bob", "Codex", func(string) agentrig.Agent { return agentrig.Codex() }, func(*actor) {}, bobs},
}

// cast prepares an actor below dir: the real agent, unless something is in its way.
func (p part) cast(ctx context.Context, o Options, dir string) (*actor, error) {
	dir = filepath.Join(dir, p.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if o.Builtin {
		return p.builtin(o, dir, nil)
	}
	a, path, err := p.find(ctx, dir)
	if err != nil {
		return p.builtin(o, dir, err)
	}
	return p.real(a, path, dir)
}

// version is a release's number in what a program says of itself.
var version = regexp.MustCompile(`\d+\.\d+\.\d+\S*`)

// find finds the real agent: the release that we know, or else what the user has.
func (p part) find(ctx context.Context, dir string) (a agentrig.Agent, path string, err error) {
	a = p.agent(agentrig.ClaudeNow)
	if path, err = a.Find(); err == nil {
		return a, path, nil
	}
	path, none := exec.LookPath(a.Profile)
	if none != nil {
		return a, "", fmt.Errorf("%w, and none in PATH", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return a, "", err
	}
	// It is asked in a home of the demo, for some write there whatever they are asked.
	env, cwd, err := scratch.Plain(dir)
	if err != nil {
		return a, "", err
	}
	ask := exec.CommandContext(ctx, path, "--version")
	ask.Env, ask.Dir = env, cwd
	out, err := ask.Output()
	number := version.FindString(string(out))
	if err != nil || number == "" {
		return a, "", fmt.Errorf("%s does not tell its version: %q, %w", path, out, err)
	}
	a = p.agent(number)
	a.Version = number
	return a, path, nil
}

func (p part) real(a agentrig.Agent, path, dir string) (*actor, error) {
	api, err := a.API()
	if err != nil {
		return nil, err
	}
	api.Respond(p.respond(a))
	env, cwd, err := a.Prepare(dir, api.URL())
	if err != nil {
		api.Close() // already failing
		return nil, err
	}
	question := a.Question()
	is := &actor{
		name: p.name, title: p.title, is: "the real " + p.title + " " + a.Version, argv: append([]string{"--agent", a.Profile, "--"}, a.Argv(path)...), env: env, cwd: cwd,
		api: api, source: "log", read: a.Received, question: question,
		answered: func(screen string) bool { return !strings.Contains(screen, question) },
	}
	p.look(is)
	return is, nil
}

// respond makes a fake model of what an agent thinks.
func (p part) respond(a agentrig.Agent) fakemodel.Responder {
	return func(t fakemodel.Turn) fakemodel.Reply {
		text := a.Received(t)
		if text == "" && len(t.Results) > 0 {
			return fakemodel.Say(done)
		}
		says, acts := p.think(text)
		if acts {
			return fakemodel.Bash("touch tidy")
		}
		return fakemodel.Say(says)
	}
}

func (p part) builtin(o Options, dir string, why error) (*actor, error) {
	env, cwd, err := scratch.Plain(dir)
	if err != nil {
		return nil, err
	}
	return &actor{
		name: p.name, title: p.title, is: "a small built-in agent", why: why, argv: []string{"--", o.Relay, "demo", "agent", p.name}, env: env, cwd: cwd,
		source: "stream", prompt: agentPrompt, question: agentQuestion, key: "y\r", keyName: "y, Enter",
		answered: func(screen string) bool { return strings.Contains(screen, done) },
	}, nil
}
