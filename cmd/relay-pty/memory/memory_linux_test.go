package memory

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func TestMappings(t *testing.T) {
	for line, want := range map[string]mapping{
		"00400000-00626000 r-xp 00000000 fe:00 262  /usr/bin/x\n":             {0x400000, 0x626000, true},
		"00626000-00883000 r--p 00226000 fe:00 262  /usr/bin/x (deleted)\n":   {0x626000, 0x883000, true},
		"7f0000000000-7f0000001000 r--s 00000000 fe:00 9  /var/a.journal\n":   {0x7f0000000000, 0x7f0000001000, true},
		"00883000-008ab000 rw-p 00483000 fe:00 262  /usr/bin/x\n":             {0x883000, 0x8ab000, false},
		"008ab000-028e3000 rw-p 00000000 00:00 0\n":                           {0x8ab000, 0x28e3000, false},
		"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0  [stack]\n":          {0x7ffc00000000, 0x7ffc00021000, false},
		"7ffc00070000-7ffc00072000 r-xp 00000000 00:00 0  [vdso]\n":           {0x7ffc00070000, 0x7ffc00072000, false},
		"7ffc00080000-7ffc00082000 ---p 00000000 00:00 0  /usr/lib/libx.so\n": {0x7ffc00080000, 0x7ffc00082000, true},
	} {
		var m mapping
		if !m.is(bytes.Fields([]byte(line))) || m != want {
			t.Errorf("%s is %+v, want %+v", line, m, want)
		}
	}
	for _, line := range []string{"Anonymous:             0 kB\n", "VmFlags: rd ex mr mw me sd\n", "\n", "zz-zz r-xp 0 0 0 /x\n", "VmFlags: rd ex mr mw me sd ac de fa\n"} {
		m := mapping{1, 2, true}
		if m.is(bytes.Fields([]byte(line))) || m != (mapping{1, 2, true}) {
			t.Errorf("%q begins a mapping %+v", line, m)
		}
	}
}

// mappedFiles calls visit for each mapping of a file, with how much of it is in memory, in kB.
func mappedFiles(t *testing.T, visit func(m mapping, kb int)) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	var m mapping
	for line := range bytes.Lines(maps) {
		if f := bytes.Fields(line); !m.is(f) && m.file && string(f[0]) == "Rss:" {
			kb, err := strconv.Atoi(string(f[1]))
			if err != nil {
				t.Fatal(err)
			}
			visit(m, kb)
		}
	}
}

// TestUnusedPagesAreLetGo maps every page first, so that there is something to let go of whatever
// ran before; a kernel older than 5.14 refuses, and what the start has touched must do. What the
// runtime uses at that moment comes back at once, so that the least of ten looks counts.
func TestUnusedPagesAreLetGo(t *testing.T) {
	mappedFiles(t, func(m mapping, _ int) {
		unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_POPULATE_READ)
	})
	resident := func() (sum int) {
		mappedFiles(t, func(_ mapping, kb int) { sum += kb })
		return sum
	}
	text := strings.Repeat("kept", 1000)
	before := resident()
	after := before
	for range 10 {
		unmapUnused()
		after = min(after, resident())
	}
	if after > before*3/4 {
		t.Errorf("%d kB of files are in memory, %d before", after, before)
	}
	if text != strings.Repeat("kept", 1000) {
		t.Error("what the program holds has changed")
	}
}

// TestOnceAfterWork: it runs once after work, and then nothing is woken.
func TestOnceAfterWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper()
		var freed atomic.Int64
		k.free = func() { freed.Add(1) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- k.Run(ctx) }()
		after := func(d time.Duration, want int64) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if got := freed.Load(); got != want {
				t.Errorf("given back %d times, want %d", got, want)
			}
		}
		after(rest-1, 0)
		after(1, 1) // the start
		after(time.Hour, 1)
		for range 10 {
			k.Used()
			k.Used()
			after(rest/2, 1)
		}
		after(rest, 2)
		after(time.Hour, 2)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
