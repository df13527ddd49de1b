package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// hostile is what terminals obey, or are misled by, in 26 texts.
var hostile = []string{
	"\u009b2J\u009bH", "\u009d52;c;eA==\u009c", "\u0090q\u009c", "\u0085", "\u0080", "\u008e", "\u0098x\u009c", "\u009ex\u009c", "\u009fx\u009c", "\x7f\x7f",
	"\x1b[2J", "\x1b]0;t\a", "\x00\b\r", "\u202erm\u202c", "\u2066a\u2069", "\u202da", "\u200f", "\u200e", "\u061c", "\u2028x", "\u2029x", "\u200b\ufeff",
	"a\u00adb", "\u2060\u206a", "\U000e0041\U000e007f", "\ufff9a\ufffb",
}

// raw is a character of b that a terminal obeys, or 0.
func raw(b []byte) rune {
	for _, r := range string(bytes.ReplaceAll(b, []byte("\n"), nil)) {
		if unicode.IsControl(r) || Obeyed(r) {
			return r
		}
	}
	return 0
}

func TestNoJSONHoldsWhatTerminalsObey(t *testing.T) {
	shown := 0
	for _, text := range hostile {
		value, err := JSON(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.NewEncoder(Escaping{&b}).Encode([]string{text}); err != nil {
			t.Fatal(err)
		}
		frame := mustEncode(t, &MarkerInvalid{Raw: text})
		for _, out := range [][]byte{value, b.Bytes(), frame, Tag(mustEncode(t, &Queue{}), text)} {
			if r := raw(out); r != 0 {
				t.Errorf("%+q: %U in %q", text, r, out)
			}
			shown++
		}
		var back map[string]string
		var list []string
		var marker MarkerInvalid
		json.Unmarshal(value, &back) // what it cannot read is not equal
		json.Unmarshal(b.Bytes(), &list)
		json.Unmarshal(frame, &marker)
		if back[text] != text || len(list) != 1 || list[0] != text || marker.Raw != text {
			t.Errorf("%+q became %+q, %+q, %+q", text, back, list, marker.Raw)
		}
	}
	if shown != 104 {
		t.Errorf("%d outputs, want 104", shown)
	}
	const plain = `{"a":"é 日本 👩‍💻 می` + "\u200c" + `خواهم ` + "\u00a0\u0301" + `"}`
	if got := Escape([]byte(plain)); string(got) != plain || !strings.Contains(plain, "\u200d") {
		t.Errorf("%s became %s", plain, got)
	}
}
