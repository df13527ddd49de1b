package agents

import (
	"relay-pty/inject/agents/claude"
	"relay-pty/inject/agents/codex"
	"relay-pty/inject/agents/gemini"
	"relay-pty/inject/agents/generic"
	"relay-pty/inject/agents/opencode"
	"relay-pty/inject/agents/qwen"
	"relay-pty/inject/agents/shells"
	"relay-pty/inject/profile"
)

// all is written by `go test ./inject/agents -run Lists -update`, from the directories.
var all = []*profile.Profile{&claude.Profile, &codex.Profile, &gemini.Profile, &opencode.Profile, &qwen.Profile, &shells.Profile, &generic.Profile}
