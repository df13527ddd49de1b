package e2e

import (
	"debug/buildinfo"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol/version"
)

// TestPackage: what is installed beside the programs is whole. Each command has a manual page and
// is completed, the units say where the program is, and the programs of which release they are.
func TestPackage(t *testing.T) {
	t.Parallel()
	bin, dir := built(t), testrig.Dir(t)
	if out, err := exec.Command("bash", "../../../.ci/package/files", bin, bin, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join(dir, "share", path))
		must(t, err)
		return string(b)
	}
	commands := commandsIn(t, bin)
	for name, short := range commands {
		page := read("man/man1/relay-" + name + ".1")
		if !strings.Contains(page, "relay-"+name) && !strings.Contains(page, `relay\-`+name) || short == "" {
			t.Errorf("the page of %s:\n%s", name, page)
		}
	}
	if len(commands) < 20 {
		t.Errorf("the program completes %d commands: the test looks at nothing", len(commands))
	}
	for _, flag := range []string{`\-\-name NAME`, `\-\-draft\-timeout`} {
		if !strings.Contains(read("man/man1/relay-pty.1"), flag) {
			t.Errorf("the page of relay-pty has no %s", flag)
		}
	}
	for page, text := range map[string]string{
		"man1/relay.1": "<<<please review>>>", "man1/relay-send.1": "('#review'", "man1/relay-recv.1": `sent to '*\&' and`,
		"man1/relay-pty-check.1": `\-\-check\-profile`, "man7/relay-pty-protocol.7": `{"type":"inject","id":"m1"`,
	} {
		if is := read("man/" + page); !strings.Contains(is, text) {
			t.Errorf("%s does not have %s:\n%s", page, text, is)
		}
	}
	for _, path := range []string{"bash-completion/completions/relay", "zsh/site-functions/_relay", "fish/vendor_completions.d/relay.fish"} {
		if !strings.Contains(read(path), "__complete") {
			t.Errorf("%s completes nothing", path)
		}
	}
	checkWrapperCompletions(t, bin, read, filepath.Join(dir, "share"))
	checkLicences(t, bin, read)
	for _, path := range []string{"systemd/user/relay.service", "relay/relay.plist"} {
		if text := read(path); !strings.Contains(text, bin+"/relay") || strings.Contains(text, "@BIN@") {
			t.Errorf("%s:\n%s", path, text)
		}
	}
	for list := xml.NewDecoder(strings.NewReader(read("relay/relay.plist"))); ; {
		_, err := list.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
	}
	for _, program := range []string{"relay", "relay-pty"} {
		out, err := exec.Command(filepath.Join(bin, program), "--version").Output()
		if err != nil || !strings.HasSuffix(string(out), " "+version.Release+"\n") {
			t.Errorf("%s --version: %q, %v", program, out, err)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("NOT RUN: the check of relay.service: no systemd-analyze")
		return
	}
	verify := exec.Command("systemd-analyze", "--user", "--man=no", "verify", filepath.Join(dir, "share/systemd/user/relay.service"))
	verify.Env = append(os.Environ(), environment(dir, bin)...)
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), "relay.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// checkLicences fails when a module that the programs contain is not named beside them, each with
// the text of its licence.
func checkLicences(t *testing.T, bin string, read func(string) string) {
	t.Helper()
	if text := read("doc/relay-pty/LICENSE"); !strings.HasPrefix(text, "MIT License") {
		t.Errorf("our own licence begins %.40q", text)
	}
	notices := read("doc/relay-pty/THIRD_PARTY_NOTICES")
	for _, part := range []string{
		"Go, its runtime and standard library\n\nCopyright 2009 The Go Authors", "Copyright (c) 2011 Keith Rarick", // creack/pty
		"modernc.org/sqlite v", "modernc.org/libc v",
	} {
		if !strings.Contains(notices, part) {
			t.Errorf("the notices do not have %q", part)
		}
	}
	seen := 0
	for _, program := range []string{"relay", "relay-pty"} {
		info, err := buildinfo.ReadFile(filepath.Join(bin, program))
		must(t, err)
		for _, module := range info.Deps {
			seen++
			_, text, found := strings.Cut(notices, "\n"+module.Path+" "+module.Version+": ")
			if text, _, _ = strings.Cut(text, "\n====="); !found || !strings.Contains(text, "opyright") {
				t.Errorf("%s contains %s %s, whose licence is not in the notices", program, module.Path, module.Version)
			}
		}
	}
	if seen < 20 {
		t.Errorf("the programs contain %d modules: the test looks at nothing", seen)
	}
}

// commandsIn are the commands that the program relay completes, each with its short description.
func commandsIn(t *testing.T, bin string) map[string]string {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, "relay"), "__complete", "").Output()
	must(t, err)
	commands := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, short, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name != "help" {
			commands[name] = short
		}
	}
	return commands
}
