package agent

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"relay-pty/inject/profile"
)

// front knows whether the leader of the process group in front is a shell that
// prompts: a program that was exec'd in the agent's place, say, to which a
// message would be commands. It is asked at every look, so it remembers.
type front struct {
	path    string // of the leader's command line
	pgrp    int
	last    []byte // that command line
	isShell bool
	buf     [4 << 10]byte
}

// shell asks. Where the system does not tell, nobody is one.
func (f *front) shell(pgrp int) bool {
	if pgrp != f.pgrp {
		f.pgrp, f.path = pgrp, "/proc/"+strconv.Itoa(pgrp)+"/cmdline"
	}
	line := f.read()
	if !bytes.Equal(line, f.last) {
		f.last = append(f.last[:0], line...)
		f.isShell = len(line) > 0 && profile.For(arguments(line)...).Quote.Inert()
	}
	return f.isShell
}

// read is the beginning of the command line, empty when there is none.
func (f *front) read() []byte {
	fd, err := unix.Open(f.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd) // only read
	n, err := unix.Read(fd, f.buf[:])
	if err != nil {
		return nil
	}
	return f.buf[:n]
}

// arguments splits a command line of the kernel's form.
func arguments(line []byte) []string {
	var argv []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		argv = append(argv, string(arg))
	}
	return argv
}
