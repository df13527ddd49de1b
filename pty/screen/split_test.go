package screen

import (
	"math/rand/v2"
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
		inputs = append(inputs, input{rec.name, rec.rows, rec.cols, rec.all()})
	}
	for _, c := range cases {
		inputs = append(inputs, input{c.name, caseRows, caseCols, []byte(c.in)})
	}
	for name, data := range kinds(1 << 14) {
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
			s.Write([]byte(c.in[i : i+1]))
			checkInvariants(t, s)
		}
	}
}

// FuzzScreen holds, for any bytes on a screen of any small size: every invariant;
// that cuttings make no difference (whole, byte by byte, at random); that a new
// size at any moment breaks nothing.
func FuzzScreen(f *testing.F) {
	for i, c := range cases {
		f.Add([]byte(c.in), uint8(caseRows), uint8(caseCols), uint8(i%8), uint8(i%13), uint64(i))
	}
	f.Add([]byte("\x1b[?1049h中\x1b[2;3r\x1b[41m\x1b[9;9H\x1b[L\x1b[M"), uint8(3), uint8(4), uint8(9), uint8(1), uint64(9))
	f.Add([]byte("\x1b[?69h\x1b[2;3s\x1b[2;3r中\n中\x1b[S\x1b[T中\x1b[L\x1b[M\x1b[@\x1b[P\x1b7x\x1b8"), uint8(5), uint8(7), uint8(4), uint8(2), uint64(11))
	f.Fuzz(func(t *testing.T, data []byte, rows, cols, newRows, newCols uint8, seed uint64) {
		rows, cols, newRows, newCols = rows%32, cols%64, newRows%32, newCols%64
		whole, bytewise := New(int(rows), int(cols)), New(int(rows), int(cols))
		whole.Write(data)
		checkInvariants(t, whole)
		for i := range data {
			bytewise.Write(data[i : i+1])
		}
		if what := stateOf(whole).diff(stateOf(bytewise)); what != "" {
			t.Fatalf("byte by byte: %s", what)
		}
		random := rand.New(rand.NewPCG(seed, 0))
		split, resized := New(int(rows), int(cols)), New(int(rows), int(cols))
		for rest := data; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			split.Write(rest[:n])
			resized.Write(rest[:n])
			if random.IntN(2) == 0 {
				resized.Resize(int(newRows), int(newCols))
			} else {
				resized.Resize(1+random.IntN(40), 1+random.IntN(90))
			}
			checkInvariants(t, resized)
			rest = rest[n:]
		}
		if what := stateOf(whole).diff(stateOf(split)); what != "" {
			t.Fatalf("cut by seed %d: %s", seed, what)
		}
		resized.Write([]byte("\x1b[?1049l\x1b8"))
		checkInvariants(t, resized)
	})
}
