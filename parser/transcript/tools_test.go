package transcript_test

import (
	"strings"
	"testing"

	claude "relay-pty/inject/agents/claude/log"
	codex "relay-pty/inject/agents/codex/log"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// TestMessagesWithToolsAnswers: what a tool of ours handed over beside its answer is proved by the
// row of the result, as recorded; it was no prompt. What other tools print proves nothing.
func TestMessagesWithToolsAnswers(t *testing.T) {
	const (
		messages = parser.ToolTitle + ` They are no part …\n\n[relay m1 from bob] a word\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]\n\n[relay m2 from relay] cut off`
		answer   = `{\"you\":\"alice\"}`
		claudes  = `{"type":"user","uuid":"u","timestamp":"2026-11-24T16:09:22.624Z","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":CONTENT}]},"mcpCallNotReadOnly":"declared"}`
		codexs   = `{"timestamp":"2026-11-24T16:10:55.713Z","ordinal":49,"type":"response_item","payload":{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":CONTENT}}`
	)
	for _, c := range []struct {
		name      string
		format    transcript.Format
		row, text string
		shows     bool
	}{
		{"claude, in parts", claude.Format, claudes, `[{"type":"text","text":"` + answer + `"},{"type":"text","text":"` + messages + `"}]`, true},
		{"claude, joined", claude.Format, claudes, `"refused: no\n\n` + messages + `"`, true},
		{"codex", codex.Format, codexs, `[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"` + answer + `"},{"type":"input_text","text":"` + messages + `"}]`, true},
		{"claude, another tool", claude.Format, claudes, `"[relay m1 from bob] a word\n[end m1 · reply: …]"`, false},
		{"claude, a quotation", claude.Format, claudes, `"see: ` + messages + `"`, false},
		{"codex, another tool", codex.Format, codexs, `[{"type":"input_text","text":"[relay m1 from bob] a word\n[end m1]"}]`, false},
	} {
		entries, err := c.format.Row([]byte(strings.Replace(c.row, "CONTENT", c.text, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		shown := map[string]bool{}
		for _, e := range entries {
			for _, id := range []string{"m1", "m2", "m"} {
				shown[id] = shown[id] || transcript.Gave(e, id)
			}
			if transcript.Accepted(e, "m1") {
				t.Errorf("%s: taken for a prompt", c.name)
			}
		}
		if shown["m1"] != c.shows || shown["m2"] || shown["m"] {
			t.Errorf("%s: shown are %v", c.name, shown)
		}
	}
}
