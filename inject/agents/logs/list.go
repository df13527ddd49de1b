package logs

import (
	claude "relay-pty/inject/agents/claude/log"
	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	opencode "relay-pty/inject/agents/opencode/log"
	qwen "relay-pty/inject/agents/qwen/log"
	"relay-pty/parser/transcript"
)

// all is written by `go test ./inject/agents -run Lists -update`, from the directories.
var all = []transcript.Format{claude.Format, codex.Format, gemini.Format, opencode.Format, qwen.Format}
