// Package logs is the list of the formats in which agents keep logs; profiles name them.
package logs

import (
	"slices"

	claude "relay-pty/inject/agents/claude/log"
	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	opencode "relay-pty/inject/agents/opencode/log"
	"relay-pty/parser/transcript"
)

var all = []transcript.Format{claude.Format, codex.Format, gemini.Format, opencode.Format}

// Named is the format of that name.
func Named(name string) (transcript.Format, bool) {
	at := slices.IndexFunc(all, func(f transcript.Format) bool { return f.Name == name })
	if at < 0 {
		return transcript.Format{}, false
	}
	return all[at], true
}
