package e2e

import (
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

// presses asks for keys to be pressed.
func (w *wrapped) presses(keys ...string) testrig.Frame {
	w.t.Helper()
	return w.request(fields("keys", "keys", keys))
}

// raw is a program that reads keys one by one, and shows them.
func raw(then string) []string { return []string{"sh", "-c", "stty raw -echo; printf here; " + then} }

// TestKeysArrive as a terminal sends them, each by itself, and no key is what a human could not
// press.
func TestKeysArrive(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: raw("exec cat -v")}, "--allow-command", "--agent", "generic")
	must(t, w.WaitText(patience(t, "the agent"), "here"))
	if f := w.presses("Down", "1", "Esc", "C-c", "Enter"); f.Type() != "keys" || f.Num("pressed") != 5 || strings.Contains(f.Raw, "error") {
		t.Errorf("got %s", f.Raw)
	}
	must(t, w.WaitText(patience(t, "the keys"), "here^[[B1^[^C^M"))
	if f := w.presses("Down", "down"); f.Str("code") != "bad_field" || !strings.Contains(f.Str("message"), `"down" is no key`) {
		t.Errorf("got %s", f.Raw)
	}
	if f := w.presses("x"); f.Num("pressed") != 1 {
		t.Errorf("got %s", f.Raw)
	}
	must(t, w.WaitText(patience(t, "the next key"), "here^[[B1^[^C^Mx"))
}

// TestKeysThatNobodyReads are taken back, and none follows.
func TestKeysThatNobodyReads(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: raw("exec tail -f /dev/null")}, "--allow-command", "--agent", "generic")
	must(t, w.WaitText(patience(t, "the agent"), "here"))
	f := w.presses("y", "Enter")
	if f.Num("pressed") != 0 || !strings.Contains(f.Raw, `"code":"no_consume"`) || !strings.Contains(f.Raw, "y: the agent did not read it, and it was taken back") {
		t.Errorf("got %s", f.Raw)
	}
}

// TestKeysAreForWhoMayRunCommands.
func TestKeysAreForWhoMayRunCommands(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}})
	if f := w.presses("Enter"); f.Str("code") != "not_authorized" || !strings.Contains(f.Str("message"), "--allow-command") {
		t.Errorf("got %s", f.Raw)
	}
}

// TestPressedTextIsADraft: no message is typed behind what somebody pressed and did not send.
func TestPressedTextIsADraft(t *testing.T) {
	t.Parallel()
	f := startFake(t, "composer", agents.Config{}, "--agent", "claude", "--allow-command")
	f.state("ready")
	if a := f.presses("h", "i"); a.Num("pressed") != 2 {
		t.Fatalf("got %s", a.Raw)
	}
	f.shows("hi")
	f.inject("m1", "hello")
	f.waitsFor("m1", "draft")
	if a := f.presses("Backspace", "Backspace"); a.Num("pressed") != 2 {
		t.Fatalf("got %s", a.Raw)
	}
	f.delivers("m1", "submitted")
}

// TestPressedTextIsADraftInALine: where no composer shows it, the shadow of keys knows.
func TestPressedTextIsADraftInALine(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}}, "--allow-command")
	w.state("ready")
	if f := w.presses("h", "i"); f.Num("pressed") != 2 {
		t.Fatalf("got %s", f.Raw)
	}
	w.inject("m1", "hello")
	w.waitsFor("m1", "draft")
	if f := w.presses("Enter"); f.Num("pressed") != 1 {
		t.Fatalf("got %s", f.Raw)
	}
	w.delivers("m1", "echo")
}
