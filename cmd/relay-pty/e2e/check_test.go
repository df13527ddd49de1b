package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/inject/agents/rig"
)

// overlay writes an overlay's file.
func overlay(t *testing.T, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(scratch(t), "mine.json")
	must(t, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600))
	return path
}

// told is what a check said and how it ended.
type told struct {
	out, errs string
	code      int
}

// fails are the data that do not hold, each once.
func (c told) fails() []string {
	var data []string
	for _, m := range regexp.MustCompile(`(?m)^FAIL ([^:]+):`).FindAllStringSubmatch(c.out, -1) {
		data = append(data, m[1])
	}
	slices.Sort(data)
	return slices.Compact(data)
}

// checks runs relay-pty --check-profile in a home of its own, in which nothing
// may be left, nor in the directory for scratch files, and no process that knows of either.
func checks(t *testing.T, args ...string) told {
	t.Helper()
	home, tmp := scratch(t), scratch(t)
	cmd := command(t, append([]string{binary(t), "--check-profile"}, args...)...)
	cache, err := rig.Cache()
	must(t, err)
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+home, "RELAY_CACHE="+cache)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &errs, home
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, dir := range []string{home, tmp} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v, %v", dir, left, err)
		}
		for _, pid := range rig.Inhabitants(dir, rig.Everybody()) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone by now
			t.Errorf("left running is %d: %q", pid, line)
		}
	}
	return told{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// alone is the command line of a real agent without the arguments that the rig gives it.
func alone(t *testing.T, a agentrig.Agent) []string {
	t.Helper()
	argv := a.Argv(realagent.Find(t, a))
	return argv[:len(argv)-len(a.Args)]
}

// TestRealAgentsKeepWhatTheirProfilesPromise: in `make test` the one that starts the quickest.
func TestRealAgentsKeepWhatTheirProfilesPromise(t *testing.T) {
	all := []agentrig.Agent{agentrig.Codex()}
	if proving() {
		all = agentrig.All()
	}
	each(t, realagent.Tried(all...), func(t *testing.T, a agentrig.Agent) {
		argv := alone(t, a)
		got := checks(t, append([]string{a.Profile, "--"}, argv...)...)
		if got.code != 0 || len(got.fails()) > 0 || got.errs != "" {
			t.Fatalf("exit status %d\n%s%s", got.code, got.out, got.errs)
		}
		first, _, _ := strings.Cut(got.out, "\n")
		if len(argv) == 1 && !strings.Contains(first, a.Version) || !strings.Contains(first, argv[0]) {
			t.Errorf("the first line is %q, want the version and the path", first)
		}
		data := []string{"prompt", "placeholder", "busy", "dialog", "newline", "clear", "paste_limit", "submit", "interrupt", "log", "message"}
		switch a.Profile {
		case "claude":
			data = append(data, "busy title", "stash", "stash_shown")
		case "codex":
			data = append(data, "busy title", "ask title", "says", "stash")
		case "gemini":
			data = append(data, "busy title", "ask title", "says")
		case "qwen":
			data = append(slices.DeleteFunc(data, func(d string) bool { return d == "interrupt" }), "busy title", "ask title")
		}
		for _, datum := range data {
			if !strings.Contains(got.out, "\nok   "+datum+": ") {
				t.Errorf("nothing is said of %s:\n%s", datum, got.out)
			}
		}
		left := absent.ReplaceAllString(got.out, "")
		if strings.Contains(left, "\n--   ") {
			t.Errorf("want all judged, but for a key that there is not:\n%s", got.out)
		}
		shown(t, "relay-pty --check-profile against the installed "+a.Name(), "all %d promises hold", strings.Count(got.out, "\nok "))
	})
}

// absent are keys that a profile may do without.
var absent = regexp.MustCompile(`(?m)^--   (stash|interrupt): not judged: the profile has no such keys?\n`)

// Each of these profiles is Claude's with one datum spoilt: the check must name
// it, and nothing else.
func TestProveClaudeShowsBrokenProfiles(t *testing.T) {
	t.Parallel()
	path := alone(t, agentrig.Claude(agentrig.ClaudeNow))[0]
	broken := []struct{ datum, change string }{
		{"prompt", `"prompt":"> "`},
		{"placeholder", `"placeholder":"^Type your message"`},
		{"newline", `"newline":"Enter"`},
		{"stash_shown", `"stash_shown":"put aside"`},
		{"paste_limit", `"paste_limit":5000`},
		{"paste_limit", `"paste_limit":100`},
		{"clear", `"clear":["C-l"]`},
		{"submit", `"submit":"C-l"`},
		{"interrupt", `"interrupt":["C-l"]`},
		{"stash", `"stash":"C-l"`},
		{"busy", `"busy":["❯"]`},
		{"dialog", `"dialog":["❯"]`},
	}
	t.Run("one datum", func(t *testing.T) {
		for _, b := range broken {
			t.Run(b.datum, func(t *testing.T) {
				t.Parallel()
				got := checks(t, overlay(t, `{"name":"spoilt","base":"claude",%s}`, b.change), "--", path)
				if got.code != 1 || !slices.Equal(got.fails(), []string{b.datum}) || got.errs != "" {
					t.Errorf("exit status %d, failed %q, want %q alone\n%s%s", got.code, got.fails(), b.datum, got.out, got.errs)
				}
			})
		}
	})
	shown(t, "relay-pty --check-profile on profiles of Claude Code with one datum spoilt: that datum named, no other", "%d of %d", len(broken), len(broken))
}

// TestProveOverlaysOfRealAgentsAreChecked: what stands on an agent's profile is held against that
// agent as the profile is, and a datum that the overlay spoils is named, no other.
func TestProveOverlaysOfRealAgentsAreChecked(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		argv := append([]string{"--"}, alone(t, a)...)
		for change, fails := range map[string][]string{`"enter_delay_ms":300`: nil, `"prompt":"^never matched "`: {"prompt"}} {
			got := checks(t, append([]string{overlay(t, `{"name":"mine","base":%q,%s}`, a.Profile, change)}, argv...)...)
			if got.code != min(1, len(fails)) || !slices.Equal(got.fails(), fails) || got.errs != "" {
				t.Errorf("%s: exit status %d, failed %q, want %q\n%s%s", change, got.code, got.fails(), fails, got.out, got.errs)
			}
		}
	})
}

// An agent that no profile knows, and that has no model we can speak for: what
// its composer shows can be checked all the same. What it starts and leaves behind is ended.
func TestCheckOfAnOverlayForAnUnknownComposer(t *testing.T) {
	t.Parallel()
	a, err := testrig.Agent(scratch(t), "composer", agents.Config{Look: "bare", Ghost: "Ask anything", Still: true})
	must(t, err)
	argv := append([]string{"--", "sh", "-c", `nohup sleep 600 >/dev/null 2>&1 & exec "$@"`, "sh"}, a.EnvArgv()...)
	good := `{"name":"unknown","prompt":"› ","newline":"C-j","clear":["C-c"],"paste_limit":800%s}`
	got := checks(t, append([]string{overlay(t, good, "")}, argv...)...)
	if got.code != 0 || len(got.fails()) > 0 {
		t.Errorf("exit status %d\n%s%s", got.code, got.out, got.errs)
	}
	for _, says := range []string{
		"ok   prompt: a draft is read", "ok   paste_limit: a paste of 800 bytes shows as it is",
		"ok   paste_limit: a paste of 1001 bytes shows as something shorter",
		"ok   newline: ", "ok   clear: ", "--   submit: not judged: there is no fake model API",
	} {
		if !strings.Contains(got.out, "\n"+says) {
			t.Errorf("missing: %s\n%s", says, got.out)
		}
	}
}

func TestCheckWithoutAnAgent(t *testing.T) {
	binary(t) // takes the PATH of before
	t.Setenv("PATH", "/nowhere")
	for _, c := range []struct {
		args      []string
		out, errs string
	}{
		{nil, "claude: not installed: no claude in PATH\ncodex: not installed: no codex in PATH\ngemini: not installed: no gemini in PATH\nopencode: not installed: no opencode in PATH\nqwen: not installed: no qwen in PATH\n",
			"relay-pty: --check-profile: no agent is installed\nrelay-pty: put one into PATH, or name its command: relay-pty --check-profile -- /path/to/claude\n"},
		{[]string{"claude"}, "",
			"relay-pty: --check-profile: no command of profile claude is installed\nrelay-pty: name one: relay-pty --check-profile AGENT -- COMMAND\n"},
	} {
		if got := checks(t, c.args...); got.code != 125 || got.out != c.out || got.errs != c.errs {
			t.Errorf("%q: exit status %d, %q and %q; want %q and %q", c.args, got.code, got.out, got.errs, c.out, c.errs)
		}
	}
}

func TestRealShellIsChecked(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	must(t, err)
	got := checks(t, "--", strings.Repeat("../", 20)+bash, "--norc")
	if got.code != 0 || !strings.Contains(got.out, "\nok   message: ") || !strings.Contains(got.out, "\nok   quote: ") {
		t.Errorf("exit status %d\n%s%s", got.code, got.out, got.errs)
	}
}

// Ended by a signal in the middle, it ends its agent and empties its directory.
func TestCheckEndsCleanBySignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			a, err := testrig.Agent(scratch(t), "composer", agents.Config{Ghost: "Ask anything"})
			must(t, err)
			tmp := scratch(t)
			cmd := command(t, append([]string{binary(t), "--check-profile", overlay(t, `{"name":"x","prompt":"never matched "}`), "--"}, a.EnvArgv()...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
			var out bytes.Buffer
			cmd.Stdout = &out
			must(t, cmd.Start())
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) // ended already, unless the test failed
			becomes(t, "the answer of an agent that runs", func() bool { _, err := a.State(t.Context()); return err == nil })
			must(t, cmd.Process.Signal(sig))
			cmd.Wait() // the status is looked at below
			if got := cmd.ProcessState.ExitCode(); got != 128+int(sig) {
				t.Errorf("exit status %d, want %d", got, 128+int(sig))
			}
			if strings.Contains(out.String(), "FAIL ") { // what is seen of an agent then is its end
				t.Errorf("it judged its own end:\n%s", out.String())
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			if _, err := a.State(t.Context()); err == nil {
				t.Error("the agent still runs")
			}
		})
	}
}
