package profile

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryPatternCompiles(t *testing.T) {
	for _, p := range all {
		for _, list := range [][]pattern{p.Busy, p.Dialogs, p.Overlays, p.Questions} {
			for _, rx := range list {
				rx.get() // panics on a bad one
			}
		}
		for _, w := range p.Says {
			w.Pattern.get()
		}
		if c := p.Composer; c != nil {
			for _, rx := range slices.Concat([]pattern{c.Prompt, c.Edge, c.Placeholder, p.AskTitle, p.Typing.StashShown, p.Typing.Armed}, c.Modes, patternsOf(c.Box)) {
				if rx != nil {
					rx.get()
				}
			}
		}
	}
}

// patternsOf are those by which a composer is found.
func patternsOf(box Box) []pattern {
	switch box := box.(type) {
	case Ruled:
		return []pattern{box.More}
	case Floored:
		return []pattern{box.Floor, box.Shell, box.Question}
	case Bare:
		if box.Footed != nil {
			return []pattern{box.Footed.More}
		}
	}
	return nil
}

func TestForCommand(t *testing.T) {
	for command, want := range map[string]string{
		"codex": "codex", "/usr/bin/gemini": "gemini", "opencode": "opencode",
		"claude": "claude", "/usr/local/bin/claude": "claude", "cat": "generic", "claude-code-wrapper": "generic", "./claude": "claude",
	} {
		if got := For(command).Name; got != want {
			t.Errorf("For(%q) = %s, want %s", command, got, want)
		}
	}
	if _, ok := Named("nosuch"); ok {
		t.Error("there is a profile nosuch")
	}
}

// TestReserved: only a program that somebody named a profile for is not reserved.
func TestReserved(t *testing.T) {
	spelled, _ := Named("generic", "less")
	if !For("less").Rules.Reserved || spelled.Rules.Reserved || For("claude").Rules.Reserved || For("bash").Rules.Reserved {
		t.Error("the wrong programs are reserved")
	}
	p, err := Overlay([]byte(`{"name":"mine"}`))
	if err != nil || p.Rules.Reserved {
		t.Errorf("one with an overlay is reserved (%v)", err)
	}
}

func TestHost(t *testing.T) {
	for command, want := range map[string]string{
		"tmux new": "tmux", "/usr/bin/ssh -T far": "ssh", "sudo -u eve sh": "sudo", "gdb": "gdb",
		"perl -de1": "perl", "perl prog.pl": "", "python3 -m pdb x.py": "python3", "python3 agent.py": "",
		"lua": "lua", "lua -i": "lua", "lua agent.lua": "", "vim -e": "vim", "busybox sh": "busybox", "busybox cat": "",
		"php -a": "php", "php agent.php": "", "cat": "", "": "",
	} {
		if got := Host(strings.Fields(command)...); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
