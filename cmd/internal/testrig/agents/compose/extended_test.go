package compose

import "testing"

func TestExtendedKeys(t *testing.T) {
	for _, c := range []struct {
		seq  string
		want Event
	}{
		{"\x1b[13u", Event{Key: Enter}},
		{"\x1b[13;1:1u", Event{Key: Enter}},
		{"\x1b[13;1:3u", Event{}}, // released
		{"\x1b[13;2u", Event{Key: Newline}},
		{"\x1b[13;5u", Event{Key: Newline}},
		{"\x1b[27u", Event{Key: Esc}},
		{"\x1b[127u", Event{Key: Backspace}},
		{"\x1b[9u", Event{Key: Tab}},
		{"\x1b[115;5u", Event{Key: Stash}},
		{"\x1b[99:67;5u", Event{Key: Interrupt}},
		{"\x1b[117;5u", Event{Key: KillLine}},
		{"\x1b[97u", Event{Text: "a"}},
		{"\x1b[97;2u", Event{Text: "A"}},
		{"\x1b[97;3u", Event{}},  // with Alt
		{"\x1b[57441u", Event{}}, // a Shift key
		{"\x1b[27;5;115~", Event{Key: Stash}},
		{"\x1b[27;1;13~", Event{Key: Enter}},
		{"\x1b[27;2;13~", Event{Key: Newline}},
		{"\x1b[27;13~", Event{}},
		{"\x1b[?1u", Event{}}, // an answer of the terminal
		{"\x1b[u", Event{}},
	} {
		d := Decoder{Extended: true}
		evs := d.Feed([]byte(c.seq + "."))
		if got := last(evs); got != (Event{Text: "."}) {
			t.Errorf("%q: then %+v, want what follows it", c.seq, got)
			continue
		}
		var got Event
		if len(evs) > 1 {
			got = evs[0]
		}
		if got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.seq, got, c.want)
		}
		plain := Decoder{}
		if evs := plain.Feed([]byte(c.seq)); len(evs) != 0 {
			t.Errorf("%q to a terminal that was not asked: got %+v, want nothing", c.seq, evs)
		}
	}
}

func TestEverySplitOfAnExtendedKeyDecodesTheSame(t *testing.T) {
	const seq = "\x1b[13;1:1u"
	for cut := 1; cut < len(seq); cut++ {
		d := Decoder{Extended: true}
		evs := append(d.Feed([]byte(seq[:cut])), d.Feed([]byte(seq[cut:]))...)
		if len(evs) != 1 || evs[0].Key != Enter {
			t.Errorf("cut at %d: got %+v, want Enter", cut, evs)
		}
	}
}
