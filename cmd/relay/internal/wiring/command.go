package wiring

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay-pty/cmd/relay/internal/hook"
	"relay-pty/inject/agents"
)

// Command adds our hooks and our MCP server to the command among args, which stands behind flags of
// the wrapper and a --, and to this program's environment. A command that is no session, but does
// one thing and ends, stays as it is: it might refuse them, take them for a prompt, or wait for a
// hook.
func Command(ctx context.Context, args []string) (all, env []string) {
	at := slices.Index(args, "--") + 1
	self, err := os.Executable()
	if err != nil || at == len(args) {
		return args, os.Environ() // the wrapper tells what is missing
	}
	flags := args[:at-1]
	if agents.Once(hook.Kind(flags), args[at:]...) {
		return args, os.Environ()
	}
	argv := hook.Wire(self, flags, args[at:], func(argv []string) string { return hook.Version(ctx, argv) })
	argv, env = Run{Self: self, Agent: hook.Kind(flags), Argv: argv, Env: os.Environ()}.Server()
	return slices.Concat(args[:at], argv), env
}

// Lacks says that the agent of that name gets no hooks and no server of ours, because its
// arguments cannot be reached, and the way out, on lines of their own. It is empty for an agent
// that gets them.
func Lacks(name string, args []string) string {
	at := slices.Index(args, "--") + 1
	agent := hook.Kind(args[:at-1])
	p, _, plain := agents.Kind(agent, args[at:]...)
	if plain && agent == "" && p.Rules.Reserved {
		p = agents.Mentioned(args[at:]...)
	} else if plain {
		return ""
	}
	if p == nil || p.MCP == nil || p.MCP.Setup == "" || agents.Once(agent, args[at:]...) {
		return ""
	}
	lacks := "no tools of relay"
	if p.Hooks != nil {
		lacks = "no tools and no hooks of relay"
	}
	return strings.Join([]string{
		fmt.Sprintf("relay: %s starts %s, where relay cannot add to its arguments: %s gets %s", filepath.Base(args[at]), p.Name, p.Name, lacks),
		fmt.Sprintf("relay: start it as `relay run %s -- %s …`; or for the tools alone, once: %s\n", name, p.Name, p.MCP.Setup),
	}, "\n")
}
