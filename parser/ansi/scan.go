package ansi

import "math/bits"

// Eight bytes at once, each with the same bit or value.
const (
	eachOne  = 0x0101010101010101
	eachHigh = eachOne << 7
)

// eight is the first eight bytes of p as one number, the first lowest.
func eight(p []byte) uint64 {
	_ = p[7]
	return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
}

// plainRun is how many bytes of p are text.
func plainRun(p []byte) int {
	n := 0
	for n+8 <= len(p) {
		x := eight(p[n:])
		del := x ^ eachOne*0x7F
		// The lowest mark is right; a borrow may set wrong ones above it.
		marks := ((x-eachOne*' ')&^x | (del-eachOne)&^del) & eachHigh
		if marks == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(marks) / 8
		if p[n] != '\t' {
			return n
		}
		n++
	}
	for n < len(p) && (p[n] >= ' ' && p[n] != 0x7F || p[n] == '\t') {
		n++
	}
	return n
}

// parameters is how many bytes of p, up to the final byte of a control sequence, are parameters
// and intermediates: 0x20 to 0x3F.
func parameters(p []byte) int {
	n := 0
	for n+8 <= len(p) {
		x := eight(p[n:])
		if marks := noParameter(x); marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
		n += 8
	}
	for n < len(p) && p[n] >= ' ' && p[n] <= '?' {
		n++
	}
	return n
}

// block is how much harmless looks at in one go, and what it must see behind that: a sequence of
// ordinary length.
const (
	block = 64
	ahead = 18
)

// harmless is how many bytes of p, at least, hold no sequence but colours and erasures in the
// line, with moves set also moves to another row than the first, and with lines set newlines. The
// last bytes are not looked at. To find all control characters of a block first, without a branch,
// is twice as fast as to go from one to the next.
func harmless(p []byte, lines, moves bool) int {
	n, whole := 0, 0 // whole is the end of the last sequence
	for ; n+block+ahead <= len(p); n += block {
		for controls := controlsOf(p[n : n+block]); controls != 0; controls &= controls - 1 {
			at := n + bits.TrailingZeros64(controls)
			if p[at] != 0x1B {
				if p[at] == '\n' && !lines {
					return at
				}
				continue
			}
			q := p[at : at+ahead]
			final := 2
			marks := noParameter(eight(q[2:]))
			if marks == 0 {
				marks = noParameter(eight(q[10:]))
				final = 10
			}
			final += bits.TrailingZeros64(marks) / 8
			if q[1] != '[' || final >= ahead {
				return at
			}
			if c := q[final]; c != 'm' && c != 'K' && !(moves && c == 'H' && q[2] >= '2' && q[2] <= '9') {
				return at
			}
			whole = at + final + 1
		}
	}
	return max(n, whole)
}

// controlsOf is the bytes below 0x20 of a block, a bit for each, the first lowest.
func controlsOf(p []byte) (controls uint64) {
	for i := 0; i+8 <= len(p); i += 8 {
		x := eight(p[i:])
		marks := ^(x | x<<1 | x<<2) & eachHigh // bits 5, 6 and 7 are not set
		controls |= marks >> 7 * 0x0102040810204080 >> 56 << i
	}
	return controls
}

// noParameter marks the bytes of x that are not 0x20 to 0x3F, for which bit 5 is set and bits 6
// and 7 are not.
func noParameter(x uint64) uint64 { return (x<<2 ^ eachHigh | x<<1 | x) & eachHigh }
