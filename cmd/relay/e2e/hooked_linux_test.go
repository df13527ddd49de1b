package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	random "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/parser"
)

// hookedAgent names a fake agent that takes hooks by its command line, runs them and keeps a log as
// Claude Code does. At random it kills some hooks.
const hookedAgent = "hooked"

func init() { ownAgents[hookedAgent] = runHooked }

// The environment of that agent: where its log is, and the seed of its choices and how many hooks
// of each kind it is to kill in all of its lives.
const (
	hookedHome   = "HOOKED_HOME"
	hookedChance = "HOOKED_CHANCE"
)

// The kinds of hooks, as the list of those that were killed names them.
const (
	killedHook   = "hook"
	killedWaiter = "waiter"
)

// hookLine is a hook of Claude Code's settings.
type hookLine struct {
	Command string
	Wakes   bool `json:"asyncRewake"`
}

// hooked is such an agent. Its loop follows what the composer tells; hooks that wait beside it
// bring what they got.
type hooked struct {
	hooks map[string][]struct{ Hooks []hookLine }
	home  string
	kills int
	rnd   *random.Rand  // the loop's alone
	woken chan string   // what one that waited has brought, "" for nothing
	waits bool          // one waits; the loop's alone
	took  time.Duration // how long a hook took last; the loop's alone
	id    string        // of the session

	mu sync.Mutex // of the log and of the list of kills
}

// runHooked is the agent, on this process's terminal.
func runHooked() int {
	h := &hooked{home: os.Getenv(hookedHome), woken: make(chan string), took: 20 * time.Millisecond}
	lives, err := os.ReadDir(filepath.Join(h.home, "sessions"))
	var seed uint64
	if err == nil {
		_, err = fmt.Sscan(os.Getenv(hookedChance), &seed, &h.kills)
	}
	h.rnd = random.New(random.NewPCG(seed, uint64(len(lives))))
	at := slices.Index(os.Args, "--settings")
	var settings struct {
		Hooks map[string][]struct{ Hooks []hookLine }
	}
	events := filepath.Join(h.home, fmt.Sprint("events-", os.Getpid()))
	if err == nil {
		err = os.Setenv(agents.EnvEvents, events)
	}
	if err == nil && at > 0 {
		err = json.Unmarshal([]byte(os.Args[at+1]), &settings)
	}
	if h.hooks = settings.Hooks; err != nil || h.hooks == nil {
		fmt.Fprintf(os.Stderr, "no hooks in %q: %v\n", os.Args, err)
		return 1
	}
	b := make([]byte, 16)
	rand.Read(b)
	h.id = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	h.says("idle")
	go h.follow(events)
	return testrig.RunAgent("composer")
}

// follow does what an agent does at the moments of its composer.
func (h *hooked) follow(path string) {
	var f *os.File
	var rest []byte
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case text := <-h.woken:
			if h.waits = false; text != "" {
				h.turn(text)
			}
			continue
		case <-tick.C:
		}
		if f == nil {
			f, _ = os.Open(path) // not there yet
			continue
		}
		more, _ := io.ReadAll(f) // what is there
		rest = append(rest, more...)
		for {
			line, after, whole := bytes.Cut(rest, []byte("\n"))
			if !whole {
				break
			}
			rest = after
			var e agents.Event
			if json.Unmarshal(line, &e) == nil {
				h.event(e)
			}
		}
	}
}

func (h *hooked) event(e agents.Event) {
	switch e.Kind {
	case agents.KindStart:
		h.runs("SessionStart")
		h.begins("SessionStart")
	case agents.KindSubmit:
		h.turn(e.Text)
	}
}

// turn is what follows a prompt: it is logged, tools run, and the agent is at rest again.
func (h *hooked) turn(prompt string) {
	h.says("busy")
	h.logs("user", "message", map[string]any{"role": "user", "content": prompt})
	h.runs("UserPromptSubmit")
	for range h.rnd.IntN(4) {
		h.runs("PostToolUse")
	}
	h.runs("Stop")
	h.says("idle")
	if h.rnd.IntN(3) > 0 { // else what comes next is for who types
		h.begins("Stop")
	}
}

// runs runs the hooks that the agent waits for. What they give it, it reads, if they end well.
func (h *hooked) runs(event string) {
	for _, hook := range h.hooks[event] {
		for _, line := range hook.Hooks {
			if line.Wakes {
				continue
			}
			began := time.Now()
			out, _, status := h.run(line.Command, h.dooms(killedHook, h.took))
			if status != 0 {
				continue
			}
			h.took = time.Since(began)
			var answer struct {
				Out struct{ AdditionalContext string } `json:"hookSpecificOutput"`
			}
			if json.Unmarshal(out, &answer) == nil {
				h.logs("attachment", "attachment", map[string]any{
					"type": "hook_additional_context", "content": []string{answer.Out.AdditionalContext},
				})
			}
		}
	}
}

// begins begins the hooks that wait beside the agent, and may wake it.
func (h *hooked) begins(event string) {
	for _, hook := range h.hooks[event] {
		for _, line := range hook.Hooks {
			if !line.Wakes || h.waits {
				continue
			}
			h.waits = true
			d := h.dooms(killedWaiter, h.took)
			go func() {
				_, errs, status := h.run(line.Command, d)
				text := ""
				if status == 2 {
					text = "<task-notification>\n<summary>" + parser.WakeTitle + "</summary>\n</task-notification>\n" +
						"<system-reminder>\n" + parser.WakeTitle + ":\n " + string(errs) + "\n</system-reminder>"
				}
				h.woken <- text
			}()
		}
	}
}

// alarm is told of the first word.
type alarm struct {
	bytes.Buffer
	once sync.Once
	rung chan struct{}
}

func (a *alarm) Write(p []byte) (int, error) {
	a.once.Do(func() { close(a.rung) })
	return a.Buffer.Write(p)
}

// doom is when a hook is killed: after a while, or, where that is 0, at its first word.
type doom struct {
	kind  string
	comes bool
	after time.Duration
}

// dooms reports whether a hook is to be killed, as long as not enough of its kind were, in all
// lives.
func (h *hooked) dooms(kind string, longest time.Duration) doom {
	killed, _ := os.ReadFile(filepath.Join(h.home, "killed")) // none yet
	few := bytes.Count(killed, []byte(kind+"\n")) < h.kills
	d := doom{kind: kind, comes: few && h.rnd.IntN(3) > 0}
	if h.rnd.IntN(3) > 0 {
		d.after = time.Duration(h.rnd.Int64N(int64(longest)))
	}
	return d
}

// run runs a command line in a process group of its own and returns what it said, which does not
// count when it was killed.
func (h *hooked) run(line string, d doom) (out, errs []byte, status int) {
	said, told := alarm{rung: make(chan struct{})}, alarm{rung: make(chan struct{})}
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("{}"), &said, &told
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Start() != nil {
		return nil, nil, 1
	}
	ended := make(chan struct{})
	var killer sync.WaitGroup
	if d.comes {
		killer.Go(func() {
			var when <-chan time.Time
			if d.after > 0 {
				when = time.After(d.after)
			}
			select {
			case <-when:
			case <-said.rung:
			case <-told.rung:
			case <-ended:
				return // and its number may be another's
			}
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone: well
		})
	}
	cmd.Wait() // its status tells
	close(ended)
	killer.Wait()
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		h.writes("killed", d.kind+"\n")
	}
	return said.Bytes(), told.Bytes(), cmd.ProcessState.ExitCode()
}

// says tells the agent's state in its session file, as Claude Code does.
func (h *hooked) says(status string) {
	text, err := json.Marshal(map[string]any{
		"pid": os.Getpid(), "sessionId": h.id, "cwd": "/", "status": status, "statusUpdatedAt": time.Now().UnixMilli(),
	})
	path := filepath.Join(h.home, "sessions", fmt.Sprint(os.Getpid(), ".json"))
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the wrapper goes by the screen then
	}
}

// logs appends a row to the agent's log, which is what its model got.
func (h *hooked) logs(kind, field string, value any) {
	b := make([]byte, 8)
	rand.Read(b)
	row, err := json.Marshal(map[string]any{
		"type": kind, field: value, "uuid": fmt.Sprintf("%x", b), "origin": origin(value),
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
	})
	if err == nil {
		h.writes(filepath.Join("projects", "p", h.id+".jsonl"), string(row)+"\n")
	}
}

// origin is who a row says it is of.
func origin(value any) any {
	text := fmt.Sprint(value.(map[string]any)["content"])
	if strings.HasPrefix(text, "<task-notification>") {
		return map[string]string{"kind": "task-notification"}
	}
	return map[string]string{"kind": "human"}
}

// writes appends to a file; what cannot be written, the books miss.
func (h *hooked) writes(name, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(h.home, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(text)
}
