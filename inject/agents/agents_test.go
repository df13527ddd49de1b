package agents

import (
	"strings"
	"testing"

	"relay-pty/inject/profile"
)

func TestEveryPatternCompiles(t *testing.T) {
	for _, p := range all {
		for _, list := range [][]*profile.Pattern{p.Busy, p.Dialogs, p.Overlays, p.Questions} {
			for _, rx := range list {
				rx.Match("") // panics on a bad one
			}
		}
		for _, w := range p.Says {
			w.Pattern.Match("")
		}
		if c := p.Composer; c != nil {
			for _, rx := range append([]*profile.Pattern{c.Prompt, c.Floor, c.Shell, c.Edge, c.More, c.Placeholder, p.AskTitle, p.Typing.StashShown, p.Typing.Armed}, c.Modes...) {
				if rx != nil {
					rx.Match("")
				}
			}
		}
	}
}

// TestHooked: a hook is looked up at its own agent. An event alone is Claude Code's, for sessions
// that began before an upgrade.
func TestHooked(t *testing.T) {
	for words, want := range map[string]string{
		"claude Stop": "Stop ", "claude Stop wait": "Stop wait", "Stop": "Stop ", "Stop wait": "Stop wait", "claude Stop wait x": "Stop wait x",
		"codex Stop": "none", "generic Stop": "none", "Stop codex": "Stop codex", "nosuch Stop": "none", "claude": "none", "claude stop": "none", "": "none", "claude codex Stop": "none",
	} {
		h, behind, known := Hooked(strings.Fields(words)...)
		got := h.Event + " " + strings.Join(behind, " ")
		if !known {
			got = "none"
		}
		if got != want || known == (h.Event == "") {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
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
