package agentrig_test

import (
	"bytes"
	"crypto/sha512"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
)

// now is the release of Claude Code that stands for all packages here.
var now = agentrig.ClaudeNow

// npm stands in for the package manager: it has the archive of a package that
// does nothing, and notes that it was called. Lines of a test stand for DOES.
const npm = `#!/bin/sh
echo called >>"$NOTES"
while [ $# -gt 1 ]; do
  case "$1" in --pack-destination) to="$2" ;; esac
  shift
done
DOES
cat "$ARCHIVE" >"$to/x.tgz"
`

// tools are what the script runs besides npm.
var tools = strings.Fields("bash sh uname mkdir mktemp cat ln readlink rm mv sleep du cut " +
	"sed head tar gzip grep chmod flock sha512sum")

// fetcher is an environment for .ci/agents with an empty cache, and with an npm that
// does something before it makes the archive.
func fetcher(t *testing.T, does string, without ...string) (env []string, cache string) {
	t.Helper()
	dir := t.TempDir()
	bin, cache := filepath.Join(dir, "bin"), filepath.Join(dir, "cache")
	must(t, os.Mkdir(bin, 0o700))
	must(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(strings.Replace(npm, "DOES", does, 1)), 0o700))
	for _, tool := range tools {
		path, err := exec.LookPath(tool)
		if tool != "flock" { // which it does without
			testrig.Require(t, tool, err)
		}
		if err == nil && !strings.Contains(" "+strings.Join(without, " ")+" ", " "+tool+" ") {
			must(t, os.Symlink(path, filepath.Join(bin, tool)))
		}
	}
	pack(t, dir)
	return []string{
		"PATH=" + bin, "HOME=" + dir, "RELAY_CACHE=" + cache, "RELAY_CLAUDE=",
		"ARCHIVE=" + filepath.Join(dir, "x.tgz"), "RELAY_PINS=" + filepath.Join(dir, "pins"),
		"NOTES=" + filepath.Join(dir, "notes"),
	}, cache
}

// pack makes the archive, and pins it.
func pack(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{"package.json": `{"version": "` + now + `"}` + "\n", "claude": "#!/bin/sh\nexit 1\n"} {
		path := filepath.Join(dir, "package", name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o700))
	}
	archive := filepath.Join(dir, "x.tgz")
	must(t, exec.Command("tar", "-czf", archive, "-C", dir, "package").Run())
	b, err := os.ReadFile(archive)
	must(t, err)
	path := filepath.Join(dir, "pins", "claude", "rig", "pins.json")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	row := `{"directory": "claude-code-PLATFORM", "version": "%s", "package": "c@%s", "runs": "claude", "sha512": {"any": "%x"}}`
	must(t, os.WriteFile(path, fmt.Appendf(nil, "[\n"+row+"\n]\n", now, now, sha512.Sum512(b)), 0o600))
}

func fetches(env []string, names ...string) *exec.Cmd {
	cmd := exec.Command("bash", append([]string{"../../../.ci/agents"}, names...)...)
	cmd.Env = env
	return cmd
}

func TestConcurrentFetchesAreOne(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]string{"flock": "", "link": "flock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, cache := fetcher(t, "sleep 1", without)
			var all []*exec.Cmd
			var outs [3]bytes.Buffer
			for i := range outs {
				cmd := fetches(env, "claude-code-"+now)
				cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
				must(t, cmd.Start())
				all = append(all, cmd)
			}
			for i, cmd := range all {
				if err := cmd.Wait(); err != nil {
					t.Errorf("%v: %s", err, &outs[i])
				}
			}
			notes, err := os.ReadFile(filepath.Join(filepath.Dir(cache), "notes"))
			if err != nil || string(notes) != "called\n" {
				t.Errorf("npm was called %q, %v; want once", notes, err)
			}
			checkCache(t, cache, 1)
		})
	}
}

// checkCache checks that the cache holds n packages and nothing unfinished.
func checkCache(t *testing.T, cache string, n int) {
	t.Helper()
	entries, err := os.ReadDir(cache)
	must(t, err)
	for _, e := range entries {
		if e.Name() == ".lock" {
			continue // an empty file that is locked while somebody fetches
		}
		if n--; strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left in the cache", e.Name())
		}
	}
	if n != 0 {
		t.Errorf("%d packages too few in %v", n, entries)
	}
}

func TestFetchThatIsEndedLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]string{"flock": "", "link": "flock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := filepath.Join(t.TempDir(), "began")
			must(t, syscall.Mkfifo(began, 0o600))
			env, cache := fetcher(t, "echo >"+began+"\nexec sleep 60", without)
			cmd := fetches(env, "claude-code")
			must(t, cmd.Start())
			_, err := os.ReadFile(began) // until npm runs
			must(t, err)
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
				t.Errorf("ended with %v, want status 143", err)
			}
			checkCache(t, cache, 0)
		})
	}
}

func TestUnknownAgentIsNotFetched(t *testing.T) {
	t.Parallel()
	env, _ := fetcher(t, "")
	out, err := fetches(env, "nosuch").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no agent is called nosuch") {
		t.Errorf("got %v, %s", err, out)
	}
}

// A fetch that fails says why.
func TestWithoutNetworkTheReasonIsTold(t *testing.T) {
	t.Parallel()
	env, cache := fetcher(t, "echo npm error code ENOTFOUND >&2\nexit 1")
	out, err := fetches(env, "claude-code-"+now).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "could not be fetched from npm: ENOTFOUND\n") {
		t.Errorf("got %v, %s", err, out)
	}
	checkCache(t, cache, 0)
}

// TestAnotherArchiveIsRefused: a package is what was pinned, or is not there.
func TestAnotherArchiveIsRefused(t *testing.T) {
	t.Parallel()
	env, cache := fetcher(t, `echo more >>"$ARCHIVE"`)
	out, err := fetches(env, "claude-code").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "c@"+now+" is not the archive that was pinned") {
		t.Errorf("got %v, %s", err, out)
	}
	checkCache(t, cache, 0)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
