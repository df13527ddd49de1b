package screen

import (
	"fmt"
	"strings"
	"testing"
)

// brief is the look in one line: the rows between bars, the cursor, then dim and
// reverse cells and the title where there are any.
func (l look) brief() string {
	lines := strings.Split(strings.TrimSuffix(l.String(), "\n"), "\n")
	last := len(l.rows)
	for last > 0 && l.rows[last-1] == "" {
		last--
	}
	out := fmt.Sprintf("%s| %d,%d", strings.Join(l.rows[:last], "|"), l.row, l.col)
	for _, line := range lines {
		if strings.HasPrefix(line, "dim") || strings.HasPrefix(line, "reverse") {
			out += " " + line
		}
	}
	if l.title != "" {
		out += fmt.Sprintf(" %q", l.title)
	}
	return out
}

// The size of the screen in cases.
const caseRows, caseCols = 5, 10

// TestCases holds the screen against built-in cases. With -update tmux gets each
// of them too and must show the same, or something else where unlike says why.
func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := New(caseRows, caseCols)
			s.Write([]byte(c.in))
			if got := lookAt(s).brief(); got != c.want {
				t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
			}
			if !*update {
				return
			}
			p := newPane(t, caseRows, caseCols)
			p.write([]byte(c.in))
			if got := p.look().brief(); (got == c.want) != (c.unlike == "") {
				t.Errorf("%q\ntmux %s\nwant %s\nunlike %q", c.in, got, c.want, c.unlike)
			}
		})
	}
}
