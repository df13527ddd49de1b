package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

func TestPieces(t *testing.T) {
	pasting, _ := agents.Named("claude")
	typing := *pasting
	typing.Typing.PasteAll = false
	for _, c := range []struct {
		name, body string
		p          *profile.Profile
		paste      bool
		want       []string
	}{
		{"short", "hi", &typing, true, []string{"\x1b[200~H hi\nF\x1b[201~"}},
		{"no bracketed paste", "a\nb", &typing, false, []string{"H ", "a\nb\nF"}},
		{"many lines", "a\nb\nc\nd", &typing, true, []string{"H ", "\x1b[200~a\nb\nc\nd\x1b[201~", "\nF"}},
		{"newlines at the end", "a\nb\nc\nd\n\n", &typing, true, []string{"H ", "\x1b[200~a\nb\nc\nd\x1b[201~", "\n\n\nF"}},
		{"blanks at the end", "a\nb\nc\nd ", &typing, true, []string{"H ", "\x1b[200~a\nb\nc\nd \x1b[201~", "\nF"}},
		{"nothing but newlines", "\n\n\n\n", &typing, true, []string{"H ", "\n\n\n\n\nF"}},
		{"newlines before many lines", "\n\na\nb\nc\nd", &typing, true, []string{"H ", "\n\n", "\x1b[200~a\nb\nc\nd\x1b[201~", "\nF"}},
		{"short, pasted", "hi", pasting, true, []string{"\x1b[200~H hi\nF\x1b[201~"}},
		{"many lines, pasted", "a\nb\nc\nd", pasting, true,
			[]string{"\x1b[200~H \x1b[201~", "\x1b[200~a\nb\nc\nd\x1b[201~", "\x1b[200~\nF\x1b[201~"}},
		{"newlines at the end, pasted", "a\nb\nc\nd\n\n", pasting, true,
			[]string{"\x1b[200~H \x1b[201~", "\x1b[200~a\nb\nc\nd\x1b[201~", "\x1b[200~\n\n\x1b[201~", "\x1b[200~\nF\x1b[201~"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Turn{{Header: "H", Body: c.body, Footer: "F"}}
			var got []string
			for _, piece := range m.Pieces(c.p, Manner{Paste: c.paste, Rows: 24}) {
				got = append(got, piece.Keys)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			plain := strings.NewReplacer(PasteOpen, "", PasteClose, "").Replace(strings.Join(got, ""))
			if plain != m.String() {
				t.Errorf("typed %q, want %q", plain, m.String())
			}
		})
	}
}

// Gemini CLI hides a paste of six lines and more. Nothing but a body may be hidden: the header and
// the footer are what proves that a message stands in the composer.
func TestPiecesOfGeminiHideBodiesAlone(t *testing.T) {
	p, _ := agents.Named("gemini")
	message := func(body string) Turn { return Turn{{Header: "H", Body: body, Footer: "F"}} }
	several := func(bodies ...string) (t Turn) {
		for _, b := range bodies {
			t = append(t, message(b)...)
		}
		return t
	}
	lines := func(n int) string { return strings.Repeat("a line\n", n-1) + "the last" }
	for name, m := range map[string]Turn{
		"4 lines": message(lines(4)), "5 lines": message(lines(5)), "6 lines": message(lines(6)), "12 lines": message(lines(12)),
		"empty lines within": message("a\n\n\n\nb"), "two of them": several("a\nb", "c"),
		"newlines before": message(strings.Repeat("\n", 5) + "x"), "newlines behind": message("x" + strings.Repeat("\n", 23)),
		"newlines before many lines": message(strings.Repeat("\n", 9) + lines(7)), "nothing but newlines": message(strings.Repeat("\n", 9)),
	} {
		typed := ""
		for _, piece := range m.Pieces(p, Manner{Paste: true, Rows: 24}) {
			paste := strings.TrimSuffix(strings.TrimPrefix(piece.Keys, PasteOpen), PasteClose)
			if strings.Count(paste, "\n") > 4 && paste != piece.Pasted {
				t.Errorf("%s: %q is hidden behind a mark", name, paste)
			}
			typed += paste
		}
		if typed != m.String() {
			t.Errorf("%s: typed %q, want %q", name, typed, m.String())
		}
	}
}

// No header and no footer may be hidden behind a chip, however long ids and names are, and however
// many blanks stand around them. OpenCode does not count the white space at the ends of a paste.
func TestNoPieceButABodyIsHidden(t *testing.T) {
	long := strings.Repeat("n", 128)
	message := func(body string) Message {
		return Message{Header: "[relay " + long + " from " + long + "]", Body: body, Footer: "[end " + long + " · reply: ->relay:" + long + " [re=" + long + "] <<<…>>>]"}
	}
	for _, agent := range composers() {
		p, _ := agents.Named(agent)
		for name, turn := range map[string]Turn{
			"one line": {message("x")}, "many lines": {message(strings.Repeat("a line\n", 99) + "end")}, "two": {message("x"), message("y\n\n\n\nz")},
			"newlines around": {message(strings.Repeat("\n", 40) + "x" + strings.Repeat("\n", 40))}, "a newline": {message("\n")},
			"newlines alone": {message(strings.Repeat("\n", 40))}, "blanks alone": {message(strings.Repeat(" ", 3000))},
			"blanks and newlines": {message(strings.Repeat(" \n", 1500))}, "wide blanks": {message(strings.Repeat("\u3000", 1500))},
		} {
			typed := ""
			for _, piece := range turn.Pieces(p, Manner{Paste: true, Rows: 24}) {
				text := strings.TrimSuffix(strings.TrimPrefix(piece.Keys, PasteOpen), PasteClose)
				typed += text
				counted := text
				if p.Typing.PasteTrims {
					counted = strings.TrimSpace(text)
				}
				hidden := p.Typing.Marked(counted, 24)
				if text == piece.Keys {
					hidden = len(text) > p.Typing.PasteBytes // typed: only its length makes it look like a paste
				}
				if hidden && (text != piece.Pasted || strings.TrimSpace(text) == "") {
					t.Errorf("%s, %s: %.20q…%.20q, %d bytes, is hidden", agent, name, text, text[max(0, len(text)-20):], len(text))
				}
				if !piece.Shows(typed) {
					t.Errorf("%s, %s: %.40q would not count as shown", agent, name, text)
				}
			}
			if typed != turn.String() {
				t.Errorf("%s, %s: typed %q, want %q", agent, name, typed, turn.String())
			}
		}
	}
}

// TestNoPieceEndsWhereAWordCouldBeCompleted: an agent that completes names opens a list behind
// `@name`, and nothing is typed while that is open. In a low terminal Claude Code hides the body
// with its newline behind a mark then.
func TestNoPieceEndsWhereAWordCouldBeCompleted(t *testing.T) {
	named := Message{Header: "H", Body: "see @work.txt", Footer: "F"}
	ends := named
	ends.Body += "\n\n"
	for _, agent := range composers() {
		p, _ := agents.Named(agent)
		bytes := func(n int) Message {
			return Message{Header: "H", Body: strings.Repeat("x", n-len(" @work.txt")) + " @work.txt", Footer: "F and more of it"}
		}
		long, longest := bytes(p.Typing.PasteBytes-10), bytes(p.Typing.PasteBytes)
		for _, turn := range []Turn{{named, {Header: "H", Body: strings.Repeat("a line\n", 99), Footer: "F"}}, {ends, long}, {longest}, {named}} {
			for _, rows := range []int{24, 10} {
				typed := ""
				for _, piece := range turn.Pieces(p, Manner{Paste: true, Rows: rows}) {
					text := strings.TrimSuffix(strings.TrimPrefix(piece.Keys, PasteOpen), PasteClose)
					if typed += text; strings.HasSuffix(text, "@work.txt") {
						t.Errorf("%s: a piece ends with %q", agent, text[max(0, len(text)-20):])
					}
					if !piece.Shows(typed) {
						t.Errorf("%s: %.40q would not count as shown", agent, text)
					}
				}
				if typed != turn.String() {
					t.Errorf("%s: typed %q, want %q", agent, typed, turn.String())
				}
			}
		}
	}
}

// Claude Code hides the more of a paste the lower the terminal is.
func TestPiecesInLowTerminals(t *testing.T) {
	p, _ := agents.Named("claude")
	for _, c := range []struct {
		rows  int
		body  string
		apart bool
	}{
		{24, "a\nb", false}, {12, "a\nb", false}, {11, "a\nb", true}, {11, "a", false}, {10, "a", true}, {5, "a", true},
	} {
		pieces := Turn{{Header: "H", Body: c.body, Footer: "F"}}.Pieces(p, Manner{Paste: true, Rows: c.rows})
		if apart := len(pieces) > 1; apart != c.apart {
			t.Errorf("%d rows, %q: apart %v, want %v", c.rows, c.body, apart, c.apart)
		}
	}
}

// TestNothingBetweenMessagesIsHiddenInLowTerminals, where a paste may hold no newline.
func TestNothingBetweenMessagesIsHiddenInLowTerminals(t *testing.T) {
	for _, agent := range composers() {
		p, _ := agents.Named(agent)
		turn, typed := Turn{{Header: "H", Body: "a", Footer: "F"}, {Header: "H", Body: "b", Footer: "F"}}, ""
		for _, piece := range turn.Pieces(p, Manner{Paste: true, Rows: 10, Apart: true}) {
			text := strings.TrimSuffix(strings.TrimPrefix(piece.Keys, PasteOpen), PasteClose)
			counted := text
			if p.Typing.PasteTrims {
				counted = strings.TrimSpace(text)
			}
			if typed += text; text != piece.Keys && p.Typing.Marked(counted, 10) {
				t.Errorf("%s: %q is hidden", agent, text)
			}
		}
		if typed != turn.String() {
			t.Errorf("%s: typed %q, want %q", agent, typed, turn.String())
		}
	}
}

// composers are the agents that have one.
func composers() []string {
	return slices.DeleteFunc(agents.Names(), func(name string) bool { p, _ := agents.Named(name); return p.Composer == nil })
}

// TestNothingElseStands: what would be taken for a turn of ours if one condition were missing.
func TestNothingElseStands(t *testing.T) {
	one := func(body string) Turn { return Turn{framed("m1", body)} }
	two := Turn{framed("m1", "hello"), framed("m2", "there")}
	command := Turn{{ID: "m1", Body: "[Pasted make", Command: true}}
	footer := Turn{{Footer: "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"}}
	unread := Turn{{Header: "[relay m1 from bob]", Body: "x 🇯🇵", Footer: "[end m1 · reply: relay reply m1 …]"}}
	for name, c := range map[string]struct{ got, want bool }{
		"the end, though all of it is in view":        {one("hello there").Stands("there\n[end m1]", true), false},
		"the end, with a chip":                        {one("hello there").Stands("[Pasted text #1 +9 lines]\n[end m1]", false), true},
		"a command that may be the end of another":    {command.Stands("[Pasted make", false), false},
		"a footer without its dot":                    {Turn{{Header: "[relay m1 from bob]", Body: "x", Footer: "[end m1 · r]"}}.Stands("[relay m1 from bob] x\n[end m1 r]", true), false},
		"a lost body of another script":               {one("日本").Stands("[relay m1 from bob]\n[end m1]", true), false},
		"somebody's text between two messages":        {two.Stands("[relay m1 from bob] hello\n[end m1] x\n[relay m2 from bob] there\n[end m2]", false), false},
		"another message's footer within a chip":      {two.Stands("[relay m2 from bob] [Pasted #1] [end m1]\n[end m2]", false), false},
		"a command that begins as a chip is hidden":   {command.Hidden("[Pasted make", true, "[Pasted"), false},
		"text behind one chip too many":               {one("x").Hidden("[relay m1 from bob] [Pasted #1] [Pasted #2] x", true, "[Pasted"), false},
		"an empty composer has begun":                 {one("x").Begun(" "), false},
		"the footer's end alone in a row":             {footer.EndsRow("<<<…>>>]"), true},
		"another end of a row":                        {footer.EndsRow("<<<…>>>] x"), false},
		"a command's end alone in a row":              {unread.EndsRow("ly m1 …]"), true},
		"another command's end":                       {unread.EndsRow("ly m2 …]"), false},
		"a command among strays":                      {unread.Stands("[relay m1 from bob] x 🇯🇵\n[end m1🇵·🇪reply: relay reply m1 …]", true), true},
		"text behind a command":                       {unread.Stands("[relay m1 from bob] x 🇯🇵\n[end m1🇵·🇪reply: relay reply m1 …] y", true), false},
		"a command that is left":                      {unread.Left("[end m1 · reply: relay"), true},
		"strays before a header without its paste":    {Piece{Mark: "[relay m1]", Pasted: "body"}.Shows("🇵 [relay m1]"), false},
		"strays in the place of a mark without ASCII": {Piece{Mark: "日"}.Shows("🇵 x"), false},
		"a mark without its character":                {Piece{Mark: "a·b"}.Shows("ab"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestStands(t *testing.T) {
	m := Turn{{ID: "m1", Header: "[relay m1 from bob]", Body: "hello there", Footer: "[end m1]"}}
	for _, c := range []struct {
		name, shown string
		top, want   bool
	}{
		{"whole", "[relay m1 from bob] hello there\n[end m1]", true, true},
		{"wrapped", "[relay m1 fr\nom bob] hello there [e\nnd m1]", true, true},
		{"a chip for the body", "[relay m1 from bob] [Pasted text #1 +9 lines]\n[end m1]", true, true},
		{"a chip with a number", "[relay m1 from bob] [Pasted Content 1001 chars] #2\n[end m1]", true, true},
		{"more than a chip", "[relay m1 from bob] [Pasted Content 1001 chars] #2 x\n[end m1]", true, false},
		{"scrolled: its end", "there\n[end m1]", false, true},
		{"something before it", "x [relay m1 from bob] hello there\n[end m1]", true, false},
		{"something behind it", "[relay m1 from bob] hello there\n[end m1] x", true, false},
		{"twice", "[relay m1 from bob] a\n[end m1][relay m1 from bob] a\n[end m1]", true, false},
		{"another message", "[relay m2 from bob] hello there\n[end m2]", true, false},
		{"not all of it yet", "[relay m1 from bob] hello", true, false},
		{"nothing", "", true, false},
		{"its body is lost", "[relay m1 from bob]\n[end m1]", true, false},
		{"another body", "[relay m1 from bob] hullo there\n[end m1]", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := m.Stands(c.shown, c.top); got != c.want {
				t.Errorf("stands %v, want %v", got, c.want)
			}
		})
	}
}

// TestLeft: what is left of a message is known by its header and by its footer, also where the
// agent has put something else in the place of the footer's end.
func TestLeft(t *testing.T) {
	m := Turn{{ID: "m1", Header: "[relay m1 from bob]", Body: "see @work.txt", Footer: "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"}}
	for shown, want := range map[string]bool{
		"[relay m1 from bob] see":                                true,
		"rk.txt\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]":  true,
		"rk.txt\n[end m1 · reply: ->relay:bob [re=m1] <…work.tx": true,
		"[end m1": false,
		"[end m12 · reply: ->relay:bob [re=m12]": false,
		"half a draft": false,
		"":             false,
	} {
		if got := m.Left(shown); got != want {
			t.Errorf("%q: %v, want %v", shown, got, want)
		}
	}
	if run := (Turn{{ID: "m1", Body: "make", Footer: "F · f", Command: true}}); !run.Left("make it") || run.Left("F · f") {
		t.Error("of a command its own text alone is left")
	}
}

func TestHidden(t *testing.T) {
	m := Turn{framed("m1", "hello"), framed("m2", "there")}
	for _, c := range []struct {
		name, shown string
		top, want   bool
	}{
		{"all of it", "[Pasted text #1 +5 lines]", true, true},
		{"nothing", "[relay m1 from bob] hello\n[end m1]", true, false},
		{"a body", "[relay m1 from bob] [Pasted text #1 +5 lines]", true, false},
		{"a footer", "[relay m1 from bob] [Pasted #1]\n[end m1]\n\n[relay m2 from bob] [Pasted #2] [Pasted #3]", true, true},
		{"a body, the rest is out of view", "[Pasted text #1 +5 lines]", false, false},
		{"another text", "look at this", true, false},
		{"an empty composer", "", true, false},
	} {
		if got := m.Hidden(c.shown, c.top, "[Pasted"); got != c.want {
			t.Errorf("%s: hidden %v, want %v", c.name, got, c.want)
		}
	}
	quotes := Turn{framed("m1", "[Pasted a] and [Pasted b]")}
	if quotes.Hidden("[relay m1 from bob] [Pasted a] and [Pasted b]", true, "[Pasted") {
		t.Error("a body that quotes chips is hidden")
	}
	if m.Hidden("[Pasted text #1 +5 lines]", true, "") {
		t.Error("an agent without chips hides something")
	}
}

func framed(id, body string) Message {
	return Message{ID: id, Header: "[relay " + id + " from bob]", Body: body, Footer: "[end " + id + "]"}
}

func TestStandsInOrder(t *testing.T) {
	two := Turn{
		{ID: "m1", Header: "[relay m1 from bob]", Body: "hello", Footer: "[end m1]"},
		{ID: "m2", Header: "[relay m2 from bob]", Body: "there", Footer: "[end m2]"},
	}
	for shown, want := range map[string]bool{
		"lo\n[end m1]\n\n[relay m2 from bob] there\n[end m2]": true,
		"from bob] there\n[end m2]":                           true,
		"there\n[end m2]\n[end m1]":                           false,
		"[relay m2 from bob] there\n[end m1]\n[end m2]":       false,
		"[end m1]\n[end m1]\n[relay m2 from bob] x\n[end m2]": false,
	} {
		if got := two.Stands(shown, false); got != want {
			t.Errorf("%q: stands %v, want %v", shown, got, want)
		}
	}
}

// A body may quote the header and the footer of its own message, or of others of its turn.
func TestStandsWhereBodiesQuote(t *testing.T) {
	message := func(n int, body string) Message {
		return Message{ID: fmt.Sprint("m", n), Header: fmt.Sprintf("[relay m%d from bob]", n), Body: body, Footer: fmt.Sprintf("[end m%d]", n)}
	}
	const chip = "[Pasted text #1 +9 lines]"
	for name, bodies := range map[string][]string{
		"its own footer":                 {"see [end m0] and\n    [end m0]"},
		"its own header":                 {"see [relay m0 from bob] and\n    [relay m0 from bob] x"},
		"nothing but its footer":         {"[end m0]"},
		"nothing but its header":         {"[relay m0 from bob]"},
		"all of itself":                  {"[relay m0 from bob] x\n    [end m0]"},
		"all of itself, twice":           {"[relay m0 from bob] x [end m0] [relay m0 from bob] x [end m0]"},
		"the footer before it":           {"one", "    [end m0] and [end m0]"},
		"the header behind it":           {"[relay m1 from bob] x", "two"},
		"each other":                     {"a [relay m1 from bob] b [end m1]", "a [relay m0 from bob] b [end m0]"},
		"the whole turn":                 {"one", "[relay m0 from bob] one [end m0] [relay m1 from bob] two [end m1] [relay m2 from bob]", "three [end m2]"},
		"brackets around a quote":        {"[x] [end m0] [y]"},
		"what looks like a chip":         {"[Pasted text #1] [end m0] [relay m0 from bob] [Pasted text #2]"},
		"quotes in a long one and after": {strings.Repeat("a line\n", 20) + "[end m0]", "[relay m0 from bob]"},
	} {
		var m, other Turn
		for i, body := range bodies {
			m, other = append(m, message(i, body)), append(other, message(i, body+" and more"))
		}
		whole := m.String()
		if !m.Stands(whole, true) || !m.Stands(whole, false) {
			t.Errorf("%s: the whole does not stand", name)
		}
		for at := range whole { // rows scrolled out
			if tail := whole[at:]; at < len(whole)-len(" [end m0]") && !m.Stands(tail, false) {
				t.Errorf("%s: its end %q does not stand", name, tail)
				break
			}
		}
		for at := 1; at < len(whole); at++ { // not all of it yet
			if m.Stands(whole[:at], true) {
				t.Errorf("%s: a part of it stands: %q", name, whole[:at])
			}
		}
		for what, wrong := range map[string]string{"something before": "x" + whole, "something behind": whole + " x", "twice": whole + "\n" + whole, "another body": other.String()} {
			if m.Stands(wrong, true) || m.Stands(wrong, false) {
				t.Errorf("%s, %s: stands", name, what)
			}
		}
		for i := range m {
			hidden := slices.Clone(m)
			hidden[i].Body = chip
			if shown := hidden.String(); !m.Stands(shown, true) || !m.Stands(shown, false) {
				t.Errorf("%s, body %d as a chip: does not stand", name, i)
			}
		}
	}
}

func TestPieceShows(t *testing.T) {
	body := strings.Repeat("a long body ", 40) + "and its end"
	header := Piece{Mark: "[relay m1 from bob]"}
	paste := Piece{Mark: "[relay m1 from bob]", Pasted: body}
	for _, c := range []struct {
		name, shown string
		piece       Piece
		want        bool
	}{
		{"nothing", "", header, false},
		{"a header", "[relay m1 from bob] ", header, true},
		{"a part of it", "[relay m1 fr", header, false},
		{"no paste yet", "[relay m1 from bob] ", paste, false},
		{"a chip", "[relay m1 from bob] [Pasted text #1]", paste, true},
		{"its end, scrolled", body[len(body)-100:], paste, true},
		{"another end", "x" + body[:100], paste, false},
		{"a separator", "[end m0]", Piece{}, true},
	} {
		if got := c.piece.Shows(c.shown); got != c.want {
			t.Errorf("%s: shows %v, want %v", c.name, got, c.want)
		}
	}
}

// TestStandsAmongStrays: what an agent leaves of characters that are wider on the terminal, and
// composed characters, do not hide that a message stands there.
func TestStandsAmongStrays(t *testing.T) {
	m := Message{ID: "m1", Header: "[relay m1 from bob]", Body: "x 🇯🇵 हिन्दी n\u0303o", Footer: "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"}
	for _, c := range []struct {
		shown string
		want  bool
	}{
		{"[relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1🇵·🇪reply: ->relay:bob\nी[re=m1]ी<<<…>>>]", true},
		{"[relay m1 from bob] x 🇯🇵 हिन्दी \u00f1o\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]", true},
		{"[relay m1 from bob] x 🇯🇵a हिन्दीr n\u0303o\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]", true},
		{"[relay m1 from bob] 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]", false},
		{"[relay m1 from bob] [Pasted Content 1439 chars]\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]", true},
		{"[relay m2 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]", false},
		{"[relay m1 from bob] y 🇯🇵 हिन्दी n\u0303o\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]", false},
		{"[relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>] more", false},
		{"[relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>]", true},
		{"[relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bob and a whole sentence\n[re=m1] <<<…>>>]", false},
		{"[relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>] more", false},
		{"more [relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>]", false},
		{"a draft [relay m1 from bob] x 🇯🇵 हिन्दी n\u0303o\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]", false},
	} {
		if got := (Turn{m}).Stands(c.shown, true); got != c.want {
			t.Errorf("%q: %v, want %v", c.shown, got, c.want)
		}
	}
	for shown, want := range map[string]bool{
		"x 🇯🇵 हिन्दी n\u0303o\n[end m1 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>]": true,
		"y\n[end m1 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>]":                    false,
		"[Pasted Content 1439 chars]\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]": true,
		"n\u0303o\n[end m2 · reply: ->relay:bobeffort\n[re=m1] <<<…>>>]":             false,
	} {
		if got := (Turn{m}).Stands(shown, false); got != want {
			t.Errorf("the end, %q: %v, want %v", shown, got, want)
		}
	}
	last := Piece{Mark: "\n" + m.Footer}
	if !last.Shows("ी\n[end m1🇵·🇪reply: ->relay:bob [re=m1] <<<…>>>]") || last.Shows("🇵[end m1 · reply: ->relay:bob [re=m2] <<<…>>>]") {
		t.Error("a footer among strays is not told from another one")
	}
}

func TestWhatStandsBeforeTheCursor(t *testing.T) {
	long := ""
	for range 100 {
		long += "all work and no play "
	}
	for _, c := range []struct {
		name, shown, typed string
		want               bool
	}{
		{"the line", "$ : 'hello'", ": 'hello'", true},
		{"wrapped", "$ : 'hel\nlo'", ": 'hello'", true},
		{"altered", "$ : 'hullo'", ": 'hello'", false},
		{"more behind it", "$ : 'hello' x", ": 'hello'", false},
		{"a locale that spells bytes", `$ : 'caf\303\251'`, ": 'café'", true},
		{"characters the screen cannot show", "$ : 'a '", ": 'a \u200b\u0301'", true},
		{"the end of a long text", long[1000:], long, true},
		{"the beginning of a long text", long[:1000] + "x", long, false},
		{"too little of it", "y ", long, false},
	} {
		if got := EndsWith(c.shown, c.typed); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestNothingIsTrimmedFromATurnThatWasHidden: what an agent has hidden once it may hide again, in
// spite of its profile, and with that it may lose the white space at a paste's ends.
func TestNothingIsTrimmedFromATurnThatWasHidden(t *testing.T) {
	p, _ := agents.Named("opencode")
	for _, piece := range (Turn{{Header: "H", Body: "a body", Footer: "F"}}).Pieces(p, Manner{Paste: true, Rows: 24, Apart: true}) {
		if piece.Pasted != "" && strings.HasSuffix(piece.Keys, "\n"+PasteClose) {
			t.Errorf("%q ends with what is trimmed", piece.Keys)
		}
	}
}

// TestBlankPieces: of blanks in one line the cursor tells; of empty lines in a composer that
// scrolls nothing does.
func TestBlankPieces(t *testing.T) {
	for p, want := range map[Piece]bool{
		{Mark: "   "}:                        true,
		{Pasted: "\t "}:                      true,
		{Mark: " \n "}:                       false,
		{Mark: "[relay m1]", Pasted: "    "}: false,
		{Mark: "x"}:                          false,
	} {
		if got := p.Blank(); got != want {
			t.Errorf("%+v is blank: %v, want %v", p, got, want)
		}
	}
}
