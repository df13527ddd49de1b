package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol"
)

// commands makes programs of these names and lets PATH hold them alone.
func commands(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

// TestChoose: what is held against what, by what the user has named and what is installed.
func TestChoose(t *testing.T) {
	dir := commands(t, "claude", "codex", "other")
	for _, c := range []struct {
		does        string
		name        string
		command     []string
		want        []string // profile and command
		fails, hint string
		says        string
	}{
		{"nothing named", "", nil, []string{"claude " + dir + "/claude", "codex " + dir + "/codex"}, "", "",
			"gemini: not installed: no gemini in PATH\nopencode: not installed: no opencode in PATH\nqwen: not installed: no qwen in PATH\n"},
		{"a profile", "codex", nil, []string{"codex " + dir + "/codex"}, "", "", ""},
		{"a command", "", []string{"claude", "-c"}, []string{"claude " + dir + "/claude -c"}, "", "", ""},
		{"a command that no profile is for", "", []string{"other"}, []string{"generic " + dir + "/other"}, "", "", ""},
		{"both", "gemini", []string{dir + "/other"}, []string{"gemini " + dir + "/other"}, "", "", ""},
		{"a profile that there is not", "none", nil, nil, `--agent: unknown profile "none"`, "this version knows", ""},
		{"a profile whose command is not installed", "gemini", nil, nil, "no command of profile gemini is installed", "name one", ""},
		{"a command that there is not", "", []string{"none"}, nil, "no command none", "whole path", ""},
	} {
		t.Run(c.does, func(t *testing.T) {
			var out strings.Builder
			subjects, err := choose(c.name, c.command, &out)
			if c.fails != "" {
				var h interface{ Hint() string }
				if err == nil || err.Error() != c.fails || !errors.As(err, &h) || !strings.Contains(h.Hint(), c.hint) {
					t.Errorf("got %v, want %q and the hint %q", err, c.fails, c.hint)
				}
				return
			}
			var got []string
			for _, s := range subjects {
				if s.profile.Name != "shell" { // whichever shells are installed
					got = append(got, s.profile.Name+" "+strings.Join(s.command, " "))
				}
			}
			said := strings.Join(filter(strings.SplitAfter(out.String(), "\n"), "shell: "), "")
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") || said != c.says {
				t.Errorf("got %q, %v, told %q; want %q, told %q", got, err, said, c.want, c.says)
			}
		})
	}
	commands(t)
	if _, err := choose("", nil, io.Discard); err == nil || err.Error() != "no agent is installed" {
		t.Errorf("without any agent: %v", err)
	}
}

func filter(lines []string, without string) (left []string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, without) {
			left = append(left, line)
		}
	}
	return left
}

// judging is a checker of cat, which shows what is typed.
func judging(t *testing.T) *checker {
	p, _ := agents.Named("generic")
	c := &checker{subject: subject{profile: p, command: []string{"cat"}}, dir: t.TempDir(), env: os.Environ(), cwd: "/"}
	t.Cleanup(c.leave)
	return c
}

// TestWhatDependsOnWhatIsBrokenIsNotJudged, nor what needs a model that nobody can speak for.
func TestWhatDependsOnWhatIsBrokenIsNotJudged(t *testing.T) {
	c := judging(t)
	c.noModel = "there is none"
	c.report = "\nok   clear: it does\nFAIL prompt: it does not"
	for _, s := range []struct {
		scene scene
		want  string
	}{
		{scene{}, "\nok   datum: it does"},
		{scene{needs: []string{"clear"}}, "\nok   datum: it does"},
		{scene{needs: []string{"clear", "prompt"}, model: true}, "\n--   datum: not judged: it takes prompt, which does not hold"},
		{scene{needs: []string{"clear"}, model: true}, "\n--   datum: not judged: there is none"},
	} {
		s.scene.judges, s.scene.alone = "datum", true
		s.scene.play = func(context.Context) { c.ok("datum", "it does") }
		if err := c.judge(t.Context(), s.scene); err != nil || c.scene != s.want {
			t.Errorf("%v, told %q, want %q", err, c.scene, s.want)
		}
	}
}

// TestSceneThatFailsIsPlayedOnceMore with another agent, and the second time counts.
func TestSceneThatFailsIsPlayedOnceMore(t *testing.T) {
	for _, c := range []struct {
		name string
		good int // the first time in which the promise holds
		want string
	}{
		{"held", 1, "\nok   datum: it does"},
		{"held the second time", 2, "\nok   datum: it does"},
		{"never held", 3, "\nFAIL datum: it does not\n     | seen 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ch, times := judging(t), 0
			err := ch.judge(t.Context(), scene{judges: "datum", alone: true, play: func(ctx context.Context) {
				var err error
				if ch.live, err = ch.start(ctx, "cat"); err != nil {
					t.Fatal(err)
				}
				if times++; times == c.good {
					ch.ok("datum", "it does")
					return
				}
				ch.live.write("seen " + string(rune('0'+times)))
				ch.live.wait(ctx, time.Minute, func() bool {
					return len(ch.live.rows()) > 0 && strings.HasSuffix(ch.live.rows()[0], string(rune('0'+times)))
				})
				ch.bad("datum", "it does not")
			}})
			if err != nil || ch.scene != c.want {
				t.Errorf("%v, told %q, want %q", err, ch.scene, c.want)
			}
		})
	}
}

// TestWhatTheProfileHasIsTold as the profile has it: a number is one.
func TestWhatTheProfileHasIsTold(t *testing.T) {
	c := judging(t)
	var err error
	if c.live, err = c.start(t.Context(), "cat"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []struct {
		data any
		want string
	}{{1000, "; the profile has 1000"}, {"C-u", `; the profile has "C-u"`}, {nil, "it does"}} {
		c.scene = ""
		if c.needs(ctx, "datum", func() bool { return false }, "it does", s.data) || !strings.HasSuffix(c.scene, s.want) {
			t.Errorf("told %q, want %q at its end", c.scene, s.want)
		}
	}
}

// TestComposerThatScrollsInside holds a text of which it shows the greater part, its end.
func TestComposerThatScrollsInside(t *testing.T) {
	c := judging(t)
	c.profile, _ = agents.Named("qwen")
	c.profile = &profile.Profile{Composer: c.profile.Composer} // no log
	text := ""
	for n := range 12 {
		text += strings.Repeat(string(rune('a'+n)), 20) + "\n"
	}
	rows, rule := strings.Split(text, "\n"), strings.Repeat("─", 60)
	drawn := rule + "\n> " + strings.Join(rows[2:12], "\n  ") + "\n" + rule + "\n\x1b[11;23H"
	var err error
	if c.live, err = c.start(t.Context(), "sh", "-c", `printf %s "$0"; cat >/dev/null`, drawn); err != nil {
		t.Fatal(err)
	}
	if !c.live.wait(t.Context(), time.Minute, c.holds(text)) {
		t.Errorf("not within a minute: the composer to hold the text; it is %+v", c.look().Box)
	}
	for _, other := range []string{text + "x", "x" + strings.Repeat(text, 2), strings.Join(rows[:8], "\n")} {
		if c.holds(other)() {
			t.Errorf("the composer holds %q", other)
		}
	}
}

// TestNothingShownActsOnATerminal: neither what the user typed, nor what an agent shows.
func TestNothingShownActsOnATerminal(t *testing.T) {
	const evil = "\x1b[2J\u009b31m\u202e\xff31m"
	commands(t)
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"self", "", evil}, &out, &errs); code != exitUsage {
		t.Errorf("ends with %d, want %d", code, exitUsage)
	}
	said := out.String() + errs.String()
	acts := func(r rune) bool { return unicode.IsControl(r) && r != '\n' || protocol.Obeyed(r) }
	if !strings.Contains(said, "31m") || strings.ContainsFunc(said, acts) {
		t.Errorf("it says %q", said)
	}
}
