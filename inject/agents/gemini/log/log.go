// Package log reads the chats of the Gemini CLI.
package log

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// Format is of Gemini CLI, as 0.61.0 writes it (recorded, see the tests). Each project
// has a directory, and each session a file in it, which is made when the composer
// shows and appended to within some milliseconds; /clear begins another one,
// /resume goes on in an old one. No process holds a file open or is named in one.
// A row is written again with the results of the tools that it called. Blanks at
// either end of a reply, zero-width characters (U+200B to U+200F, U+FEFF) and HTML
// comments are not logged, nor is a reply that was interrupted. Messages
// that were queued in a turn stand joined in one row. Sub-agents have files of
// their own, further down.
var Format = transcript.Format{Name: "gemini", Follow: follow, All: "tmp/*/chats/*.json*", Row: readRow, Rows: rows, Endless: true}

// chats finds the chats of the directory that the process works in.
type chats struct {
	dir     string
	child   int
	since   time.Time
	readers *transcript.Readers

	pid     int
	cwd     string
	chats   string    // the project's directory of chats, empty while there is none
	listed  time.Time // when
	changed time.Time // the directory, as of then
	live    []string  // the chats that changed since we began
	metas   map[string]meta
	session transcript.Session
}

// meta is a chat's first row.
type meta struct {
	ID    string    `json:"sessionId"`
	Start time.Time `json:"startTime"`
	Kind  string    `json:"kind"`
}

func follow(f transcript.Format, dir string, child int, since time.Time) transcript.Source {
	return &chats{
		dir: dir, child: child, since: since,
		readers: transcript.NewReaders(f, since), metas: map[string]meta{},
	}
}

func (g *chats) Look() (transcript.Session, []transcript.News, error) {
	if g.chats == "" {
		g.pid = proc.Main(g.child, "gemini")
		g.cwd = proc.Directory(g.pid)
		if g.chats = g.project(); g.chats == "" {
			return transcript.Session{}, nil, fmt.Errorf("%w of process %d: no chats of %s", transcript.ErrNoSession, g.child, g.cwd)
		}
	}
	all, err := g.poll()
	if !transcript.Told(all) && g.list() {
		all, err = g.poll()
	}
	return g.session, all, err
}

// project is the directory of chats of the project in cwd.
func (g *chats) project() string {
	var file struct {
		Projects map[string]string `json:"projects"` // names of directories by path
	}
	if transcript.ReadJSON(filepath.Join(g.dir, "projects.json"), &file) != nil {
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
func (g *chats) list() bool {
	info, err := os.Stat(g.chats)
	now := time.Now()
	if err != nil || info.ModTime().Equal(g.changed) && now.Sub(g.listed) < transcript.Rescan {
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
func (g *chats) main(path string) bool {
	m, known := g.metas[path]
	if !known {
		row, err := transcript.FirstRow(path)
		if err != nil || json.Unmarshal(row, &m) != nil {
			return false // not there yet
		}
		g.metas[path] = m
	}
	return m.Kind != "subagent"
}

// poll returns the news of the chats that are known.
func (g *chats) poll() ([]transcript.News, error) {
	var all []transcript.News
	var failed error
	for _, path := range g.live {
		entries, changed, err := g.readers.Poll(path)
		if err != nil {
			failed = err
		}
		if len(entries) > 0 || g.session.ID == "" {
			g.session = transcript.Session{PID: g.pid, ID: g.metas[path].ID, CWD: g.cwd, Transcript: path}
		}
		all = append(all, transcript.News{Of: path, Born: g.metas[path].Start, Changed: changed, Entries: entries})
	}
	return all, failed
}

type record struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Display   json.RawMessage `json:"displayContent"` // what was typed, if more was sent
	Tools     json.RawMessage `json:"toolCalls"`
	Model     string          `json:"model"`
	Tokens    json.RawMessage `json:"tokens"`
}

// copied reports whether the row is of an old answer, which /chat resume and /restore write again
// with a new id and time: no model has used tokens for it.
func (r *record) copied() bool {
	return r.Type == "gemini" && r.Model == "" && string(r.Tokens) == "null"
}

func readRow(row []byte) ([]transcript.Entry, error) {
	var r record
	if err := json.Unmarshal(row, &r); err != nil {
		return nil, err
	}
	kind, known := map[string]transcript.Kind{"user": transcript.User, "gemini": transcript.Assistant, "error": transcript.TurnEnd, "info": transcript.TurnEnd}[r.Type]
	if !known || r.copied() {
		return nil, nil // $set: of the whole chat, again
	}
	at, err := time.Parse(time.RFC3339, r.Timestamp)
	if err != nil || r.ID == "" {
		return nil, fmt.Errorf("row of type %s without time or id: %w", r.Type, err)
	}
	if kind == transcript.TurnEnd {
		return r.end(at), nil
	}
	content := r.Content
	if kind == transcript.User && len(r.Display) > 0 {
		content = r.Display
	}
	parts, err := readParts(content)
	var entries []transcript.Entry
	for i, p := range parts {
		if p.Text != "" && !p.Thought && !(kind == transcript.User && added(p.Text)) {
			typed := kind == transcript.User
			opens := typed && len(entries) == 0
			entries = append(entries, transcript.Entry{Kind: kind, UUID: r.ID, Index: i, Time: at, Text: p.Text, Opens: opens, Typed: typed})
		}
	}
	if err == nil {
		entries = append(entries, r.used(at)...)
	}
	return entries, err
}

// rows reads the rows of one chat. They do not say of which turn they are. But where a row is
// written again, with the results of the tools that it called, its turn goes on, whatever another
// process has written meanwhile: gemini --resume, run by such a tool, for one.
func rows() func(row []byte) ([]transcript.Entry, error) {
	var turns transcript.Turns
	now := ""
	return func(row []byte) ([]transcript.Entry, error) {
		entries, err := readRow(row)
		for i := range entries {
			switch e := &entries[i]; {
			case e.Opens:
				now = e.UUID
			case e.Kind == transcript.Assistant:
				if turn, known := turns.Of(e.UUID); known {
					now = turn
				}
				turns.Note(e.UUID, now)
			}
			entries[i].Turn = now
		}
		return entries, err
	}
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
}

// readParts reads content: a string, a part, or a list of both.
func readParts(content json.RawMessage) ([]part, error) {
	var raw []json.RawMessage
	if bytes.HasPrefix(content, []byte("[")) {
		if err := json.Unmarshal(content, &raw); err != nil {
			return nil, err
		}
	} else {
		raw = append(raw, content)
	}
	parts := make([]part, len(raw))
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

// added reports whether Gemini CLI itself or a hook of it added the text.
func added(text string) bool {
	return strings.HasPrefix(text, "<session_context>") || strings.HasPrefix(text, "<hook_context>")
}
