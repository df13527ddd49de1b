package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// shown is an end of a turn in short: its messages, how it ended, and its last words.
func shown(ends []End) (all []string) {
	for _, e := range ends {
		all = append(all, strings.TrimSpace(fmt.Sprint(e.IDs, " ", e.Outcome, " ", e.Text)))
	}
	return all
}

func TestTurn(t *testing.T) {
	asked := Entry{Kind: User, Text: "[relay m1 from ci] how many?\n[end m1 · reply: …]\n\n[relay m2 from bob · 12m old] and now?\n[end m2 · reply: …]"}
	says := func(text string) Entry { return Entry{Kind: Assistant, Text: text} }
	tool, ended := Entry{Kind: Tool, Text: "Bash"}, Entry{Kind: TurnEnd}
	refused := Entry{Kind: TurnEnd, Text: "no more today", Ending: Ending{Outcome: Refused, Reason: Limit}}
	stopped := Entry{Kind: TurnEnd, Ending: Ending{Outcome: Interrupted}}
	failed := Entry{Kind: Failed, Text: "no more today", Ending: refused.Ending}
	handed := Entry{Kind: Handed, Text: "Messages:\n[relay m3 from ci] and?\n[end m3 · reply: …]"}
	for name, c := range map[string]struct {
		entries []Entry
		want    string
	}{
		"answered in words":               {[]Entry{asked, says("I count."), says("Two."), ended}, "[m1 m2] answered Two."},
		"answered by a marker":            {[]Entry{asked, says("->relay:ci [re=m1] <<<two>>>"), says("Done."), ended}, "[m1 m2] answered"},
		"passed on":                       {[]Entry{asked, says("->relay:eve how many?"), says("I asked eve."), ended}, "[m1 m2] answered"},
		"a human's":                       {[]Entry{{Kind: User, Text: "how many?"}, says("Two."), ended}, "[] answered Two."},
		"a quoted header":                 {[]Entry{{Kind: User, Text: "what is > [relay m1 from ci]?"}, says("A header."), ended}, "[] answered A header."},
		"nothing was said":                {[]Entry{asked, ended}, "[m1 m2] silent"},
		"blanks were said":                {[]Entry{asked, says(" \n"), ended}, "[m1 m2] silent"},
		"given in the turn":               {[]Entry{{Kind: User, Text: "tidy"}, says("I do."), asked, says("Two, and done."), ended}, "[m1 m2] answered Two, and done."},
		"given in the turn, and no word":  {[]Entry{{Kind: User, Text: "tidy"}, says("I do."), asked, ended}, "[m1 m2] silent"},
		"handed over by a tool":           {[]Entry{asked, handed, says("Both."), ended}, "[m1 m2 m3] answered Both."},
		"handed over in part":             {[]Entry{asked, {Kind: Handed, Text: "[relay m3 from ci] and"}, says("Both."), ended}, "[m1 m2] answered Both."},
		"cut off":                         {[]Entry{asked, {Kind: Assistant, Text: "Tw", Cut: true}, ended}, "[m1 m2] interrupted Tw"},
		"interrupted in a tool":           {[]Entry{asked, says("Let me look."), tool, stopped}, "[m1 m2] interrupted Let me look."},
		"refused behind a tool":           {[]Entry{asked, says("Let me look."), tool, refused}, "[m1 m2] refused no more today"},
		"refused at once":                 {[]Entry{asked, refused}, "[m1 m2] refused no more today"},
		"refused, and ended once more":    {[]Entry{asked, refused, ended}, "[m1 m2] refused no more today"},
		"a request failed":                {[]Entry{asked, says("Let me look."), tool, failed, ended}, "[m1 m2] refused no more today"},
		"a request failed, and was tried": {[]Entry{asked, failed, says("Two."), ended}, "[m1 m2] answered Two."},
	} {
		var turn Turn
		var got []string
		for _, e := range c.entries {
			got = append(got, shown(turn.Take(e))...)
		}
		if got = append(got, shown(turn.Rest())...); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if ends := turn.Rest(); ends != nil {
			t.Errorf("%s: the next turn has %v", name, ends)
		}
	}
}

// TestBackgroundOfATurn: work that a turn began and left is told at its end, and the turn that is
// told of the end of that work goes on with what the first was given. Work of another turn, and
// work that is over, is none of it.
func TestBackgroundOfATurn(t *testing.T) {
	ask := func(id string) Entry { return Entry{Kind: User, Text: "[relay " + id + " from ci] build\n[end]"} }
	of := func(kind Kind, text string) Entry { return Entry{Kind: kind, Text: text} }
	end := of(TurnEnd, "")
	var turn Turn
	var got []string
	for _, e := range []Entry{
		ask("m1"), of(Began, "a"), of(Began, "b"), of(Assistant, "It runs."), end,
		ask("m2"), of(Assistant, "Yes."), end,
		of(Reported, "a"), of(Assistant, "Half."), end,
		of(Reported, "b"), of(Assistant, "All."), end,
		ask("m3"), of(Began, "c"), of(Finished, "c"), of(Assistant, "At once."), end,
		ask("m4"), of(Began, "d"), of(Assistant, "It runs."), end,
		of(Finished, "d"), ask("m5"), of(Assistant, "Mine."), end,
		of(Reported, "unknown"), of(Assistant, "What?"), end,
		of(User, "[relay m6 from ci] a\n[end]\n\n[relay m7 from bob] b\n[end]"), of(Began, "e"), of(Assistant, "A. b runs."), end,
		of(Reported, "e"), of(Assistant, "B."), end,
	} {
		for _, end := range turn.Take(e) {
			got = append(got, fmt.Sprint(end.IDs, end.Text, end.Background))
		}
	}
	want := []string{
		"[m1]It runs.true", "[m2]Yes.false", "[m1]Half.true", "[m1]All.false", "[m3]At once.false",
		"[m4]It runs.true", "[m5]Mine.false", "[]What?false",
		"[m6 m7]A. b runs.true", "[m6 m7]A. b runs.\n\nB.false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestGivenSoFar: what a marker's turn was given, and the tools that it has used by then.
func TestGivenSoFar(t *testing.T) {
	var turn Turn
	for _, e := range []Entry{{Kind: User, Text: "[relay m1 from ci] a\n[end]"}, {Kind: Tool}, {Kind: User, Text: "[relay m2 from ci] b\n[end]"}, {Kind: Tool}} {
		turn.Take(e)
	}
	if ids, tools := turn.Given(); !slices.Equal(ids, []string{"m1", "m2"}) || tools != 2 {
		t.Errorf("given %q, %d tools", ids, tools)
	}
	turn.Take(Entry{Kind: TurnEnd, Ending: Ending{Outcome: Interrupted}})
	if ids, tools := turn.Given(); len(ids) > 0 || tools != 0 {
		t.Errorf("the next turn: given %q, %d tools", ids, tools)
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
			"a message, then another":             {rows, at(5, User, two), []string{"[m1] answered Two.", "[m2] answered Four."}},
			"a message, then one from the queue":  {rows, queued, []string{"[m1] answered Two.", "[m2] answered Four."}},
			"what wrote a message, then another":  {wrote, at(5, User, two), []string{"[] answered", "[m2] answered Four."}},
			"no answer, then what a human asks":   {silent, at(5, User, "and now?"), []string{"[m1] silent", "[] answered Four."}},
			"what wrote one, then from the queue": {wrote, queued, []string{"[] answered", "[m2] answered Four."}},
			"no answer, then one from the queue":  {silent, queued, []string{"[m1] silent", "[m2] answered Four."}},
		} {
			var turn Turn
			var told []string
			tell := func(ends []End) { told = append(told, shown(ends)...) }
			for _, i := range order {
				tell(turn.Take(c.first[i]))
			}
			tell(turn.Rest())
			tell(turn.Take(c.then))
			tell(turn.Rest()) // it rests, and has not begun yet
			tell(turn.Take(at(6, Assistant, "Four.")))
			tell(turn.Rest()) // the end is not written yet
			tell(turn.Take(at(7, TurnEnd, "")))
			tell(turn.Rest())
			if !slices.Equal(told, c.want) {
				t.Errorf("%s, in the order %v: told %q, want %q", name, order, told, c.want)
			}
		}
	}
}
