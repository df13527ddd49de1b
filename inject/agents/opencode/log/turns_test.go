package log

import (
	"fmt"
	"strings"
	"testing"
)

// TestTurnsOfTwoAtOnce: opencode run, started by a tool of a session, goes on in that session. What
// both say is told apart by the prompts that they answer.
func TestTurnsOfTwoAtOnce(t *testing.T) {
	o := newEvents(epoch)
	var got []string
	step := func(kind, data string) {
		t.Helper()
		entries, err := o.row(kind, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			typed := map[bool]string{true: "typed "}[e.Typed]
			got = append(got, strings.TrimSpace(typed+e.Text+" "+e.Turn))
		}
	}
	message := func(id, more string) {
		step("message.updated.1", fmt.Sprintf(`{"info":{"id":%q,"sessionID":"s",%s}}`, id, more))
	}
	text := func(of, what string) {
		const part = `{"part":{"id":"p%s","sessionID":"s","messageID":%q,"type":"text","text":%q,"time":{"end":1}},"time":1}`
		step("message.part.updated.1", fmt.Sprintf(part, what, of, what))
	}
	message("m1", `"role":"user"`)
	text("m1", "one")
	message("m2", `"role":"assistant","parentID":"m1"`)
	text("m2", "I run it")
	message("m3", `"role":"user"`)
	text("m3", "two")
	message("m4", `"role":"assistant","parentID":"m3"`)
	text("m4", "the other")
	message("m4", `"role":"assistant","parentID":"m3","finish":"stop","time":{"completed":2}`)
	message("m2", `"role":"assistant","parentID":"m1","finish":"tool-calls","time":{"completed":3}`)
	message("m5", `"role":"assistant","parentID":"m1"`)
	text("m5", "it is done")
	message("m5", `"role":"assistant","parentID":"m1","finish":"stop","time":{"completed":4}`)
	want := "typed one m1, typed two m3, the other m3, m3, I run it m1, it is done m1, m1"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}
