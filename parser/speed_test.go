package parser

import (
	"testing"

	"relay-pty/protocol/counts"
	"relay-pty/pty/screen/streams"
)

// feed writes data in pieces of what a PTY gives in one read.
func feed(s *Stream, data []byte) {
	for len(data) > 0 {
		n := min(4096, len(data))
		s.Write(data[:n])
		data = data[n:]
	}
}

// eachKind calls f with a Stream and about size bytes of each kind of output, with and without
// masked lines.
func eachKind(size int, f func(name string, s *Stream, data []byte)) {
	for _, k := range streams.Kinds {
		data := k.Make(size)
		s := Stream{Emit: func(Item) {}}
		f(k.Name, &s, data)
		s = Stream{Emit: func(Item) {}}
		s.Mask("a line that a human typed", "and another one")
		f(k.Name+"-masked", &s, data)
	}
}

func BenchmarkStreamKinds(b *testing.B) {
	eachKind(1<<19, func(name string, s *Stream, data []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				feed(s, data)
			}
		})
	})
}

func TestStreamAllocatesNothingForAnyKind(t *testing.T) {
	eachKind(counts.Runs(1<<17, 1<<19), func(name string, s *Stream, data []byte) {
		feed(s, data)
		if n := testing.AllocsPerRun(3, func() { feed(s, data) }); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	})
}
