package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"relay-pty/protocol"
)

// TestNoMistakeShowsWhatTerminalsObey: neither words of a command line, nor names of files and what
// is in them.
func TestNoMistakeShowsWhatTerminalsObey(t *testing.T) {
	const text = "\x1b[2J\u009b31m\x1b]52;c;eA==\a\r\b\x7f\u0085\u202e\u2066\u200b\u2028\ufeff\U000e0041\xff31m\xc0\xaf"
	dir := t.TempDir()
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"} {
		t.Setenv(name, dir)
	}
	evil := filepath.Join(dir, text)
	if err := os.Mkdir(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(evil, "a.json")
	if err := os.WriteFile(overlay, []byte(`{"name":"x","`+strings.ReplaceAll(text, "\\", "")+`":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wrap := func(args ...string) []string {
		return append(append([]string{"--name", "x", "--headless"}, args...), "--", "true")
	}
	for _, args := range [][]string{
		{"--" + text}, {"--name", text, "--", "true"}, {"--name", "x", "--headless", "--", text}, {"--name", "x", "--headless", "--", evil}, wrap("--agent", text), wrap("--agent", overlay), wrap("--agent", evil),
		wrap("--agent", evil+"/none.json"), wrap("--socket", evil), wrap("--log-file", evil), wrap("--state-dir", overlay), wrap("--prompt-pattern", "("+text), wrap("--size", text), wrap("--markers", text),
		wrap("--notice", text), wrap("--log-level", text), wrap("--idle-timeout", text), {"--check-profile", text},
	} {
		said := told(t, args...)
		if strings.ContainsFunc(said, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || protocol.Obeyed(r) }) || !strings.HasPrefix(said, "relay-pty: ") {
			t.Errorf("relay-pty %q: %q", args, said)
		}
	}
}

// told is what the program says on both streams.
func told(t *testing.T, args ...string) string {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	both, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	run(args, in, both, both)
	said, err := os.ReadFile(both.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}
