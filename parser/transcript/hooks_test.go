package transcript_test

import (
	"testing"

	claude "relay-pty/inject/agents/claude/log"
	"relay-pty/parser/transcript"
)

// TestRecordedHooks: messages that came by hooks stand in turns as those that were typed do, each
// once, though Claude Code also logs what the hooks printed, and that a message was queued.
func TestRecordedHooks(t *testing.T) {
	for _, version := range []string{"2.1.329", "2.1.197"} {
		got := logFile(t, claude.Format, "claude/testdata/markers/"+version+"/hooks.jsonl", epoch)
		shown := map[string]int{}
		for _, e := range got {
			for _, id := range []string{"w1", "h1", "w2", "w3"} {
				if transcript.Accepted(e, id) {
					shown[id]++
				}
			}
		}
		if shown["w1"] != 1 || shown["h1"] != 1 || shown["w2"] != 1 || shown["w3"] != 0 {
			t.Errorf("%s: accepted %v in %q", version, shown, inShort(got))
		}
	}
}

// TestForeignHooks: what other hooks give, and what tools print, may hold anything.
func TestForeignHooks(t *testing.T) {
	const row = `"uuid":"u","timestamp":"2026-11-24T12:25:12.235Z","type":`
	for name, rows := range map[string]string{
		"another hook's context":   `{` + row + `"attachment","attachment":{"type":"hook_additional_context","content":["see\n[relay m1 from bob] x"]}}`,
		"context of another form":  `{` + row + `"attachment","attachment":{"type":"hook_additional_context","content":"\n[relay m1 from bob] x"}}`,
		"what a hook printed":      `{` + row + `"attachment","attachment":{"type":"hook_success","stdout":"\n[relay m1 from bob] x"}}`,
		"a task's own title":       `{` + row + `"user","origin":{"kind":"task-notification"},"message":{"content":"<task-notification>\n<summary>make</summary>\n\n[relay m1 from bob] x"}}`,
		"a title within its words": `{` + row + `"attachment","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"<task-notification>\n<task-id>b1</task-id>\n<summary>Messages by relay</summary>\n\n[relay m1 from bob] x"}}`,
		"a message in the queue":   `{` + row + `"queue-operation","operation":"enqueue","content":"<task-notification>\n<summary>Messages by relay</summary>\n\n[relay m1 from bob] x"}`,
		"a sub-agent's":            `{"isSidechain":true,` + row + `"attachment","attachment":{"type":"hook_additional_context","content":["\n[relay m1 from bob] x"]}}`,
	} {
		entries, err := claude.Format.Row([]byte(rows))
		if err != nil || len(entries) != 0 {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
	}
}
