package transcript_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// holding starts a process that works in dir and holds the files open, beneath a
// shell that is the child.
func holding(t *testing.T, dir string, files ...string) (child int) {
	t.Helper()
	var open []*os.File
	for _, name := range files {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
		must(t, err)
		defer f.Close()
		open = append(open, f)
	}
	return inheriting(t, dir, open...)
}

// inheriting is holding with files as they were opened.
func inheriting(t *testing.T, dir string, open ...*os.File) (child int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "cat <&3 & echo up; wait")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
	stdin, keep, err := os.Pipe()
	must(t, err)
	cmd.ExtraFiles = append([]*os.File{stdin}, open...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	stdin.Close()
	t.Cleanup(func() { keep.Close(); over(cmd) }) // cat ends with its input, sh with cat
	if up := firstLine(t, out); up != "up" {
		t.Fatalf("a shell that holds files said %q", up)
	}
	return cmd.Process.Pid
}

// texts looks and returns what is new.
func texts(t *testing.T, l *transcript.Log) string {
	t.Helper()
	_, entries, err := l.Look()
	if err != nil && !errors.Is(err, transcript.ErrNoSession) {
		t.Fatal(err)
	}
	return inShort(entries)
}

// soon looks until something is new: a directory's time may stand still for some
// milliseconds.
func soon(t *testing.T, l *transcript.Log) string {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); ; {
		if got := texts(t, l); got != "" {
			return got
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("something new: not within %v", patience)
		}
	}
}

const (
	codexFirst = `{"timestamp":"2026-11-21T05:40:30.420Z","type":"session_meta","payload":{"id":"d4453f37-7d71-4c6d-86b1-5fac8c952941","cwd":%q,"cli_version":"0.169.0","timestamp":"2026-11-21T05:40:30.420Z","source":%s}}` + "\n"
	codexSaid  = `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"message","id":%q,"role":"assistant","content":[{"type":"output_text","text":%q}]}}` + "\n"
)

func TestFollowCodex(t *testing.T) {
	dir, cwd := t.TempDir(), t.TempDir()
	path := func(name string) string {
		write(t, "", dir, "sessions", "2026", "11", "21", name)
		return filepath.Join(dir, "sessions", "2026", "11", "21", name)
	}
	ours, helper, others := path("rollout-1.jsonl"), path("rollout-2.jsonl"), path("rollout-3.jsonl")
	child := holding(t, cwd, ours, helper, filepath.Join(dir, "other.jsonl"))
	l := transcript.Follow(codex.Format, dir, child, epoch)
	if _, _, err := l.Look(); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("before the first row: %v", err)
	}
	appendTo(t, ours, fmt.Sprintf(codexFirst, cwd, `"cli"`)+fmt.Sprintf(codexSaid, "a", "A"))
	appendTo(t, helper, fmt.Sprintf(codexFirst, cwd, `{"subagent":"review"}`)+fmt.Sprintf(codexSaid, "b", "B"))
	appendTo(t, others, fmt.Sprintf(codexFirst, cwd, `"cli"`)+fmt.Sprintf(codexSaid, "c", "C"))
	same(t, "first look", texts(t, l), "a:A")
	appendTo(t, ours, fmt.Sprintf(codexSaid, "a", "A")+fmt.Sprintf(codexSaid, "d", "D"))
	appendTo(t, helper, fmt.Sprintf(codexSaid, "e", "E"))
	same(t, "second look", texts(t, l), "a:D")
	same(t, "no news", texts(t, l), "")
	s, _, err := l.Look()
	if err != nil || s.PID != child || s.Transcript != ours || s.CWD != cwd || s.ID == "" || s.Version != "0.169.0" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Codex reads the rollouts of other processes now and then, which does not make them its own.
func TestFollowCodexThatReadsAnothers(t *testing.T) {
	dir, cwd := t.TempDir(), t.TempDir()
	ours, others := filepath.Join(dir, "rollout-1.jsonl"), filepath.Join(dir, "rollout-2.jsonl")
	appendTo(t, ours, fmt.Sprintf(codexFirst, cwd, `"cli"`)+fmt.Sprintf(codexSaid, "a", "A"))
	appendTo(t, others, fmt.Sprintf(codexFirst, cwd, `"cli"`)+fmt.Sprintf(codexSaid, "b", "B"))
	written, err := os.OpenFile(ours, os.O_APPEND|os.O_RDWR, 0)
	must(t, err)
	defer written.Close()
	read, err := os.Open(others)
	must(t, err)
	defer read.Close()
	if s, _, err := transcript.Follow(codex.Format, dir, inheriting(t, cwd, read), epoch).Look(); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("before its own: %+v, %v", s, err)
	}
	l := transcript.Follow(codex.Format, dir, inheriting(t, cwd, written, read), epoch)
	same(t, "its rollout", texts(t, l), "a:A")
	if s, _, err := l.Look(); err != nil || s.Transcript != ours {
		t.Errorf("%+v, %v, want %s", s, err, ours)
	}
}

// A server that several terminals share holds the rollouts of all of them.
func TestFollowCodexBehindAServer(t *testing.T) {
	dir, cwd, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	ours, others := filepath.Join(dir, "rollout-1.jsonl"), filepath.Join(dir, "rollout-2.jsonl")
	server := holding(t, dir, ours, others)
	child := holding(t, cwd)
	appendTo(t, ours, fmt.Sprintf(codexFirst, cwd, `"vscode"`)+fmt.Sprintf(codexSaid, "a", "A"))
	appendTo(t, others, fmt.Sprintf(codexFirst, elsewhere, `"vscode"`)+fmt.Sprintf(codexSaid, "b", "B"))
	named := func(start string) {
		write(t, fmt.Sprintf(`{"pid":%d,"processIdentity":{"startTicks":%s}}`, server, start), dir, "app-server-daemon", "daemon.pid")
	}
	named("1")
	if _, _, err := transcript.Follow(codex.Format, dir, child, epoch).Look(); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("a dead server's namesake: %v", err)
	}
	named(proc.StartOf(server, ""))
	same(t, "its rollout", texts(t, transcript.Follow(codex.Format, dir, child, epoch)), "a:A")
}

func TestFollowGemini(t *testing.T) {
	dir, cwd := t.TempDir(), t.TempDir()
	child := holding(t, cwd)
	since := time.Now().Add(-time.Second)
	l := transcript.Follow(gemini.Format, dir, child, since)
	if _, _, err := l.Look(); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("no projects: %v", err)
	}
	write(t, fmt.Sprintf(`{"projects":{%q:"work","/else":"else"}}`, cwd), dir, "projects.json")
	row := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":%q,"type":"gemini","content":%q}`+"\n", id, time.Now().UTC().Format(time.RFC3339Nano), text)
	}
	first := func(kind string) string {
		return fmt.Sprintf(`{"sessionId":"s","startTime":%q,"kind":%q}`+"\n", time.Now().UTC().Format(time.RFC3339Nano), kind)
	}
	chats := filepath.Join(dir, "tmp", "work", "chats")
	write(t, first("main")+row("o", "old"), chats, "session-0.jsonl")
	must(t, os.Chtimes(filepath.Join(chats, "session-0.jsonl"), time.Time{}, since.Add(-time.Hour)))
	write(t, first("main"), dir, "tmp", "else", "chats", "session-1.jsonl")
	same(t, "no chat", texts(t, l), "")
	write(t, first("main"), chats, "session-1.jsonl")
	write(t, first("subagent")+row("b", "B"), chats, "session-2.jsonl")
	write(t, row("c", "C"), chats, "abc", "d.jsonl")
	same(t, "a new chat", texts(t, l), "")
	appendTo(t, filepath.Join(chats, "session-1.jsonl"), row("a", "A"))
	same(t, "its reply", soon(t, l), "a:A")
	write(t, first("main")+row("d", "D"), chats, "session-3.jsonl")
	same(t, "after /clear", soon(t, l), "a:D")
	appendTo(t, filepath.Join(chats, "session-1.jsonl"), row("e", "E"))
	same(t, "resumed", soon(t, l), "a:E")
	s, _, err := l.Look()
	if err != nil || s.PID != child || s.CWD != cwd || filepath.Base(s.Transcript) != "session-1.jsonl" {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, `{"projects":{"`+cwd+`":"../../etc"}}`, dir, "projects.json")
	if _, _, err := transcript.Follow(gemini.Format, dir, child, since).Look(); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("a project elsewhere: %v", err)
	}
}

// A process of the same name in the same directory may have begun a chat.
func TestRivals(t *testing.T) {
	if _, known := proc.Rivals(os.Getpid(), "none", "", "/"); !known {
		if runtime.GOOS == "linux" {
			t.Fatal("Linux does not tell who else runs")
		}
		t.Skip("NOT RUN: the system does not tell who else runs")
	}
	cwd, bin := t.TempDir(), t.TempDir()
	child := holding(t, cwd)
	name := filepath.Join(bin, "gemini.js")
	write(t, "read _\n", name)
	run := func(dir string) *exec.Cmd {
		cmd := exec.Command("sh", name)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
		stdin, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		t.Cleanup(func() { stdin.Close(); over(cmd) }) // it ends with its input
		return cmd
	}
	run(bin)
	if pids, _ := proc.Rivals(child, "gemini", "", cwd); len(pids) != 0 {
		t.Errorf("elsewhere: %v", pids)
	}
	other := run(cwd).Process.Pid
	if pids, _ := proc.Rivals(child, "gemini", "", cwd); len(pids) != 1 || pids[0] != other {
		t.Errorf("rivals %v, want %d", pids, other)
	}
	if pids, _ := proc.Rivals(other, "gemini", "", cwd); len(pids) != 0 {
		t.Errorf("its own: %v", pids)
	}
	if !transcript.Rival(child, "gemini", true) {
		t.Error("a young rival does not count")
	}
	if d := proc.Older(child, other); d < 0 || d > 60 {
		t.Errorf("older by %v s", d)
	}
}

// Looking without news costs little.
func TestLookWithoutNews(t *testing.T) {
	dir, cwd := t.TempDir(), t.TempDir()
	rollout := filepath.Join(dir, "rollout-1.jsonl")
	child := holding(t, cwd, rollout)
	appendTo(t, rollout, fmt.Sprintf(codexFirst, cwd, `"cli"`))
	l := transcript.Follow(codex.Format, dir, child, epoch)
	texts(t, l)
	if n := testing.AllocsPerRun(20, func() { l.Look() }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
