// Package log reads the rollouts of the Codex CLI.
package log

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// Format is of Codex CLI, as 0.169.0 writes it (recorded, see the tests). A thread's
// rollout is made at its first prompt and stays open; rows are appended within
// some milliseconds. /new begins another one in the same process, and a fork one
// that refers to the rows of the first. What was said in a turn that was
// interrupted is not logged; a prompt that was queued is once its turn begins.
// The thread that makes titles has no rollout, sub-agents have their own.
var Format = transcript.Format{Name: "codex", Serves: "app-server", Follow: follow, All: "sessions/*/*/*/rollout-*.jsonl", Row: readRow}

// rollouts finds the rollouts that the process holds open for writing: it reads
// those of other processes now and then. A server that several terminals share (Codex
// without --no-daemon) is in no terminal's session: then those that it holds may be ours.
type rollouts struct {
	dir     string
	child   int
	readers *transcript.Readers

	pids    []int // of the agent, as of …
	grouped time.Time
	pid     int             // of the one that was found to hold some
	metas   map[string]meta // by path; of none that is a person's: zero
	open    []string
	shared  bool // by the server
	scanned time.Time
}

// meta is a rollout's first row.
type meta struct {
	ID        string          `json:"id"`
	CWD       string          `json:"cwd"`
	Timestamp time.Time       `json:"timestamp"`
	Version   string          `json:"cli_version"`
	Source    json.RawMessage `json:"source"`        // an object for sub-agents
	Thread    string          `json:"thread_source"` // user; older versions do not tell
}

func follow(f transcript.Format, dir string, child int, since time.Time) transcript.Source {
	return &rollouts{dir: dir, child: child, readers: transcript.NewReaders(f, since), metas: map[string]meta{}}
}

// regroup is the least time between two searches for processes.
const regroup = 2 * time.Second

func (c *rollouts) Look() (transcript.Session, []transcript.News, error) {
	all, err := c.poll()
	if now := time.Now(); !transcript.Told(all) && (len(c.open) == 0 || now.Sub(c.scanned) > transcript.Rescan) {
		c.scan()
		c.scanned = now
		more, err2 := c.poll()
		all = more
		if err == nil {
			err = err2
		}
	}
	if len(c.open) == 0 {
		return transcript.Session{}, nil, fmt.Errorf("%w of process %d: it holds no rollout open", transcript.ErrNoSession, c.child)
	}
	path := c.open[len(c.open)-1]
	m := c.metas[path]
	return transcript.Session{PID: c.pid, ID: m.ID, CWD: m.CWD, Version: m.Version, Transcript: path}, all, err
}

// poll returns the news of the rollouts that are known.
func (c *rollouts) poll() ([]transcript.News, error) {
	var all []transcript.News
	var failed error
	for _, path := range c.open {
		entries, changed, err := c.readers.Poll(path)
		if err != nil {
			failed = err
		}
		all = append(all, transcript.News{Of: path, Sure: !c.shared, Born: c.metas[path].Timestamp, Changed: changed, Entries: entries})
	}
	return all, failed
}

// scan finds the rollouts.
func (c *rollouts) scan() {
	c.open, c.shared = nil, false
	if now := time.Now(); now.Sub(c.grouped) > regroup {
		c.pids, c.grouped = proc.Group(c.child), now
	}
	for _, pid := range c.pids {
		if c.open = c.threads(pid); len(c.open) > 0 {
			c.pid = pid
			return
		}
	}
	c.shared = true
	cwd := proc.Directory(proc.Main(c.child, "codex"))
	for _, path := range c.threads(c.server()) {
		if proc.Same(c.metas[path].CWD, cwd) {
			c.open = append(c.open, path)
		}
	}
}

// threads returns the rollouts that pid writes, without those of sub-agents.
func (c *rollouts) threads(pid int) []string {
	var paths []string
	for _, path := range proc.Written(pid, isRollout) {
		if _, known := c.metas[path]; !known {
			m, err := metaOf(path)
			if err != nil {
				continue // its first row is not there yet
			}
			c.metas[path] = m
		}
		if c.metas[path].ID != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func isRollout(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "rollout-") && strings.HasSuffix(base, ".jsonl")
}

// server is the process of the app server that runs for the directory, or 0.
func (c *rollouts) server() int {
	var file struct {
		PID      int `json:"pid"`
		Identity struct {
			Start json.Number `json:"startTicks"`
		} `json:"processIdentity"`
	}
	err := transcript.ReadJSON(filepath.Join(c.dir, "app-server-daemon", "daemon.pid"), &file)
	if err != nil || file.Identity.Start.String() != proc.StartOf(file.PID, "") {
		return 0
	}
	return file.PID
}

// metaOf reads a rollout's first row; the zero value is of a sub-agent.
func metaOf(path string) (meta, error) {
	row, err := transcript.FirstRow(path)
	if err != nil {
		return meta{}, err
	}
	r := struct {
		Type    string `json:"type"`
		Payload meta   `json:"payload"`
	}{}
	if err := json.Unmarshal(row, &r); err != nil || r.Type != "session_meta" {
		return meta{}, fmt.Errorf("read %s: no session_meta: %w", path, err)
	}
	m := r.Payload
	if len(m.Source) > 0 && m.Source[0] != '"' || m.Thread != "" && m.Thread != "user" {
		return meta{}, nil
	}
	return m, nil
}

type record struct {
	Timestamp time.Time       `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type responseItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	TurnID  string `json:"turn_id"`
	Role    string `json:"role"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Call   string          `json:"call_id"`
	Output json.RawMessage `json:"output"` // of a tool: a text, or a list of them
	called
	ended
	Passed struct {
		Metadata []struct {
			Provenance struct {
				Type string `json:"type"`
			} `json:"provenance"`
		} `json:"content_item_metadata"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

func readRow(row []byte) ([]transcript.Entry, error) {
	var r record
	if err := json.Unmarshal(row, &r); err != nil {
		return nil, err
	}
	if r.Type != "response_item" && r.Type != "event_msg" {
		return nil, nil
	}
	var item responseItem
	if err := json.Unmarshal(r.Payload, &item); err != nil {
		return nil, nil // one of the many other kinds
	}
	switch {
	case r.Timestamp.IsZero():
		return nil, fmt.Errorf("row of type %.50q without timestamp", r.Type)
	case r.Type == "event_msg":
		return item.event(r.Timestamp), nil
	case item.Type == "message":
		return item.entries(r.Timestamp), nil
	case item.Type == "function_call_output":
		return append(item.handed(r.Timestamp), item.begun(r.Timestamp)...), nil
	}
	return item.tool(r.Timestamp), nil
}

// handed is what a tool of ours handed over.
func (item *responseItem) handed(at time.Time) []transcript.Entry {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(item.Output, &parts) != nil {
		return nil // one text: of another tool
	}
	for i, p := range parts {
		if text := transcript.FromTool(p.Text); text != "" {
			return []transcript.Entry{{Kind: transcript.Handed, UUID: item.Call, Index: i, Time: at, Text: text}}
		}
	}
	return nil
}

// entries are the texts of a message that is the model's or a person's.
func (item *responseItem) entries(at time.Time) []transcript.Entry {
	kind := map[string]transcript.Kind{"assistant": transcript.Assistant, "user": transcript.User}[item.Role]
	if kind == "" {
		return nil // developer: Codex itself
	}
	id := item.ID
	if id == "" { // older versions
		id = fmt.Sprintf("%s %s", item.Role, at.Format(time.RFC3339Nano))
	}
	var entries []transcript.Entry
	for i, c := range item.Content {
		if c.Type == "output_text" && kind == transcript.Assistant || c.Type == "input_text" && kind == transcript.User && item.typed(i) {
			entries = append(entries, transcript.Entry{Kind: kind, UUID: id, Index: i, Time: at, Text: c.Text})
		}
	}
	return entries
}

// typed reports whether the text is a person's. What Codex adds as the user, such as
// <environment_context> or <turn_aborted>, says so, in older versions by its tag.
func (item *responseItem) typed(i int) bool {
	if i < len(item.Passed.Metadata) {
		return item.Passed.Metadata[i].Provenance.Type == "user"
	}
	return !strings.HasPrefix(item.Content[i].Text, "<") && !strings.HasPrefix(item.Content[i].Text, "# AGENTS.md")
}
