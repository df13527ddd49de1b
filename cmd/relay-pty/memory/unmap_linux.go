package memory

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// unmapUnused lets go of the pages of files, the program's own among them, that were
// touched so far. They stay in the page cache, and those that are used again come back
// by a minor fault for sixteen; the rest, what only a start needs, do not.
// Where the system does not tell what is mapped, everything stays.
func unmapUnused() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var m mapping
	for line := range bytes.Lines(maps) {
		if f := bytes.Fields(line); !m.is(f) && m.file && string(f[0]) == "Anonymous:" && string(f[1]) == "0" {
			unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED) // fails where pages are locked: they stay
		}
	}
}

// mapping is one of ours, as proc_pid_smaps(5) tells: a line with begin-end, perms,
// offset, device, inode and path, and lines with a name and a size each. One with
// anonymous pages has been written to, if only by the loader.
type mapping struct {
	begin, end uintptr
	file       bool // of a file, and nothing is written through it
}

// is takes a line's words over if they begin a mapping.
func (m *mapping) is(f [][]byte) bool {
	if len(f) < 5 {
		return false
	}
	from, to, cut := bytes.Cut(f[0], []byte("-"))
	begin, err := strconv.ParseUint(string(from), 16, 64)
	if !cut || err != nil {
		return false
	}
	end, err := strconv.ParseUint(string(to), 16, 64)
	if err != nil {
		return false
	}
	*m = mapping{uintptr(begin), uintptr(end), len(f) > 5 && f[5][0] == '/' && f[1][1] == '-'}
	return true
}
