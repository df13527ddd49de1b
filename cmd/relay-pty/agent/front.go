package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"relay-pty/inject/agents"
)

// front knows what the leader of the process group in front is: a shell that prompts, say, which
// was exec'd in the agent's place, and to which a message would be commands. It is asked at every
// look, so it remembers.
type front struct {
	path string // of the leader's command line
	pgrp int
	last []byte // that command line
	is   kind
	buf  [4 << 10]byte
}

// kind is what a command line starts.
type kind struct {
	shell bool   // that prompts
	host  string // its name, if it hands on what it reads; "": it does not, as far as we know
}

func kindOf(argv ...string) kind {
	if len(argv) == 0 || argv[0] == "" {
		return kind{}
	}
	return kind{shell: agents.For(argv...).Quote.Inert(), host: agents.Host(argv...)}
}

// kind asks. Where the system does not tell, it is what it was before.
func (f *front) kind(pgrp int) kind {
	if pgrp != f.pgrp {
		f.pgrp, f.path = pgrp, "/proc/"+strconv.Itoa(pgrp)+"/cmdline"
	}
	if line, err := f.read(); err == nil && !bytes.Equal(line, f.last) {
		f.last, f.is = append(f.last[:0], line...), kindOf(arguments(line)...)
	}
	return f.is
}

// read is the beginning of the command line, empty for a process that has ended.
func (f *front) read() ([]byte, error) {
	fd, err := unix.Open(f.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) // only read
	n, err := unix.Read(fd, f.buf[:])
	return f.buf[:max(0, n)], err
}

// hostIn is what one of these processes is, beside the one in front, if that hands on what it reads
// from the terminal or is a shell that prompts there: a script that starts it is no less of a host.
func hostIn(pids []int) string {
	for _, pid := range pids[1:] {
		in, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
		if err != nil || !strings.HasPrefix(in, "/dev/pts/") {
			continue // it has ended, or reads something else
		}
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // ended meanwhile: empty
		argv := arguments(line)
		switch is := kindOf(argv...); {
		case is.host != "":
			return is.host
		case is.shell:
			return filepath.Base(argv[0])
		}
	}
	return ""
}

// arguments splits a command line of the kernel's form.
func arguments(line []byte) []string {
	var argv []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		argv = append(argv, string(arg))
	}
	return argv
}
