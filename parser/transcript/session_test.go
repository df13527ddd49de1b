package transcript_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	claude "relay-pty/inject/agents/claude/log"
	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	qwen "relay-pty/inject/agents/qwen/log"
	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

const (
	idA = "d4453f37-7d71-4c6d-86b1-5fac8c952941"
	idB = "850b6e9c-fbeb-4e57-95dd-cc8e365d9af0"
)

// write makes a file and its directories.
func write(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, []byte(text), 0o600))
}

// sessionFile is as 2.1.329 writes it, less what we do not read.
func sessionFile(pid int, id, more string) string {
	return fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/home/user/project","startedAt":1795239628393,"version":"2.1.329","peerFeatures":["notify_idle"],"asksForConvertedSkills":null%s,"status":"waiting","waitingFor":"permission prompt","updatedAt":1795239628485,"statusUpdatedAt":1795239628484}`, pid, id, more)
}

func TestLocateOwnSession(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name] *")
	pid := os.Getpid()
	own := fmt.Sprint(pid)
	write(t, sessionFile(pid, idA, ""), dir, "sessions", own+".json")
	write(t, "{}", dir, "sessions", own+".0123abcd.key")
	want := transcript.Session{PID: pid, ID: idA, CWD: "/home/user/project", Version: "2.1.329", Status: "waiting", WaitingFor: "permission prompt", StatusAt: time.UnixMilli(1795239628484)}
	got, err := claude.Locate(dir, pid)
	if err != nil || got != want {
		t.Fatalf("before the first turn: %+v, %v", got, err)
	}
	want.Transcript = filepath.Join(dir, "projects", "-home-user-project", idA+".jsonl")
	write(t, "", want.Transcript)
	write(t, "", dir, "projects", "-home-user-project", idB+".jsonl")
	if got, err = claude.Locate(dir, pid); err != nil || got != want {
		t.Fatalf("then: %+v, %v", got, err)
	}
	write(t, sessionFile(pid, idB, ""), dir, "sessions", own+".json") // as /clear does
	if got, err = claude.Locate(dir, pid); err != nil || filepath.Base(got.Transcript) != idB+".jsonl" {
		t.Fatalf("another session: %+v, %v", got, err)
	}
}

// TestFollowClaudeInWhosePrintModeGoesOn: claude -p -c, run by the session's own tool, goes on in
// its transcript (rows as 2.1.329 and 2.1.197 write them, less what we do not read). What it says
// is not the session's word, but its own where it is wrapped itself.
func TestFollowClaudeInWhosePrintModeGoesOn(t *testing.T) {
	row := func(n int, by, text string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"text":%q,"type":"text"}]},"uuid":"u%d","timestamp":"2026-11-28T19:44:02.337Z"%s}`+"\n",
			text, n, by)
	}
	const tui, printed = `,"entrypoint":"cli"`, `,"entrypoint":"sdk-cli"`
	rows := row(1, tui, "one") + row(2, printed, "two") + row(3, tui, "three") + row(4, "", "four")
	for session, want := range map[string]string{tui: "a:one a:three a:four", printed: "a:two a:four", "": "a:one a:two a:three a:four"} {
		dir, pid := t.TempDir(), os.Getpid()
		write(t, sessionFile(pid, idA, session), dir, "sessions", fmt.Sprint(pid)+".json")
		write(t, rows, dir, "projects", "-home-user-project", idA+".jsonl")
		same(t, "with "+session, texts(t, transcript.Follow(claude.Format, dir, pid, epoch)), want)
	}
}

// TestLocateMovedSession: a session that its agents view has moved into the background is the one
// that the process has which runs its job, and nobody else's. The files are as 2.1.332 writes them.
func TestLocateMovedSession(t *testing.T) {
	dir, pid, other := t.TempDir(), os.Getpid(), os.Getppid()
	file := func(pid int) string { return filepath.Join(dir, "sessions", fmt.Sprint(pid)+".json") }
	background := func(job string) string {
		return sessionFile(other, idB, fmt.Sprintf(`,"kind":"bg","jobId":%q,"procStart":%q`, job, proc.StartOf(other, "")))
	}
	path := filepath.Join(dir, "projects", "p", idB+".jsonl")
	write(t, "", path)
	write(t, sessionFile(pid, idA, `,"parkedJobId":"j1"`), file(pid))
	for _, c := range []struct{ job, id string }{{"j2", idA}, {"", idA}, {"j1", idB}} {
		write(t, background(c.job), file(other))
		got, err := claude.Locate(dir, pid)
		if err != nil || got.ID != c.id || got.Job != "j1" || (got.Transcript == path) != (c.id == idB) {
			t.Errorf("beside the job %q: %+v, %v, want %s", c.job, got, err, c.id)
		}
	}
	write(t, sessionFile(other, idB, `,"jobId":"j1","procStart":"1"`), file(other))
	if got, err := claude.Locate(dir, pid); err != nil || got.ID != idA {
		t.Errorf("beside a dead one: %+v, %v", got, err)
	}
}

func TestLocateRefuses(t *testing.T) {
	pid := os.Getpid()
	for name, file := range map[string]string{
		"another pid":      sessionFile(pid+1, idA, ""),
		"a dead namesake":  sessionFile(pid, idA, `,"procStart":"1"`),
		"an id with paths": sessionFile(pid, "../../../../etc/passwd-aaaa-bbbb-cccc", ""),
		"an id with a *":   sessionFile(pid, strings.Replace(idA, "d", "*", 1), ""),
		"no JSON":          `{"pid":`,
	} {
		dir := t.TempDir()
		write(t, file, dir, "sessions", fmt.Sprint(pid)+".json")
		if got, err := claude.Locate(dir, pid); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := claude.Locate(t.TempDir(), pid); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("no files: %v", err)
	}
	if _, err := claude.Locate(filepath.Join(t.TempDir(), "none"), pid); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("no directory: %v", err)
	}
}

func TestLocateBehindAScript(t *testing.T) {
	cmd := exec.Command("sh", "-c", "cat <&3 & echo $!; wait") // a shell gives a background job no stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	stdin, keep, err := os.Pipe()
	must(t, err)
	cmd.ExtraFiles = []*os.File{stdin}
	must(t, cmd.Start())
	stdin.Close()
	defer func() { keep.Close(); over(cmd) }() // cat ends with its input, sh with cat
	grandchild, err := strconv.Atoi(firstLine(t, out))
	must(t, err)
	dir := t.TempDir()
	start := fmt.Sprintf(`,"procStart":%q`, proc.StartOf(grandchild, ""))
	write(t, sessionFile(grandchild, idA, start), dir, "sessions", fmt.Sprint(grandchild)+".json")
	write(t, sessionFile(os.Getpid(), idB, ""), dir, "sessions", fmt.Sprint(os.Getpid())+".json") // a stranger
	write(t, sessionFile(1<<30, idB, ""), dir, "sessions", fmt.Sprint(1<<30)+".json")             // a dead one
	got, err := claude.Locate(dir, cmd.Process.Pid)
	if err != nil || got.PID != grandchild || got.ID != idA {
		t.Errorf("%+v, %v, want the session of %d", got, err, grandchild)
	}
}

// TestNothingButFilesTellsOfSessions: a fifo in the place of what an agent tells of itself would be
// waited for.
func TestNothingButFilesTellsOfSessions(t *testing.T) {
	own := fmt.Sprint(os.Getpid()) + ".json"
	for _, c := range []struct {
		format transcript.Format
		file   string
	}{
		{claude.Format, "sessions/" + own},
		{codex.Format, "app-server-daemon/daemon.pid"},
		{gemini.Format, "projects.json"},
		{qwen.Format, "sessions/" + own},
	} {
		t.Run(c.format.Name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, c.file)
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			must(t, syscall.Mkfifo(file, 0o600))
			looked := make(chan error, 1)
			go func() {
				_, _, err := transcript.Follow(c.format, dir, os.Getpid(), time.Time{}).Look()
				looked <- err
			}()
			select {
			case err := <-looked:
				if err == nil {
					t.Error("a session was found")
				}
			case <-time.After(patience):
				t.Fatalf("a look at the log: not within %v", patience)
			}
		})
	}
}
