package draft

import (
	"math/rand/v2"
	"testing"
	"time"
)

// chips are those of an agent that shows some.
var chips = Chips{Paste: "[Pasted", Image: "[Image", Bytes: 140}

var start = time.Unix(1_700_000_000, 0)

func typed(keys string) State {
	s := Shadow{Chips: chips}
	s.Keys([]byte(keys), start)
	return s.State()
}

func TestWhatCountsAsTyping(t *testing.T) {
	for _, c := range []struct {
		name, keys, text string
		typing           bool
	}{
		{"letters", "hello", "hello", true},
		{"wide characters", "héllo 世界 👍", "héllo 世界 👍", true},
		{"Enter sends", "hello\r", "", true},
		{"after Enter", "one\rtwo", "two", true},
		{"Backspace", "helo\x7f\x7fllo", "hello", true},
		{"Backspace on nothing", "\x7f\x7fa", "a", true},
		{"Ctrl-U discards", "hello\x15x", "x", true},
		{"Ctrl-C discards", "hello\x03", "", true},
		{"Ctrl-W takes a word", "one two\x17", "one ", true},
		{"a paste", "\x1b[200~a\rb\x1b[201~", "a\nb", true},
		{"Enter in a paste does not send", "x\x1b[200~\r\x1b[201~", "x\n", true},
		{"arrows", "ab\x1b[D\x1b[Cc", "abc", true},
		{"arrows in application mode", "ab\x1bOD", "ab", true},
		{"focus in and out", "\x1b[I\x1b[O", "", false},
		{"SGR mouse", "\x1b[<35;10;20M\x1b[<0;10;20m", "", false},
		{"X10 mouse", "\x1b[M !!", "", false},
		{"cursor report", "\x1b[12;40R", "", false},
		{"device attributes", "\x1b[?62;22c\x1b[>0;276;0c", "", false},
		{"mode report", "\x1b[?2026;2$y", "", false},
		{"colour report, ST", "\x1b]11;rgb:0000/0000/0000\x1b\\", "", false},
		{"colour report, BEL", "\x1b]10;rgb:ffff/ffff/ffff\x07", "", false},
		{"XTVERSION reply", "\x1bP>|XTerm(370)\x1b\\", "", false},
		{"kitty letter", "\x1b[104u\x1b[105;1:1u", "hi", true},
		{"kitty release", "\x1b[104;1:3u", "", false},
		{"kitty repeat", "\x1b[104;1:2u", "h", true},
		{"kitty Enter", "hi\x1b[13u", "", true},
		{"kitty Enter release", "\x1b[13;1:3u", "", false},
		{"kitty Shift-Enter does not send", "hi\x1b[13;2u", "hi\n", true},
		{"kitty Ctrl-C", "hi\x1b[99;5u", "", true},
		{"kitty Shift key alone", "\x1b[57441;2u", "", false},
		{"kitty arrow release", "\x1b[1;1:3A", "", false},
		{"modifyOtherKeys Ctrl-U", "hi\x1b[27;5;117~", "", true},
		{"F3 looks like a cursor report without row", "\x1b[R", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := typed(c.keys)
			if got.Text != c.text {
				t.Errorf("text %q, want %q", got.Text, c.text)
			}
			if typing := !got.LastKey.IsZero(); typing != c.typing {
				t.Errorf("typing %v, want %v", typing, c.typing)
			}
			if !got.Boundary {
				t.Error("nothing is unfinished, yet no boundary")
			}
		})
	}
}

func TestBoundary(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       bool
	}{
		{"nothing typed", "", true},
		{"inside a CSI", "\x1b[20", false},
		{"inside a paste", "\x1b[200~abc", false},
		{"inside the paste's end", "\x1b[200~abc\x1b[20", false},
		{"after a paste", "\x1b[200~abc\x1b[201~", true},
		{"inside a character", "\xe4\xb8", false},
		{"inside an OSC reply", "\x1b]11;rgb", false},
		{"inside its end", "\x1b]11;rgb\x1b", false},
		{"a lone Escape", "\x1b", true},
		{"after ESC O", "\x1bO", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typed(c.keys).Boundary; got != c.want {
				t.Errorf("boundary %v, want %v", got, c.want)
			}
		})
	}
}

func TestEscapeThenTextLaterIsText(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("\x1b"), start)
	s.Keys([]byte("a"), start.Add(time.Second))
	if got := s.State(); got.Text != "a" || !got.LastKey.Equal(start.Add(time.Second)) {
		t.Errorf("got %+v, want text a after an Escape", got)
	}
}

func TestReportsDoNotMoveTheLastKey(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("a"), start)
	s.Keys([]byte("\x1b[I\x1b[<0;1;1M"), start.Add(time.Minute))
	if got := s.State().LastKey; !got.Equal(start) {
		t.Errorf("last key at %v, want %v", got, start)
	}
	s.Keys([]byte("\x1b[200~"), start.Add(2*time.Minute))
	if got := s.State().LastKey; got.Equal(start) {
		t.Error("an open paste is typing")
	}
}

func TestSuspendKeys(t *testing.T) {
	for keys, want := range map[string]bool{"\x1a": true, "\x1b[122;5u": true, "z": false, "\x1b[200~\x1a\x1b[201~": false} {
		if got := !typed(keys).Suspend.IsZero(); got != want {
			t.Errorf("%q: suspend %v, want %v", keys, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct {
		name, typed, before string
		want                bool
	}{
		{"behind a prompt", "echo hi", "$ echo hi", true},
		{"wrapped", "a long line of text", "$ a long line o\nf text", true},
		{"only blanks", "   ", "$    ", false},
		{"vim's j leaves no trace", "jjj", "  some text of the file", false},
		{"nothing typed", "", "$ ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := typed(c.typed).Shown(c.before); got != c.want {
				t.Errorf("shown %v, want %v", got, c.want)
			}
		})
	}
}

func FuzzShadow(f *testing.F) {
	f.Add([]byte("hello\x1b[200~x\x1b[201~\r\x1b[<0;1;1M\xe4\xb8\x96"), uint64(1))
	f.Fuzz(func(t *testing.T, keys []byte, seed uint64) {
		whole, cut := Shadow{Chips: chips}, Shadow{Chips: chips}
		whole.Keys(keys, start)
		rnd := rand.New(rand.NewPCG(seed, 1))
		for rest := keys; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 7))
			cut.Keys(rest[:n], start)
			rest = rest[n:]
		}
		if a, b := whole.State(), cut.State(); a != b {
			t.Errorf("whole %+v, cut %+v", a, b)
		}
		if n := len([]rune(whole.State().Text)); n > maxText {
			t.Errorf("text of %d characters, want at most %d", n, maxText)
		}
	})
}

func TestWhatBytesOfTheTerminalAre(t *testing.T) {
	for p, want := range map[string]Input{
		"a": Typing, "\x1b": Typing, "\x1b[A": Typing, "\x1b[?62cx": Typing, "\x1b[?62": Typing, "\x1b[200~\x1b[I": Typing,
		"\x1b[I": Reports, "\x1b[<35;1;2M": Reports, "\x1b[?62c\x1b[O": Reports,
		"\x1b[?62c": Answers, "\x1bP>|tmux 3.4\x1b\\\x1b[?62;22c": Answers, "\x1b[12;3R": Answers,
	} {
		var s Shadow
		if got := s.Keys([]byte(p), start); got != want {
			t.Errorf("%q is %d, want %d", p, got, want)
		}
	}
	var s Shadow
	if s.Keys([]byte("\x1b[?6"), start); s.Keys([]byte("2c"), start) != Typing {
		t.Error("the rest of an answer is not known for one")
	}
}
