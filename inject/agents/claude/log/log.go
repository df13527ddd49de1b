// Package log reads the session files and the transcripts of Claude Code.
package log

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// Format is of Claude Code, as 2.1.329 writes it (recorded, see the tests; the rows
// of its inbox alone are made after a description). Rows are appended in batches,
// about 0.1 s after the fact. A resumed session goes on in the same file; a fork
// copies rows into a new one, with their uuids and timestamps; /clear starts a
// new session in the same process. Sub-agents have files of their own.
var Format = transcript.Format{
	Name:   "claude",
	All:    "projects/*/*.jsonl",
	Row:    func(row []byte) ([]transcript.Entry, error) { return readRow(row, "", nil) },
	Follow: follow,
}

// record is a row. Fields that other rows use differently are kept raw.
type record struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	UUID       string          `json:"uuid"`
	Parent     string          `json:"parentUuid"`   // the row that the process wrote before it in this conversation, or read
	Source     string          `json:"promptSource"` // of a prompt: typed, queued, system; older versions do not tell
	Timestamp  string          `json:"timestamp"`
	By         string          `json:"entrypoint"` // cli, sdk-cli: claude -p, and others
	Sidechain  bool            `json:"isSidechain"`
	Meta       bool            `json:"isMeta"`
	Summary    bool            `json:"isCompactSummary"`
	APIError   bool            `json:"isApiErrorMessage"`
	Aborted    bool            `json:"isAbortedMidStream"`
	Error      json.RawMessage `json:"error"`          // of an API's refusal: a word …
	Status     int             `json:"apiErrorStatus"` // … and HTTP's; older versions do not tell
	Result     json.RawMessage `json:"toolUseResult"`  // what Claude Code itself keeps of a tool's result
	Message    json.RawMessage `json:"message"`
	Attachment json.RawMessage `json:"attachment"`
	Origin     json.RawMessage `json:"origin"`
}

type message struct {
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
}

type attachment struct {
	Type    string          `json:"type"`
	Mode    string          `json:"commandMode"`
	Prompt  json.RawMessage `json:"prompt"`
	Content json.RawMessage `json:"content"`
	Origin  json.RawMessage `json:"origin"`
}

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // of a tool's result
	Name    string          `json:"name"`    // of a tool that is called
	Input   json.RawMessage `json:"input"`   // of that
}

// readRow reads a row of a session that such a program of Claude Code's has; "" is not known.
// Another one may go on in it: claude -p -c, run by the session's own tool. With turns, which may
// be nil, each entry's turn is known.
func readRow(row []byte, by string, turns *transcript.Turns) ([]transcript.Entry, error) {
	var r record
	if err := json.Unmarshal(row, &r); err != nil {
		return nil, err
	}
	if r.Sidechain || by != "" && r.By != "" && r.By != by {
		return nil, nil
	}
	entries, err := r.read()
	if turns != nil && r.UUID != "" {
		name(turns, &r, entries)
	}
	return entries, err
}

func (r *record) read() ([]transcript.Entry, error) {
	switch r.Type {
	case "assistant":
		return r.assistant()
	case "user":
		return r.user()
	case "attachment":
		return r.attached()
	case "system":
		if r.Subtype == "turn_duration" {
			return r.ends(transcript.Ending{}, "")
		}
	}
	return nil, nil // among them queue-operation: queued is not yet taken
}

// assistant is what the model wrote, or what Claude Code says in its place, an
// error or a remark, which is not the agent's word.
func (r *record) assistant() ([]transcript.Entry, error) {
	var m message
	if err := json.Unmarshal(r.Message, &m); err != nil {
		return nil, err
	}
	blocks, err := readBlocks(m.Content)
	switch {
	case r.APIError:
		return r.refused(blocks)
	case m.Model == "<synthetic>":
		return nil, nil
	case err != nil:
		return nil, err
	}
	said, err := r.entries(transcript.Assistant, blocks)
	if err != nil {
		return nil, err
	}
	used, err := r.entries(transcript.Tool, toolsOf(blocks))
	return append(said, used...), err
}

// interrupted is how the row begins that Claude Code writes when a turn was.
const interrupted = "[Request interrupted by user"

func (r *record) user() ([]transcript.Entry, error) {
	var m message
	err := json.Unmarshal(r.Message, &m)
	blocks, wrong := readBlocks(m.Content)
	switch {
	case r.Summary:
		return nil, nil
	case woken(blocks):
		return r.entries(transcript.User, blocks)
	case ofTask(r.Origin):
		return r.reported(blocks)
	case !fromPerson(r.Origin, r.Meta):
		return nil, nil
	case err != nil || wrong != nil:
		return nil, cmp.Or(err, wrong)
	}
	if len(blocks) == 1 && strings.HasPrefix(blocks[0].Text, interrupted) && strings.HasSuffix(blocks[0].Text, "]") {
		return r.ends(transcript.Ending{Outcome: transcript.Interrupted}, "")
	}
	given, err := r.entries(transcript.User, withoutOutput(blocks))
	if err != nil {
		return nil, err
	}
	for i := range given {
		given[i].Opens, given[i].Typed = true, r.Source == "typed" || r.Source == "queued"
	}
	handed, err := r.entries(transcript.Handed, fromTools(blocks))
	if err != nil {
		return nil, err
	}
	begun, err := r.begun()
	return append(append(given, handed...), begun...), err
}

// fromTools is the messages that tools of ours handed over, each in the place of the result.
func fromTools(blocks []block) []block {
	list := make([]block, len(blocks))
	for i, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		parts, _ := readBlocks(b.Content) // of another form: none of ours
		for _, part := range parts {
			if text := transcript.FromTool(part.Text); text != "" {
				list[i] = block{Type: "text", Text: text}
			}
		}
	}
	return list
}

// attached is a message that was given to a turn that ran.
func (r *record) attached() ([]transcript.Entry, error) {
	var a attachment
	if err := json.Unmarshal(r.Attachment, &a); err != nil {
		return nil, nil // one of the many other kinds
	}
	switch a.Type {
	case "queued_command":
		return r.queued(a)
	case "hook_additional_context":
		return r.handed(a)
	}
	return nil, nil
}

// queued is a message that was typed in a turn and given to the same turn, or one that a hook of
// ours had waited for.
func (r *record) queued(a attachment) ([]transcript.Entry, error) {
	blocks, err := readBlocks(a.Prompt)
	switch {
	case err != nil:
		return nil, err
	case woken(blocks):
		return r.entries(transcript.User, blocks)
	case a.Mode == notified || ofTask(a.Origin):
		return r.reported(blocks)
	case a.Mode != "" && a.Mode != "prompt" || !fromPerson(a.Origin, r.Meta):
		return nil, nil
	}
	return r.entries(transcript.User, withoutOutput(blocks))
}

// handed is what a hook of ours gave to a turn. Others may give anything.
func (r *record) handed(a attachment) ([]transcript.Entry, error) {
	var texts []string
	if err := json.Unmarshal(a.Content, &texts); err != nil {
		return nil, nil // of a form that is not ours
	}
	var blocks []block
	for _, text := range texts {
		if rest, ok := strings.CutPrefix(text, "\n"); ok && transcript.Begins(rest) {
			blocks = append(blocks, block{Type: "text", Text: text})
		}
	}
	return r.entries(transcript.User, blocks)
}

// woken reports whether a prompt is of messages that a hook of ours has waited for. What tools
// print comes in the same form, under titles of theirs.
func woken(blocks []block) bool {
	const ours = "<task-notification>\n<summary>" + parser.WakeTitle + "</summary>\n"
	return len(blocks) == 1 && strings.HasPrefix(blocks[0].Text, ours)
}

// fromPerson reports whether a row's origin is one who can send messages: the
// terminal, Claude Code's inbox, or unnamed.
func fromPerson(origin json.RawMessage, meta bool) bool {
	kind, err := kindOf(origin)
	if err != nil {
		return false
	}
	switch kind {
	case "peer":
		return true // these rows are meta
	case "human", "":
		return !meta
	}
	return false // task-notification and the like carry what tools printed
}

// kindOf is the word for a row's origin, "" where none is named.
func kindOf(origin json.RawMessage) (string, error) {
	var o struct {
		Kind string `json:"kind"`
	}
	if len(origin) == 0 {
		return "", nil
	}
	err := json.Unmarshal(origin, &o)
	return o.Kind, err
}

// withoutOutput drops the text of local commands and their output, which may
// hold anything.
func withoutOutput(blocks []block) []block {
	for i, b := range blocks {
		text := strings.TrimLeft(b.Text, " \n")
		for _, tag := range []string{"<bash-", "<local-command-", "<command-", "<task-notification", "<system-reminder"} {
			if strings.HasPrefix(text, tag) {
				blocks[i].Type = ""
			}
		}
	}
	return blocks
}

// readBlocks reads content: a string, or a list of blocks.
func readBlocks(content json.RawMessage) ([]block, error) {
	if bytes.HasPrefix(content, []byte{'"'}) {
		var text string
		err := json.Unmarshal(content, &text)
		return []block{{Type: "text", Text: text}}, err
	}
	var blocks []block
	err := json.Unmarshal(content, &blocks)
	return blocks, err
}

// entries makes an entry of each block of text.
func (r *record) entries(kind transcript.Kind, blocks []block) ([]transcript.Entry, error) {
	at, err := time.Parse(time.RFC3339, r.Timestamp)
	if err != nil {
		return nil, err
	}
	if r.UUID == "" {
		return nil, fmt.Errorf("row of %s without uuid", r.Timestamp)
	}
	var entries []transcript.Entry
	for i, b := range blocks {
		if b.Type == "text" {
			entries = append(entries, transcript.Entry{Kind: kind, UUID: r.UUID, Index: i, Time: at, Text: b.Text, Cut: r.Aborted})
		}
	}
	return entries, nil
}
