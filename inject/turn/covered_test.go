package turn

import (
	"strings"
	"testing"
)

// TestStandsWhereRowsRanOver: what a row too long for the terminal covers of our text in the next
// row does not hide that a message stands there; nothing else may be missing.
func TestStandsWhereRowsRanOver(t *testing.T) {
	m := Turn{{ID: "m1", Header: "[relay m1 from bob]", Body: "\u0dc3\u0dd2\u0d82 abcdefgh ijklmnopqrstuvwxyz0123456789", Footer: "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"}}
	const body, footer = "[relay m1 from bob] \u0dc3\u0dd2\u0d82 abcdefgh ijklmnopqrstuvwxyz0123456789\n", "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"
	for _, c := range []struct {
		name, shown string
		want        bool
	}{
		{"nothing", body + "\u0dc3\ufffd" + footer, true},
		{"the footer's first character", body + "\u0dc3\ufffdend m1 · reply:\u0d82->relay:bob [re=m1] <<<…>>>]", true},
		{"a part of the body", "[relay m1 from bob] \u0dc3\u0dd2\u0d82 abcdefgh\n\u0dc3\ufffdopqrstuvwxyz0123456789\n" + footer, true},
		{"too much of the body", "[relay m1 from bob] \u0dc3\u0dd2\u0d82 abcdefgh\n\u0dc3\ufffd56789\n" + footer, false},
		{"two parts", "[relay m1 from bob] \u0dc3\u0dd2\u0d82 abcdefgh\n\u0dc3\ufffdlmnopqrstuvwxyz0123456789\n\u0dc3\ufffdend m1 · reply: ->relay:bob [re=m1] <<<…>>>]", true},
		{"another id", body + "\u0dc3\ufffdend m2 · reply: ->relay:bob [re=m2] <<<…>>>]", false},
		{"more behind it", body + "\u0dc3\ufffdend m1 · reply: ->relay:bob [re=m1] <<<…>>>] x", false},
		{"missing elsewhere", body + "end m1 · reply: ->relay:bob [re=m1] <<<…>>>]\u0dc3\ufffd", false},
		{"a part with too little behind it", body + "[end m1 · reply: ->relay:bob [re=m1] <<<\n\u0dc3\ufffd>]", false},
		{"the end of it", body + "[end m1 · reply: ->relay:bob [re=m1] <<<\n\u0dc3\ufffd", false},
	} {
		if got := m.Stands(c.shown, true); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	m[0].Body = "\u0dc3 abcdefgh " + strings.Repeat("0123456789", 3) + " abcdefgh XY ijklmnop"
	if shown := "[relay m1 from bob] " + strings.Replace(m[0].Body, "XY ", "\n\u0dc3\ufffd", 1) + "\n" + footer; !m.Stands(shown, true) {
		t.Error("what stands beside the gap stands elsewhere, too: false, want true")
	}
}
