package agentrig

import (
	claude "relay-pty/inject/agents/claude/rig"
	codex "relay-pty/inject/agents/codex/rig"
	gemini "relay-pty/inject/agents/gemini/rig"
	opencode "relay-pty/inject/agents/opencode/rig"
	qwen "relay-pty/inject/agents/qwen/rig"
	"relay-pty/inject/agents/rig"
)

// rigs is written by `go test ./inject/agents -run Lists -update`, from the directories.
var rigs = []func() []rig.Agent{claude.All, codex.All, gemini.All, opencode.All, qwen.All}
