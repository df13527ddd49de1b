package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay-pty/parser/transcript/proc"
)

// gemini is Gemini CLI, as 0.61.0 writes it (recorded, see the tests). Each project
// has a directory, and each session a file in it, which is made when the composer
// shows and appended to within some milliseconds; /clear begins another one,
// /resume goes on in an old one. No process holds a file open or is named in one.
// A row is written again with the results of the tools that it called. Blanks at
// either end of a reply, zero-width characters (U+200B to U+200F, U+FEFF) and HTML
// comments are not logged, nor is a reply that was interrupted. Messages
// that were queued in a turn stand joined in one row. Sub-agents have files of
// their own, further down.
var gemini = Format{Name: "gemini", follow: followGemini, all: "tmp/*/chats/*.json*", row: geminiRow, endless: true}

// geminiChats finds the chats of the directory that the process works in.
type geminiChats struct {
	dir     string
	child   int
	since   time.Time
	readers *readers

	pid     int
	cwd     string
	chats   string    // the project's directory of chats, empty while there is none
	listed  time.Time // when
	changed time.Time // the directory, as of then
	live    []string  // the chats that changed since we began
	metas   map[string]geminiMeta
	session Session
}

// geminiMeta is a chat's first row.
type geminiMeta struct {
	ID    string    `json:"sessionId"`
	Start time.Time `json:"startTime"`
	Kind  string    `json:"kind"`
}

func followGemini(f Format, dir string, child int, since time.Time) source {
	return &geminiChats{
		dir: dir, child: child, since: since,
		readers: newReaders(f, since), metas: map[string]geminiMeta{},
	}
}

func (g *geminiChats) look() (Session, []news, error) {
	if g.chats == "" {
		g.pid = proc.Main(g.child, g.readers.format.Name)
		g.cwd = proc.Directory(g.pid)
		if g.chats = g.project(); g.chats == "" {
			return Session{}, nil, fmt.Errorf("%w of process %d: no chats of %s", ErrNoSession, g.child, g.cwd)
		}
	}
	all, err := g.poll()
	if !told(all) && g.list() {
		all, err = g.poll()
	}
	return g.session, all, err
}

// project is the directory of chats of the project in cwd.
func (g *geminiChats) project() string {
	var file struct {
		Projects map[string]string `json:"projects"` // names of directories by path
	}
	b, err := os.ReadFile(filepath.Join(g.dir, "projects.json"))
	if err != nil || json.Unmarshal(b, &file) != nil {
		return ""
	}
	name := file.Projects[g.cwd]
	if name == "" || name != filepath.Base(name) {
		return ""
	}
	return filepath.Join(g.dir, "tmp", name, "chats")
}

// list finds the chats that changed since we began, when the directory did or it
// is a while ago. It reports whether it looked.
func (g *geminiChats) list() bool {
	info, err := os.Stat(g.chats)
	now := time.Now()
	if err != nil || info.ModTime().Equal(g.changed) && now.Sub(g.listed) < rescan {
		return false
	}
	g.listed, g.changed = now, info.ModTime()
	files, _ := os.ReadDir(g.chats)
	g.live = g.live[:0]
	for _, f := range files {
		path := filepath.Join(g.chats, f.Name())
		if !strings.HasPrefix(f.Name(), "session-") || !strings.HasSuffix(f.Name(), ".jsonl") {
			continue
		}
		if info, err := f.Info(); err == nil && !info.ModTime().Before(g.since.Truncate(time.Second)) && g.main(path) {
			g.live = append(g.live, path)
		}
	}
	return true
}

// main reports whether the chat is a person's.
func (g *geminiChats) main(path string) bool {
	m, known := g.metas[path]
	if !known {
		row, err := firstRow(path)
		if err != nil || json.Unmarshal(row, &m) != nil {
			return false // not there yet
		}
		g.metas[path] = m
	}
	return m.Kind != "subagent"
}

// poll returns the news of the chats that are known.
func (g *geminiChats) poll() ([]news, error) {
	var all []news
	var failed error
	for _, path := range g.live {
		entries, err := g.readers.poll(path)
		if err != nil {
			failed = err
		}
		one := news{of: path, born: g.metas[path].Start, entries: entries}
		if info := g.readers.by[path].file; info != nil {
			one.changed = info.ModTime()
		}
		if len(entries) > 0 || g.session.ID == "" {
			g.session = Session{PID: g.pid, ID: g.metas[path].ID, CWD: g.cwd, Transcript: path}
		}
		all = append(all, one)
	}
	return all, failed
}

type geminiRecord struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Display   json.RawMessage `json:"displayContent"` // what was typed, if more was sent
}

func geminiRow(row []byte) ([]Entry, error) {
	var r geminiRecord
	if err := json.Unmarshal(row, &r); err != nil {
		return nil, err
	}
	kind, known := map[string]Kind{"user": User, "gemini": Assistant, "error": TurnEnd, "info": TurnEnd}[r.Type]
	if !known {
		return nil, nil // $set: of the whole chat, again
	}
	at, err := time.Parse(time.RFC3339, r.Timestamp)
	if err != nil || r.ID == "" {
		return nil, fmt.Errorf("row of type %s without time or id: %w", r.Type, err)
	}
	if kind == TurnEnd {
		text := ""
		if r.Type == "info" && (json.Unmarshal(r.Content, &text) != nil || text != "Request cancelled.") {
			return nil, nil
		}
		return []Entry{{Kind: TurnEnd, UUID: r.ID, Time: at}}, nil
	}
	content := r.Content
	if kind == User && len(r.Display) > 0 {
		content = r.Display
	}
	parts, err := geminiParts(content)
	var entries []Entry
	for i, p := range parts {
		if p.Text != "" && !p.Thought && !(kind == User && geminiAdds(p.Text)) {
			entries = append(entries, Entry{Kind: kind, UUID: r.ID, Index: i, Time: at, Text: p.Text})
		}
	}
	return entries, err
}

type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
}

// geminiParts reads content: a string, a part, or a list of both.
func geminiParts(content json.RawMessage) ([]geminiPart, error) {
	var raw []json.RawMessage
	if bytes.HasPrefix(content, []byte("[")) {
		if err := json.Unmarshal(content, &raw); err != nil {
			return nil, err
		}
	} else {
		raw = append(raw, content)
	}
	parts := make([]geminiPart, len(raw))
	for i, b := range raw {
		var err error
		if bytes.HasPrefix(b, []byte(`"`)) {
			err = json.Unmarshal(b, &parts[i].Text)
		} else {
			err = json.Unmarshal(b, &parts[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// geminiAdds reports whether Gemini CLI itself or a hook of it added the text.
func geminiAdds(text string) bool {
	return strings.HasPrefix(text, "<session_context>") || strings.HasPrefix(text, "<hook_context>")
}
