// Package programs holds the fake agents themselves; package agents says what
// they do, package fakeagent what they share.
package programs

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"relay-pty/cmd/internal/testrig/agents/fakeagent"
)

// named are the agents.
func named() map[string]func(*fakeagent.Kit) error {
	return map[string]func(*fakeagent.Kit) error{
		"composer": runComposer, "slow": runSlow, "liar": runLiar,
		"line": runLine, "flusher": runFlusher, "editor": runEditor, "ask": runLine,
		"deaf": runDeaf, "echo": runEcho, fakeagent.Child: runChild,
	}
}

// Run runs the named agent on stdin and stdout and returns its exit status.
// It does not return when the agent exits to another program.
func Run(name string) int {
	err := errors.New("no such agent")
	if agent, ok := named()[name]; ok {
		err = fakeagent.Run(name, agent)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fake agent %s: %v\n", name, err)
		return 1
	}
	return 0
}

func runFlusher(k *fakeagent.Kit) error {
	k.Conf.FlushStart = true
	return runLine(k)
}

func runEditor(k *fakeagent.Kit) error {
	k.Conf.Prompt = cmp.Or(k.Conf.Prompt, "$ ")
	return runLine(k)
}

func runSlow(k *fakeagent.Kit) error {
	k.Conf.ReadBytes = cmp.Or(k.Conf.ReadBytes, 1)
	k.Conf.ReadMS = cmp.Or(k.Conf.ReadMS, 2)
	k.Conf.PaintMS = cmp.Or(k.Conf.PaintMS, 20)
	return runComposer(k)
}

// runLiar is a composer or a line program that reads nothing.
func runLiar(k *fakeagent.Kit) error {
	k.Stalled = true
	if k.Conf.Canonical {
		return runLine(k)
	}
	return runComposer(k)
}
