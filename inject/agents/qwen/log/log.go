// Package log reads the session files and the chats of Qwen Code.
package log

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// Format is of Qwen Code, as 0.24.4 writes it (recorded, see the tests). Each process has a file
// that names its session, and each session a chat, which is made at its first prompt and appended
// to within some milliseconds; /clear and /resume go on in another one. Sub-agents have files of
// their own. A reply that was cut off has no count of its tokens, and no other sign.
var Format = transcript.Format{Name: "qwen", Follow: follow, All: "projects/*/chats/*.jsonl", Row: readRow, Endless: true}

// follower follows the one chat at a time that a process's session file names.
type follower struct {
	dir    string
	child  int
	reader *transcript.Reader
}

func follow(f transcript.Format, dir string, child int, since time.Time) transcript.Source {
	return &follower{dir: dir, child: child, reader: transcript.NewReader(f, since)}
}

func (f *follower) Look() (transcript.Session, []transcript.News, error) {
	s, found := transcript.Session{}, false
	for _, pid := range proc.Group(f.child) { // it starts itself again
		if s, found = session(f.dir, pid); found {
			break
		}
	}
	if !found {
		return s, nil, fmt.Errorf("%w of process %d in %s", transcript.ErrNoSession, f.child, f.dir)
	}
	paths, _ := filepath.Glob(filepath.Join(transcript.EscapeGlob(f.dir), "projects", "*", "chats", s.ID+".jsonl"))
	if len(paths) == 0 {
		return s, nil, nil // nothing was said yet
	}
	s.Transcript = paths[0]
	entries, err := f.reader.Poll(s.Transcript)
	return s, []transcript.News{{Of: s.Transcript, Sure: true, Entries: entries}}, err
}

// session is what the file of a process tells; not found is what a dead one of the same number
// left.
func session(dir string, pid int) (s transcript.Session, found bool) {
	var f struct {
		PID     int    `json:"pid"`
		Start   string `json:"procStart"` // the machine's start, a colon, and in clock ticks as in /proc/PID/stat
		ID      string `json:"sessionId"`
		CWD     string `json:"cwd"`
		Version string `json:"qwenVersion"`
	}
	err := transcript.ReadJSON(filepath.Join(dir, "sessions", strconv.Itoa(pid)+".json"), &f)
	if err != nil || f.PID != pid {
		return s, false
	}
	_, ticks, _ := strings.Cut(f.Start, ":")
	plain := strings.Trim(f.ID, "0123456789abcdefABCDEF-") == "" // it stands in a path
	if f.ID == "" || !plain || ticks != proc.StartOf(pid, ticks) {
		return s, false
	}
	return transcript.Session{PID: pid, ID: f.ID, CWD: f.CWD, Version: f.Version}, true
}

type record struct {
	UUID       string    `json:"uuid"`
	Timestamp  time.Time `json:"timestamp"`
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	Provenance string    `json:"provenance"`
	Message    struct {
		Parts []part `json:"parts"`
	} `json:"message"`
	Payload struct {
		Display string  `json:"displayText"` // what was typed, if more was sent
		Event   failure `json:"uiEvent"`
	} `json:"systemPayload"`
	Usage json.RawMessage `json:"usageMetadata"`
}

// files begins what Qwen Code adds to a prompt that names some.
const files = "\n--- Content from referenced files ---"

func readRow(row []byte) ([]transcript.Entry, error) {
	var is struct{ Type string }
	if err := json.Unmarshal(row, &is); err != nil {
		return nil, err
	}
	if is.Type != "user" && is.Type != "assistant" && is.Type != "tool_result" && is.Type != "system" {
		return nil, nil
	}
	var r record
	if err := json.Unmarshal(row, &r); err != nil {
		if is.Type == "system" {
			err = nil // of one of the many other kinds
		}
		return nil, err
	}
	if r.UUID == "" || r.Timestamp.IsZero() {
		return nil, fmt.Errorf("row of type %s without time or uuid", r.Type)
	}
	steered := r.Subtype == "mid_turn_user_message"
	entry := transcript.Entry{Kind: transcript.Assistant, UUID: r.UUID, Time: r.Timestamp, Cut: len(r.Usage) == 0}
	switch {
	case r.Type == "assistant" && r.Subtype == "":
	case r.Type == "user" && (r.Subtype == "" || steered) && (r.Provenance == "real_user" || r.Provenance == ""):
		entry.Kind, entry.Cut, entry.Opens = transcript.User, false, !steered
	default:
		return r.beside(), nil // what Qwen Code itself, a schedule or a task adds
	}
	if r.Payload.Display != "" && entry.Kind == transcript.User {
		entry.Text = r.Payload.Display
		return []transcript.Entry{entry}, nil
	}
	var entries []transcript.Entry
	for i, p := range r.Message.Parts {
		if entry.Kind == transcript.User && strings.HasPrefix(p.Text, files) {
			break // and what is in them
		}
		if p.Text != "" && !p.Thought {
			entry.Index, entry.Text = i, p.Text
			entries = append(entries, entry)
		}
		if tool := p.Call; entry.Kind == transcript.Assistant && tool != nil && !tool.talks() {
			entries = append(entries, transcript.Entry{Kind: transcript.Tool, UUID: r.UUID + "/tool", Index: i, Time: r.Timestamp, Text: tool.Name})
		}
	}
	return entries, nil
}
