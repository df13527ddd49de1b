package transcript

import (
	"fmt"
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

// TestTurnInAnyOrder: whatever order the rows of a turn are written in, an agent at rest has told
// its answer once, and what the next turn tells is its own.
func TestTurnInAnyOrder(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	at := func(second int, kind Kind, text string) Entry {
		return Entry{Kind: kind, Text: text, Time: began.Add(time.Duration(second) * time.Second), Opens: kind == User}
	}
	const one, two = "[relay m1 from ci] how many?\n[end m1 · reply: …]", "[relay m2 from ci] and now?\n[end m2 · reply: …]"
	rows := []Entry{at(1, User, one), at(3, Assistant, "Two."), at(4, TurnEnd, "")}
	wrote := []Entry{at(1, User, "ask bob"), at(3, Assistant, "->relay:bob how many?"), at(4, TurnEnd, "")}
	silent := []Entry{at(1, User, one), at(3, Assistant, ""), at(4, TurnEnd, "")}
	queued := at(2, User, two) // as old as its keys; what answers it is not
	queued.Opens = false
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for name, c := range map[string]struct {
			first []Entry
			then  Entry
			want  []string
		}{
			"a message, then another":             {rows, at(5, User, two), []string{"[m1] Two.", "[m2] Four."}},
			"a message, then one from the queue":  {rows, queued, []string{"[m1] Two.", "[m2] Four."}},
			"what wrote a message, then another":  {wrote, at(5, User, two), []string{"[m2] Four."}},
			"no answer, then what a human asks":   {silent, at(5, User, "and now?"), nil},
			"what wrote one, then from the queue": {wrote, queued, []string{"[m2] Four."}},
		} {
			var turn Turn
			var told []string
			tell := func(ids []string, words string) {
				if len(ids) > 0 {
					told = append(told, fmt.Sprint(ids, " ", words))
				}
			}
			take := func(e Entry) {
				if turn.Take(e); e.Kind == TurnEnd {
					tell(turn.End())
				}
			}
			for _, i := range order {
				take(c.first[i])
			}
			tell(turn.EndLate())
			take(c.then)
			tell(turn.EndLate()) // it rests, and has not begun yet
			take(at(6, Assistant, "Four."))
			tell(turn.EndLate()) // the end is not written yet
			take(at(7, TurnEnd, ""))
			tell(turn.EndLate())
			if !slices.Equal(told, c.want) {
				t.Errorf("%s, in the order %v: told %q, want %q", name, order, told, c.want)
			}
		}
	}
}
