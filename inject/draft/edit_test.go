package draft

import (
	"strings"
	"testing"
	"time"
)

// pasteOf is s in a bracketed paste.
func pasteOf(s string) string { return "\x1b[200~" + s + "\x1b[201~" }

func TestEditingKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, text string }{
		{"insert in the middle", "hllo\x1b[D\x1b[D\x1b[De", "hello"},
		{"application mode arrows", "ac\x1bODb", "abc"},
		{"kitty arrow with lock keys on", "ac\x1b[1;129Db", "abc"},
		{"Ctrl-B and Ctrl-F", "ad\x02b\x06e\x02\x02c", "abcde"},
		{"Home and End", "b\x1b[Ha\x1b[Fc", "abc"},
		{"Home and End by number", "b\x1b[1~a\x1b[4~c", "abc"},
		{"Ctrl-A and Ctrl-E", "b\x01a\x05c", "abc"},
		{"Delete", "abc\x1b[D\x1b[D\x1b[3~", "ac"},
		{"Ctrl-D deletes", "abc\x01\x04", "bc"},
		{"Ctrl-H is Backspace", "ab\x08", "a"},
		{"Ctrl-K to the end", "hello world\x01\x06\x06\x06\x06\x06\x0b", "hello"},
		{"Ctrl-U in the second line", "one\ntwo\x15x", "one\nx"},
		{"Ctrl-U at its start takes the newline", "one\ntwo\x15\x15x", "onex"},
		{"Ctrl-W takes one plain word", "one two  \x17", "one "},
		{"Alt-Backspace", "one two\x1b\x7f", "one "},
		{"kitty Ctrl-Backspace", "one two\x1b[127;5u", "one "},
		{"Alt-B and text", "one two\x1bbx", "one xtwo"},
		{"Ctrl-Left", "one two\x1b[1;5Dx", "one xtwo"},
		{"Alt-F to the end of the last word", "one\x01\x1bfx", "onex"},
		{"Alt-D", "one two\x1bb\x1bdx", "one x"},
		{"Shift-Enter", "one\x1b[13;2utwo", "one\ntwo"},
		{"modifyOtherKeys Shift-Enter", "one\x1b[27;2;13~two", "one\ntwo"},
		{"Alt-Enter", "one\x1b\rtwo", "one\ntwo"},
		{"Ctrl-J", "one\ntwo", "one\ntwo"},
		{"kitty Ctrl-J", "one\x1b[106;5utwo", "one\ntwo"},
		{"backslash and Enter", "one\\\rtwo", "one\ntwo"},
		{"Ctrl-C clears", "one\ntwo\x03x", "x"},
		{"Esc Esc clears", "one\ntwo\x1b\x1b", ""},
		{"kitty Esc Esc clears", "one\x1b[27u\x1b[27ux", "x"},
		{"one Esc does not", "one\x1b[27ux", "onex"},
		{"Ctrl-S sets aside", "one\x13two", "two"},
		{"Ctrl-S again brings back", "one\x13\x13 two", "one two"},
		{"Enter brings back", "one\x13two\r three", "one three"},
		{"Enter on nothing does not", "one\x13\rx", "x"},
		{"kitty shifted letter", "\x1b[97;2u\x1b[98:66;2u", "AB"},
		{"kitty associated text", "\x1b[97;;228u\x1b[0;;19990:30028u", "ä世界"},
		{"kitty Caps Lock", "\x1b[97;65u\x1b[97;66u", "Aa"},
		{"keypad", "\x1b[57400u\x1bOr\x1bOk\x1b[57413u\x1b[57410;129u", "12++/"},
		{"keypad cursor keys", "ac\x1b[57417ub", "abc"},
		{"kitty Super alone, and media keys", "a\x1b[57444u\x1b[57430ub", "ab"},
		{"function keys", "a\x1bOP\x1b[15~\x1b[[Ab", "ab"},
		{"Page Up, Shift-Tab, Ctrl-L", "a\x1b[5~\x1b[Z\x0cb", "ab"},
		{"urxvt mouse", "a\x1b[32;10;20Mb", "ab"},
		{"window size report", "a\x1b[48;24;80;480;800tb", "ab"},
		{"a paste is cleaned", pasteOf("a\x1b[31mb\x07c\r\nd"), "abc\nd"},
		{"emoji are one character each", "a👍世\x7f\x7fb", "ab"},
		{"deleting nothing", "\x7f\x1b[3~\x04\x15\x0b\x17a", "a"},
		{"Ctrl-A in a short second line", "one\ntwo\x01x", "one\nxtwo"},
		{"history and back to a known text", "\x1b[A\x03abc", "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := typed(c.keys)
			if got.Text != c.text || !got.Known {
				t.Errorf("text %q, known %v; want %q, known", got.Text, got.Known, c.text)
			}
		})
	}
}

func TestLineEditor(t *testing.T) {
	for _, c := range []struct {
		name, keys, text string
		known            bool
	}{
		{"Ctrl-J is Enter", "one\ntwo", "two", true},
		{"Alt-Enter is not text", "one\x1b\r", "", true},
		{"backslash and Enter", "one\\\r", "", true},
		{"history", "one\x1b[A", "one", false},
		{"Escape is a prefix", "one\x1b", "one", false},
		{"Ctrl-U in a long line", strings.Repeat("x", 100) + "\x15a", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Shadow{Lines: true, Chips: chips}
			s.Keys([]byte(c.keys), start)
			if got := s.State(); got.Known != c.known || got.Known && got.Text != c.text {
				t.Errorf("text %q, known %v; want %q, %v", got.Text, got.Known, c.text, c.known)
			}
		})
	}
}

// TestNotFollowed: editors differ in these, or do what cannot be known here.
func TestNotFollowed(t *testing.T) {
	for name, keys := range map[string]string{
		"Tab":                                 "/he\t",
		"Up on nothing":                       "\x1b[A",
		"Ctrl-P on nothing":                   "\x10",
		"Ctrl-R":                              "\x12abc",
		"Ctrl-X":                              "a\x18",
		"Ctrl-V":                              "\x16",
		"Ctrl-T":                              "ab\x14",
		"Ctrl-Y":                              "one\x15\x19",
		"undo":                                "a\x1f",
		"kitty Ctrl-Shift-V":                  "\x1b[118;6u",
		"kitty Shift and a digit":             "\x1b[49;2u",
		"Alt and a letter":                    "ab\x1bp",
		"Alt and a wide letter":               "ab\x1b\xc3\xa4",
		"text after Up in two lines":          "one\ntwo\x1b[Ax",
		"text after Up in one line":           "one\x1b[Ax",
		"Ctrl-A in a row that may wrap, text": strings.Repeat("x", 60) + "\x01a",
		"Ctrl-U in a row that may wrap":       strings.Repeat("x", 60) + "\x15",
		"Ctrl-W on punctuation":               "foo-bar\x17",
		"Alt-F before another word, text":     "one two\x01\x1bfx",
		"Backspace on a flag":                 "🇩🇪\x7f",
		"Backspace on a family":               "👩\u200d👧\x7f",
		"Backspace on a combined letter":      "e\u0301\x7f",
		"Backspace on a paste of lines":       pasteOf("a\nb") + "\x7f",
		"the same paste twice":                pasteOf("a\nb") + pasteOf("a\nb"),
		"too much":                            strings.Repeat("x", maxText+1),
		"too long a paste":                    pasteOf(strings.Repeat("x", maxText+1)),
		"our own marks":                       "a\U000F0000b",
		"an open paste":                       "\x1b[200~ab",
	} {
		t.Run(name, func(t *testing.T) {
			got := typed(keys)
			if got.Known {
				t.Errorf("text %q is known", got.Text)
			}
			if v := got.Against(got.Text, true); v != Uncertain {
				t.Errorf("verdict %v on what cannot be followed", v)
			}
			if got := typed(keys + "\x1b[201~\x03\x03ab"); got.Text != "ab" || !got.Known {
				t.Errorf("cleared and typed anew: text %q, known %v", got.Text, got.Known)
			}
		})
	}
}

func TestCursorAtTheEnd(t *testing.T) {
	for keys, want := range map[string]bool{"": true, "abc": true, "abc\x1b[D": false, "abc\x1b[D\x1b[C": true, "ab\n\x1b[A": false, "abc\x1b[A\x05": true} {
		if got := typed(keys).AtEnd; got != want {
			t.Errorf("%q: at the end %v, want %v", keys, got, want)
		}
	}
}

func TestAgainst(t *testing.T) {
	long := strings.Repeat("a line of the paste\n", 36)
	wide := strings.Repeat("x", 1234)
	for _, c := range []struct {
		name, keys, shown string
		part              bool
		want              Agreement
	}{
		{"nothing", "", "", false, Empty},
		{"nothing typed, something shows", "", "a returned prompt", false, Uncertain},
		{"something typed, nothing shows", "hello", "", false, Uncertain},
		{"blanks do not show", "  ", "", false, Uncertain},
		{"the same", "hello world", "hello world", false, Agreed},
		{"wrapped", "hello world", "hello\nworld", false, Agreed},
		{"a tab in a paste", pasteOf("a\tb"), "a    b", false, Agreed},
		{"one letter more", "hello", "hellop", false, Uncertain},
		{"one letter less", "hello", "hell", false, Uncertain},
		{"wide and joined", "世界 👩\u200d👧", "世界 👩👧", false, Agreed},
		{"not followed", "hello\t", "hello", false, Uncertain},
		{"a chip with its lines", "see " + pasteOf(long), "see [Pasted text #1 +36 lines]", false, Agreed},
		{"a chip with other lines", "see " + pasteOf(long), "see [Pasted text #1 +35 lines]", false, Uncertain},
		{"a chip that counts lines, not newlines", pasteOf("a\nb\nc"), "[Pasted ~3 lines] ", false, Agreed},
		{"a chip with its characters", pasteOf(wide) + " ok", "[Pasted Content 1234 chars] ok", false, Agreed},
		{"a chip with other characters", pasteOf(wide), "[Pasted Content 1235 chars]", false, Uncertain},
		{"a chip without figures, wrapped", "a " + pasteOf(wide), "a [Pasted\ntext #7]", false, Agreed},
		{"two chips and a paste in full", pasteOf(long) + "a" + pasteOf("b\nc") + pasteOf(wide), "[Pasted text #1 +36 lines]ab\nc[Pasted text #2]", false, Agreed},
		{"a chip where nothing was pasted", "see this", "see [Pasted text #1 +36 lines]", false, Uncertain},
		{"a paste in full", "see " + pasteOf(long), "see " + long, false, Agreed},
		{"a paste that looks like a chip", pasteOf("[Pasted text #1]\nx"), "[Pasted text #1]\nx", false, Agreed},
		{"a picture", "see " + pasteOf("/tmp/a b.png"), "see [Image #1]", false, Agreed},
		{"a picture where text was pasted", "see " + pasteOf(wide), "see [Image #1]", false, Uncertain},
		{"the end of it in view", wide + " and the very end", "x and the very end", true, Agreed},
		{"a part that was not typed", wide + " and the very end", "x and the very fin", true, Uncertain},
		{"too small a part", wide + " end", "x end", true, Uncertain},
		{"a part with a chip", "lead " + pasteOf(long) + "and the very end", "ad [Pasted text #1 +36 lines] and the ver", true, Agreed},
		{"a part with a chip that is none", "lead " + pasteOf(long) + "and the very end", "ad [Pasted text #1 +3 lines] and the ver", true, Uncertain},
		{"nothing in view", "hello", "", true, Uncertain},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typed(c.keys).Against(c.shown, !c.part); got != c.want {
				t.Errorf("verdict %v, want %v", got, c.want)
			}
		})
	}
}

func TestBlank(t *testing.T) {
	for keys, want := range map[string]bool{"": false, "  ": true, "\n": true, " \x7f": false, "a ": false, "\t": false, "\t ": true, "\t \x7f": false, "\t a": false, "\t \x03": false, "\t a b\x15": false, "\t\x15\\\r": true, pasteOf("a\nb") + "\x15\n": true,
		"\n" + pasteOf("a\nb") + "c\x15": true, "\t\na\x15": true, "\ta b\x15": false} {
		if got := typed(keys).Blank(); got != want {
			t.Errorf("%q: blank %v, want %v", keys, got, want)
		}
	}
}

// TestSeen: what was typed at a dialog never shows, and must not hold for ever.
func TestSeen(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("1"), start)
	if again := s.Seen("", true, start.Add(time.Second)); again != screenRest-time.Second || s.State().Against("", true) != Uncertain {
		t.Errorf("after a second: again in %v, verdict %v", again, s.State().Against("", true))
	}
	if again := s.Seen("", true, start.Add(screenRest)); again != 0 || s.State().Against("", true) != Empty {
		t.Errorf("after the rest: again in %v, verdict %v", again, s.State().Against("", true))
	}
	s.Keys([]byte("  "), start)
	if again := s.Seen("", true, start.Add(time.Hour)); again != 0 || s.State().Against("", true) != Uncertain {
		t.Errorf("blanks: again in %v, verdict %v", again, s.State().Against("", true))
	}
	s.Keys([]byte("\x03abc\t"), start)
	s.Seen("abcdef", true, start.Add(time.Hour))
	if got := s.State(); got.Known {
		t.Errorf("a text that shows and was not followed is known: %q", got.Text)
	}
}

// TestSeenResolvesPastes: once it was seen how a paste shows, keys in it are followed.
func TestSeenResolvesPastes(t *testing.T) {
	for _, c := range []struct{ shown, keys, want string }{
		{"a b\nc d", "\x7f\x7f\x7f\x7f", "a b"},
		{"a [Pasted text #1 +1 lines] d", "\x7f\x7f\x7f", "a "},
	} {
		s := Shadow{Chips: chips}
		s.Keys([]byte("a "+pasteOf("b\nc")+" d"), start)
		s.Seen(c.shown, true, start)
		s.Keys([]byte(c.keys), start)
		if got := s.State(); got.Text != c.want || !got.Known || !got.AtEnd {
			t.Errorf("%q: %+v, want %q", c.shown, got, c.want)
		}
	}
}

func TestAway(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("draft "), start)
	s.Away(true, start)
	s.Keys([]byte("1\r"), start.Add(time.Second))
	s.Away(false, start.Add(time.Second))
	s.Keys([]byte("on"), start.Add(2*time.Second))
	if got := s.State(); got.Text != "draft on" || !got.Known || !got.Enter.Equal(start.Add(time.Second)) {
		t.Errorf("got %+v", got)
	}
}

func TestSetAsideComesBackAtTheEnd(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("draft\x1b[D\x1b[D"), start)
	s.SetAside()
	s.Keys([]byte(" on"), start)
	if got := s.State(); got.Text != "draft on" || !got.Known {
		t.Errorf("got %+v", got)
	}
	s.Keys([]byte("\x13"), start)
	s.Submitted()
	if got := s.State(); got.Text != "draft on" || !got.Known {
		t.Errorf("after another's message: %+v", got)
	}
}

func TestUnfinishedSequencesEnd(t *testing.T) {
	for _, keys := range []string{"a\x1b[", "a\x1bO", "a\x1bP", "a\xe4\xb8"} {
		s := Shadow{Chips: chips}
		s.Keys([]byte(keys), start)
		if s.At(start.Add(time.Second)).Boundary {
			t.Errorf("%q: finished after a second", keys)
		}
		if got := s.At(start.Add(brokenRest + 1)); !got.Boundary || got.Known {
			t.Errorf("%q: %+v, want an end and nothing known", keys, got)
		}
	}
}

func TestEscapeIsTypingAtOnce(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("a"), start)
	s.Keys([]byte("\x1b"), start.Add(time.Minute))
	if got := s.State(); !got.LastKey.Equal(start.Add(time.Minute)) || !got.Begun || got.Text != "a" {
		t.Errorf("got %+v", got)
	}
}
