package screen

import (
	"bytes"
	"testing"
)

// TestEverySplit holds that how output is cut makes no difference, for every
// recording, every built-in case and the generated streams.
func TestEverySplit(t *testing.T) {
	type input struct {
		name       string
		rows, cols int
		data       []byte
	}
	var inputs []input
	for _, rec := range recordings(t) {
		inputs = append(inputs, input{rec.name, rec.rows, rec.cols, bytes.Join(rec.output, nil)})
	}
	for _, c := range cases {
		inputs = append(inputs, input{c.name, caseRows, caseCols, []byte(c.in)})
	}
	for name, data := range streams(1 << 14) {
		inputs = append(inputs, input{name, 50, 200, data})
	}
	for _, in := range inputs {
		var want *state
		cuttings(in.data, func(how string, parts [][]byte) {
			s := New(in.rows, in.cols)
			for _, p := range parts {
				s.Write(p)
			}
			got := stateOf(s)
			if want == nil {
				want = &got
			} else if what := want.diff(got); what != "" {
				t.Errorf("%s, %s: %s", in.name, how, what)
			}
		})
	}
}

// TestCasesHoldInvariants also looks between the bytes.
func TestCasesHoldInvariants(t *testing.T) {
	for _, c := range cases {
		s := New(caseRows, caseCols)
		for i := range len(c.in) {
			checkedWrite(t, s, []byte(c.in[i:i+1]))
			checkInvariants(t, s)
		}
	}
}

func FuzzScreen(f *testing.F) {
	for i, c := range cases {
		f.Add([]byte(c.in), uint8(caseRows), uint8(caseCols), uint8(i%8), uint8(i%13), uint16(i))
	}
	f.Add([]byte("\x1b[?1049h中\x1b[2;3r\x1b[41m\x1b[9;9H\x1b[L\x1b[M"), uint8(3), uint8(4), uint8(9), uint8(1), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, rows, cols, newRows, newCols uint8, cut uint16) {
		rows, cols, newRows, newCols = rows%32, cols%64, newRows%32, newCols%64
		at := 0
		if len(data) > 0 {
			at = int(cut) % len(data)
		}
		whole, split := New(int(rows), int(cols)), New(int(rows), int(cols))
		whole.Write(data)
		checkInvariants(t, whole)
		checkedWrite(t, split, data[:at])
		checkedWrite(t, split, data[at:])
		if what := stateOf(whole).diff(stateOf(split)); what != "" {
			t.Fatalf("cut at %d: %s", at, what)
		}
		resized := New(int(rows), int(cols))
		resized.Write(data[:at])
		resized.Resize(int(newRows), int(newCols))
		checkInvariants(t, resized)
		resized.Write(data[at:])
		checkInvariants(t, resized)
		resized.Resize(int(rows), int(cols))
		checkInvariants(t, resized)
		resized.Write([]byte("\x1b[?1049l\x1b8"))
		checkInvariants(t, resized)
	})
}
