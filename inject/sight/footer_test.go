package sight

import "testing"

// TestTheUpperOfTwoFootersTellsTheMode: below it may stand what is left over from one before.
func TestTheUpperOfTwoFootersTellsTheMode(t *testing.T) {
	const insert, normal = "\n\n workspace (/directory)\n [INSERT]  ~/work   Auto", "\n\n workspace (/directory)\n [NORMAL]  ~/work   Auto"
	const lowest = "\n\n [INSERT]  ~/work   Auto"
	for _, c := range []struct {
		name, footers string
		inserts       bool
	}{
		{"INSERT", insert, true},
		{"NORMAL", normal, false},
		{"INSERT, NORMAL before", insert + normal, true},
		{"NORMAL, INSERT before", normal + insert, false},
		{"NORMAL, the last row of INSERT before", normal + lowest, false},
		{"NORMAL, the last row of INSERT before right below", normal + "\n [INSERT]  ~/work   Auto", false},
	} {
		v := Look(gemini, painted(" > one\n   two@"+c.footers))
		if want := (Box{Visible: true, Top: true, Text: "one\ntwo"}); v.Box != want || v.Inserts != c.inserts || v.Commands == c.inserts {
			t.Errorf("%s: got %+v, INSERT %v, NORMAL %v", c.name, v.Box, v.Inserts, v.Commands)
		}
	}
}
