package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLineWith: the program's own words are found behind what starts it, and words are added to
// them there. A ~ is a blank within a word, and + stands for the words that are added.
func TestLineWith(t *testing.T) {
	for line, want := range map[string]string{
		"claude -c":                                     "claude + -c",
		"/opt/claude":                                   "/opt/claude +",
		"env claude":                                    "env claude +",
		"env X=1 Y= claude -p":                          "env X=1 Y= claude + -p",
		"env -i -u A --chdir=/x claude":                 "env -i -u A --chdir=/x claude +",
		"env -C /x nice claude":                         "env -C /x nice claude +",
		"nice -n 5 claude x":                            "nice -n 5 claude + x",
		"nice -5 codex resume":                          "nice -5 codex + resume",
		"timeout 9m claude":                             "timeout 9m claude +",
		"timeout -k 5 -s TERM 9 claude":                 "timeout -k 5 -s TERM 9 claude +",
		"timeout --foreground 9 codex":                  "timeout --foreground 9 codex +",
		"nohup claude":                                  "nohup claude +",
		"stdbuf -oL -e 0 claude":                        "stdbuf -oL -e 0 claude +",
		"setsid -w claude":                              "setsid -w claude +",
		"npx claude":                                    "npx claude +",
		"npx -y @openai/codex@latest x":                 "npx -y @openai/codex@latest + x",
		"bunx @anthropic-ai/claude-code":                "bunx @anthropic-ai/claude-code +",
		"npm exec -- @openai/codex":                     "npm exec -- @openai/codex +",
		"pnpm dlx @openai/codex":                        "pnpm dlx @openai/codex +",
		"mise exec -- claude":                           "mise exec -- claude +",
		"mise x node@20 -- claude -c":                   "mise x node@20 -- claude + -c",
		"direnv exec . claude":                          "direnv exec . claude +",
		"op run --env-file=x -- claude":                 "op run --env-file=x -- claude +",
		"env X=1 timeout 9 nice codex":                  "env X=1 timeout 9 nice codex +",
		"sh -c claude":                                  "sh -c claude~+",
		"bash -lc claude~-c":                            "bash -lc claude~+~-c",
		"bash -l -c claude name arg":                    "bash -l -c claude~+ name arg",
		"sh -c exec~claude":                             "sh -c exec~claude~+",
		"sh -c X='a~b'~exec~env~Y=1~claude~\"it's\"~''": `sh -c X='a~b'~exec~env~Y=1~claude~+~'it'\''s'~''`,
		"env X=1 sh -c nice~claude":                     "env X=1 sh -c nice~claude~+",

		"claude": "claude +", "env": "env +", "env X=1": "env +  X=1", "cat x": "cat + x", "npx cowsay": "npx + cowsay", "node x.js": "node + x.js",
		"npm exec claude": "npm + exec claude", "env -S claude~-c": "env + -S claude~-c", "npx -c claude": "npx + -c claude",
		"sh -c claude~|~cat": "sh + -c claude~|~cat", "sh -c cd~x;claude": "sh + -c cd~x;claude", "sh -c $C": "sh + -c $C",
		"sh -c claude~&": "sh + -c claude~&", "sh -c 'claude": "sh + -c 'claude", "sh -c claude~\"$x\"": "sh + -c claude~\"$x\"", "sh -c claude~a\\b": "sh + -c claude~a\\b",
		"sh -c ls": "sh + -c ls", "sh script": "sh + script", "sh -c": "sh + -c", "bash --norc -c claude": "bash + --norc -c claude", "sh -c X=1": "sh + -c X=1",
		"timeout 9": "timeout + 9", "sudo claude": "sudo + claude", "sh -c claude~*": "sh + -c claude~*", "sh -c ~x": "sh + -c ~x", "env -u": "env + -u",
	} {
		argv := strings.Fields(line)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "~", " ")
		}
		l := Open(argv...)
		with := l.With(slices.Insert(slices.Clone(l.Argv), 1, "+"))
		for i := range with {
			with[i] = strings.ReplaceAll(with[i], " ", "~")
		}
		if got := strings.Join(with, " "); got != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestForWhatStartsIt(t *testing.T) {
	for line, want := range map[string]string{
		"env X=1 claude": "claude", "nice codex": "codex", "timeout 9m gemini": "gemini", "npx opencode-ai": "opencode", "npx @google/gemini-cli": "gemini",
		"sh -c claude": "claude", "mise exec -- claude": "claude", "env X=1 bash": "generic", "nice python3": "generic", "nice python3 x.py": "generic",
		"env X=1 cat": "generic", "sh -c bash": "generic", "bash": "shell", "node": "shell", "node x.js": "generic", "env": "generic", "nohup": "generic",
	} {
		if got := For(strings.Fields(line)...).Name; got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	if got := Host("env", "X=1", "tmux", "new"); got != "tmux" {
		t.Errorf("the host is %q", got)
	}
}

// TestProgramsByOtherNames: links lead to the program, and a file of a package is that package's.
func TestProgramsByOtherNames(t *testing.T) {
	dir := t.TempDir()
	file := func(path, text string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("pkg/package.json", `{"name": "@anthropic-ai/claude-code"}`)
	cli := file("pkg/dist/cli.js", "")
	file("other/package.json", `{"name": "@anthropic-ai/claude-code-helper"}`)
	file("broken/package.json", `{"name": `)
	file("lib/package.json", `{"type": "module"}`)
	if err := os.MkdirAll(filepath.Join(dir, "odd/package.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	native := file("share/claude/versions/2.1.329", "")
	for _, c := range []struct{ program, want string }{
		{cli, "claude"}, {link(cli, "cc"), "claude"}, {native, "claude"}, {link(native, "dev"), "claude"}, {link(filepath.Join(dir, "dev"), "dev2"), "claude"},
		{link(file("bin/codex", ""), "cx"), "codex"}, {file("x/gemini.js", ""), "gemini"}, {file("other/cli.js", ""), "generic"},
		{file("broken/cli.js", ""), "generic"}, {file("odd/cli.js", ""), "generic"}, {file("lib/cli.js", ""), "generic"},
		{filepath.Join(dir, "none"), "generic"}, {link("self", "self"), "generic"}, {file("claude-dev", "#!/bin/sh\nexec claude\n"), "generic"},
	} {
		if got := For(c.program).Name; got != c.want {
			t.Errorf("%s: got %s, want %s", c.program, got, c.want)
		}
		if got := For("node", "--no-warnings", c.program, "-c").Name; got != c.want {
			t.Errorf("node %s: got %s, want %s", c.program, got, c.want)
		}
	}
	t.Setenv("PATH", dir)
	if got := For("cc").Name; got != "claude" {
		t.Errorf("cc in PATH is %s", got)
	}
	for _, c := range []struct{ line, file, want string }{
		{"claude", "", "claude"}, {"x y", native, "claude"}, {"node " + cli, "/usr/bin/node", "claude"}, {"node x.js", "/usr/bin/node", ""},
		{"timeout 9 claude", "/usr/bin/timeout", ""}, {"sh -c claude", "/bin/sh", ""}, {"/bin/sh /bin/claude", "/bin/sh", ""},
		{"npm exec claude", "/usr/bin/node", ""}, {"", native, ""}, {"cat", "", ""}, {"cat", "/bin/cat (deleted)", ""},
	} {
		got := ""
		if p := Running(strings.Fields(c.line), c.file); p != nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("the process %q of %s: got %q, want %q", c.line, c.file, got, c.want)
		}
	}
}

// TestMentioned: a script names the agent that it starts; a comment, or a program, does not.
func TestMentioned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cc-dev")
	for text, want := range map[string]string{
		"#!/bin/sh\nexec claude \"$@\"\n": "claude", "#!/usr/bin/env bash\ncd x && /opt/codex -c a=b\n": "codex", "#!/bin/sh\n# not claude\ncat\n": "",
		"#!/bin/sh\nclaude-code-x\n": "", "#!/usr/bin/python3\nclaude\n": "", "claude\n": "", "": "", "#!": "", "#!/bin/sh": "", "\x00claude": "", "#!/bin/sh\n(claude)": "claude",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		got := ""
		if p := Mentioned("nice", file, "-x"); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for line, want := range map[string]string{
		"sh -c cd~x&&claude": "claude", "bash -lc claude|cat": "claude", "sh -c": "", "sh": "", "cat claude": "", "sh -c ls": "", "sh -x /none": "", "sh -x -e": "",
	} {
		got := ""
		if p := Mentioned(strings.Fields(line)...); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	dir := filepath.Dir(file)
	if p := Mentioned("sh", dir); p != nil {
		t.Errorf("a directory names %s", p.Name)
	}
}
