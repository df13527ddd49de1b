package log

import (
	"fmt"
	"strings"
	"testing"
)

// TestTurnGoesOnBehindItsTool: a tool of a turn runs gemini --resume in the chat of its own
// session. The row that called the tool is written again with its result, and the turn goes on.
func TestTurnGoesOnBehindItsTool(t *testing.T) {
	read := rows()
	var got []string
	for _, r := range []struct{ id, kind, is string }{
		{"1", "user", `"content":[{"text":"one"}]`},
		{"2", "gemini", `"content":"I run it."`},
		{"3", "user", `"content":[{"text":"two"}]`},
		{"4", "gemini", `"content":"the other"`},
		{"2", "gemini", `"content":"I run it.","toolCalls":[{"id":"x"}]`},
		{"5", "user", `"content":[{"functionResponse":{"id":"x"}}]`},
		{"6", "gemini", `"content":"it is done"`},
	} {
		entries, err := read(fmt.Appendf(nil, `{"id":"%s","timestamp":"2026-11-28T22:00:28.379Z","type":"%s",%s}`, r.id, r.kind, r.is))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got = append(got, e.Text+" "+e.Turn)
			if e.Typed != (r.kind == "user") {
				t.Errorf("%q is typed: %v", e.Text, e.Typed)
			}
		}
	}
	want := "one 1, I run it. 1, two 3, the other 3, I run it. 1,  1, it is done 1" // one is the tool, which has no name here
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
}

// TestCopiedAnswersAreNone: /chat resume writes a saved conversation's answers again, as recorded
// here but for their text, and no marker in them is written now.
func TestCopiedAnswersAreNone(t *testing.T) {
	for row, want := range map[string]int{
		`"content":[{"text":"->relay:bob hi"}],"thoughts":[],"tokens":null`:                                       0,
		`"content":"->relay:bob hi","thoughts":[],"tokens":{"total":15},"model":"gemini-3.8-flash"`:               1,
		`"content":"->relay:bob hi","thoughts":[],"tokens":null,"model":"gemini-3.8-flash","toolCalls":[]`:        1,
		`"content":[{"text":"->relay:bob hi"}],"thoughts":[],"tokens":null,"model":"gemini-3.8-flash","id":"two"`: 1,
	} {
		entries, err := readRow([]byte(`{"id":"one","timestamp":"2026-11-29T08:00:00.000Z","type":"gemini",` + row + `}`))
		if err != nil || len(entries) != want {
			t.Errorf("%s: %d entries, %v, want %d", row, len(entries), err, want)
		}
	}
}
