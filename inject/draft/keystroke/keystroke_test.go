package keystroke

import (
	"slices"
	"testing"
)

// keysOf reads input that comes in pieces of n bytes.
func keysOf(input string, n int) (keys []Key) {
	var r Reader
	for piece := range slices.Chunk([]byte(input), n) {
		r.Feed(piece, func(k Key) { keys = append(keys, k) })
	}
	return keys
}

func TestKeysInAnyCutting(t *testing.T) {
	for input, want := range map[string][]Key{
		"aé":                           {{Text, 'a'}, {Text, 'é'}},
		"\xff":                         {{Text, '\ufffd'}},
		"\r\n\x7f\x03":                 {{Kind: Enter}, {Kind: Newline}, {Kind: Erase}, {Kind: Interrupt}},
		"\x1b[200~a\r\x1b[201~":        {{Pasted, 'a'}, {Pasted, '\r'}, {Kind: PasteEnd}},
		"\x1b[13;2u\x1b[13u":           {{Kind: Newline}, {Kind: Enter}},
		"\x1b[27;2;13~":                {{Kind: Newline}},
		"\x1b[97;1:3u":                 {{Kind: Report}},                 // released
		"\x1b[97:65;2u":                {{Text, 'A'}},                    // Shift-a, shifted key told
		"\x1b[0;;20320:22909u":         {{Text, '你'}, {Text, '好'}},       // an input method
		"\x1b[<0;3;4M\x1b[I\x1b[M !!":  {{}, {}, {}},                     // mouse, focus, mouse of X10
		"\x1b]11;rgb:0/0/0\x1b\\":      {{Kind: Answer}},                 // the answer about a colour
		"\x1b[2;5R\x1b[1;5R":           {{Kind: Answer}, {}},             // the cursor; or F3 with Ctrl
		"\x1bP>|kitty\x1b\\\x1b[?62;c": {{Kind: Answer}, {Kind: Answer}}, // who the terminal is
		"\x1b[1;5D\x1bOD\x1b[D\x1b[3~": {{Kind: WordLeft}, {Kind: Left}, {Kind: Left}, {Kind: Remove}},
		"\x1b[57441;2u":                {{}}, // Shift alone
		"\x1b[122;5u\x1a":              {{Kind: Suspend}, {Kind: Suspend}},
		"\t":                           {{Kind: Unfollowed}},
	} {
		for n := 1; n <= len(input); n++ {
			if got := keysOf(input, n); !slices.Equal(got, want) {
				t.Errorf("%q in pieces of %d: %v, want %v", input, n, got, want)
			}
		}
	}
}

func FuzzStroke(f *testing.F) {
	f.Add("a\x1b[200~b\x1b[201~\x1b[13;2u", 3)
	f.Fuzz(func(t *testing.T, input string, n int) {
		if n < 1 || input == "" {
			return
		}
		if whole, cut := keysOf(input, len(input)), keysOf(input, n); !slices.Equal(whole, cut) {
			t.Errorf("%q: %v in one piece, %v in pieces of %d", input, whole, cut, n)
		}
	})
}
