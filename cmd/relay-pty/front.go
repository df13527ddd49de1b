package main

import (
	"bytes"
	"os"
	"strconv"

	"relay-pty/inject/profile"
)

// shellInFront says whether the leader of the process group in front is a
// shell that prompts: a program that was exec'd in the agent's place, say, to
// which a message would be commands. Where the system does not tell, nobody is.
func shellInFront(pgrp int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pgrp) + "/cmdline")
	if err != nil || len(b) == 0 {
		return false
	}
	var argv []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		argv = append(argv, string(arg))
	}
	return profile.For(argv...).Quote.Inert()
}
