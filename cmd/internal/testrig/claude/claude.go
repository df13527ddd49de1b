// Package claude is the real Claude Code of package agentrig for the tests of
// it alone.
package claude

import "relay-pty/cmd/internal/agentrig"

// Version is the release that everything here was measured with.
const Version = "2.1.329"

func agent() agentrig.Agent { return agentrig.Claude(Version) }

// Argv starts the interactive Claude at path with its usual permissions.
func Argv(path string) []string { return agent().Argv(path) }

// Find returns the path of the binary; see agentrig.Agent.Find.
func Find() (string, error) { return agent().Find() }

// Prepare makes a fresh home; see agentrig.Agent.Prepare.
func Prepare(dir, baseURL string) (env []string, cwd string, err error) {
	return agent().Prepare(dir, baseURL)
}
