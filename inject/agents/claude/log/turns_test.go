package log

import (
	"fmt"
	"strings"
	"testing"

	"relay-pty/parser/transcript"
)

// TestTurnsOfTwoAtOnce: rows of two processes that go on in one conversation, as 2.1.329 writes
// them, less what we do not read. Each leads to its prompt by the row before it; one of which the
// row before was not read is of no turn that is known. Prompts that nobody typed are told apart.
func TestTurnsOfTwoAtOnce(t *testing.T) {
	const prompt = `"type":"user","promptSource":"%s","message":{"role":"user","content":"%s"}`
	const said = `"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]}`
	const tool = `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"%s"}]}`
	var turns transcript.Turns
	var got []string
	for _, r := range []struct{ id, parent, is string }{
		{"1", "", fmt.Sprintf(prompt, "typed", "one")},
		{"2", "1", fmt.Sprintf(said, "first")},
		{"3", "2", fmt.Sprintf(prompt, "queued", "two")},
		{"4", "2", fmt.Sprintf(prompt, "system", "three")}, // the other one has read no more than that
		{"5", "4", fmt.Sprintf(said, "third")},
		{"6", "3", fmt.Sprintf(tool, "its result")},
		{"7", "6", fmt.Sprintf(said, "second")},
		{"8", "7", `"type":"system","subtype":"turn_duration"`},
		{"9", "unread", fmt.Sprintf(said, "whose")},
	} {
		row := fmt.Sprintf(`{"uuid":"%s","parentUuid":"%s","timestamp":"2026-11-28T19:44:02.337Z",%s}`, r.id, r.parent, r.is)
		entries, err := readRow([]byte(row), "", &turns)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			typed := map[bool]string{true: "typed "}[e.Typed]
			got = append(got, strings.TrimSpace(typed+e.Text+" "+e.Turn))
		}
	}
	want := "typed one 1, first 1, typed two 3, three 4, third 4, second 3, 3, whose"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}
