package agent

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol/process"
)

// front knows what the leader of the process group in front is: a shell that prompts, say, which
// was exec'd in the agent's place, and to which a message would be commands. It is asked at every
// look, so it remembers.
type front struct {
	dir  string // of the leader in /proc
	pgrp int
	last []byte // its command line
	file string // what it was started from
	is   kind
	buf  [4 << 10]byte
}

// kind is what a process is.
type kind struct {
	shell *profile.Profile // that prompts; nil: it is none that we know
	argv  []string
	name  string
	host  string // its name, if it hands on what it reads; "": it does not, as far as we know
}

// kindOf tells it by the process's command line and the file that it was started from, "" where
// that is not known.
func kindOf(file string, argv ...string) kind {
	if len(argv) == 0 || argv[0] == "" {
		return kind{}
	}
	name := filepath.Base(cmp.Or(file, argv[0]))
	return kind{shell: agents.Reading(argv, file), argv: argv, name: name, host: agents.Host(argv...)}
}

// kind asks. Where the system does not tell, it is what it was before.
func (f *front) kind(pgrp int) kind {
	if pgrp != f.pgrp {
		f.pgrp, f.dir = pgrp, "/proc/"+strconv.Itoa(pgrp)
	}
	line, err := f.read()
	if err != nil {
		return f.is
	}
	file, _ := os.Readlink(f.dir + "/exe") // "": another user's
	if file != f.file || !bytes.Equal(line, f.last) {
		f.last, f.file, f.is = append(f.last[:0], line...), file, kindOf(file, arguments(line)...)
	}
	return f.is
}

// read is the beginning of the command line, empty for a process that has ended.
func (f *front) read() ([]byte, error) {
	fd, err := unix.Open(f.dir+"/cmdline", unix.O_RDONLY|unix.O_CLOEXEC, 0)
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
		argv := process.Argv(pid)
		switch is := kindOf("", argv...); {
		case is.host != "":
			return is.host
		case is.shell != nil:
			return filepath.Base(argv[0])
		}
	}
	return ""
}

// Reader is the shell that has come to read in the agent's place, which is one, too: by exec, say.
// nil: the agent is what it was when this was asked before. The injector's goroutine alone asks.
func (a *Agent) Reader() *profile.Profile {
	if !a.quotes.Load() {
		return nil
	}
	is := a.front.kind(a.Session.PID())
	if is.shell == nil || is.shell.Name != a.profile.Name || slices.Equal(is.argv, a.taken) {
		return nil
	}
	a.taken = is.argv
	return is.shell
}

// stranger is the name of the program in the agent's place if what we quote may not be inert to it;
// "": it is the shell that we know. What nobody but the user knows is what they say.
func (a *Agent) stranger() string {
	is := a.front.kind(a.Session.PID())
	switch {
	case is.argv == nil, is.shell != nil && is.shell.Quote == a.profile.Quote:
		return ""
	case is.shell == nil && (a.profile.Language == "" || slices.Equal(is.argv, a.command)):
		return ""
	}
	return is.name
}

// arguments splits a command line of the kernel's form.
func arguments(line []byte) []string {
	var argv []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		argv = append(argv, string(arg))
	}
	return argv
}
