package entry

import (
	"slices"
	"testing"
	"time"
)

func TestTurn(t *testing.T) {
	asked := Entry{Kind: User, Text: "[relay m1 from ci] how many?\n[end m1 · reply: …]\n\n[relay m2 from bob · 12m old] and now?\n[end m2 · reply: …]"}
	says := func(text string) Entry { return Entry{Kind: Assistant, Text: text} }
	for name, c := range map[string]struct {
		entries []Entry
		ids     []string
		words   string
	}{
		"answered in words":      {[]Entry{asked, says("I count."), says("Two.")}, []string{"m1", "m2"}, "Two."},
		"answered by a marker":   {[]Entry{asked, says("->relay:ci [re=m1] <<<two>>>"), says("Done.")}, nil, ""},
		"passed on":              {[]Entry{asked, says("->relay:eve how many?"), says("I asked eve.")}, nil, ""},
		"a human's":              {[]Entry{{Kind: User, Text: "how many?"}, says("Two.")}, nil, "Two."},
		"a quoted header":        {[]Entry{{Kind: User, Text: "what is > [relay m1 from ci]?"}, says("A header.")}, nil, "A header."},
		"nothing was said":       {[]Entry{asked}, nil, ""},
		"said before the asking": {[]Entry{says("Hello."), asked}, nil, ""},
		"given in the turn":      {[]Entry{{Kind: User, Text: "tidy"}, says("I do."), asked, says("Two, and done.")}, []string{"m1", "m2"}, "Two, and done."},
		"cut off":                {[]Entry{asked, {Kind: Assistant, Text: "Tw", Cut: true}}, nil, ""},
	} {
		var turn Turn
		for _, e := range c.entries {
			turn.Take(e)
		}
		ids, words := turn.End()
		if !slices.Equal(ids, c.ids) || words != c.words {
			t.Errorf("%s: the messages %q and the words %q, want %q and %q", name, ids, words, c.ids, c.words)
		}
		if ids, words := turn.End(); ids != nil || words != "" {
			t.Errorf("%s: the next turn has %q, %q", name, ids, words)
		}
	}
}

// TestTurnWhoseEndIsToldFirst: the rows of a turn may stand behind the one that ends it; those of
// the next turn are later than that.
func TestTurnWhoseEndIsToldFirst(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	at := func(second int, kind Kind, text string) Entry {
		return Entry{Kind: kind, Text: text, Time: began.Add(time.Duration(second) * time.Second)}
	}
	const asked, answer = "[relay m1 from ci] how many?\n[end m1 · reply: …]", "Two."
	var turn Turn
	turn.Take(at(3, TurnEnd, ""))
	turn.End()
	for _, step := range []struct {
		entry Entry
		over  bool
	}{{at(1, User, asked), false}, {at(2, Assistant, answer), true}} {
		if turn.Take(step.entry); turn.Over() != step.over {
			t.Errorf("behind %q: over is %v", step.entry.Text, turn.Over())
		}
	}
	if ids, words := turn.End(); !slices.Equal(ids, []string{"m1"}) || words != answer {
		t.Errorf("got %q and %q", ids, words)
	}
	// A message that waited in the agent's queue is as old as its keys; its answer is not.
	for _, e := range []Entry{at(2, User, asked), at(5, Assistant, answer)} {
		if turn.Take(e); turn.Over() {
			t.Errorf("the next turn is over behind %q", e.Text)
		}
	}
}
