package screen

import (
	"runtime"
	"testing"

	"relay-pty/protocol/counts"
	"relay-pty/pty/screen/streams"
)

// kinds is about size bytes of each kind of output.
func kinds(size int) map[string][]byte {
	all := map[string][]byte{}
	for _, k := range streams.Kinds {
		all[k.Name] = k.Make(size)
	}
	return all
}

// chunk is how much a PTY gives in one read.
const chunk = 4096

func writeChunks(s *Screen, data []byte) {
	for len(data) > 0 {
		n := min(chunk, len(data))
		s.Write(data[:n])
		data = data[n:]
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, data := range kinds(1 << 20) {
		b.Run(name, func(b *testing.B) {
			s := New(50, 200)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				writeChunks(s, data)
			}
		})
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	for name, data := range kinds(counts.Runs(1<<17, 1<<20)) {
		s := New(50, 200)
		if n := testing.AllocsPerRun(3, func() { writeChunks(s, data) }); n != 0 {
			t.Errorf("%s: %v allocations for %d bytes, want 0", name, n, len(data))
		}
	}
}

func TestCombiningAllocatesNothing(t *testing.T) {
	s := New(24, 80)
	in := []byte("e\u0301 👨\u200d👩\u200d👧 中\u0301\r\n")
	if n := testing.AllocsPerRun(100, func() { s.Write(in) }); n != 0 {
		t.Errorf("%v allocations for known clusters, want 0", n)
	}
}

func TestHeapIsSmall(t *testing.T) {
	const screens = 8
	data := kinds(1 << 18)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make([]*Screen, screens)
	for i := range kept {
		kept[i] = New(50, 200)
		for _, d := range data {
			writeChunks(kept[i], d)
		}
		kept[i].Write([]byte("\x1b[?1049h"))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / screens
	t.Logf("%d bytes a screen of 50 by 200 with both pages", each)
	if each > 500_000 {
		t.Errorf("%d bytes, want at most 500000", each)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(data)
}
