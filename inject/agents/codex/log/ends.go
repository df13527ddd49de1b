package log

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"relay-pty/parser/transcript"
)

// called is a call of a tool.
type called struct {
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"` // mcp__ and the server's name, of such a tool
	Arguments json.RawMessage `json:"arguments"` // a text in JSON, for most
}

// ended is the end of a turn, or of something in it.
type ended struct {
	Failure json.RawMessage `json:"error"` // why the turn was refused
	Item    struct {
		Type    string `json:"type"`
		Process string `json:"process_id"` // as the model knows it
	} `json:"item"`
}

type failure struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codex_error_info"` // a word, or an object of one that tells HTTP's status
}

// event is what an event tells of the end of a turn, or of a shell.
func (item *responseItem) event(at time.Time) []transcript.Entry {
	e := transcript.Entry{Kind: transcript.TurnEnd, UUID: item.Type + item.TurnID, Time: at}
	switch {
	case item.Type == "item_completed" && item.Item.Type == "CommandExecution" && item.Item.Process != "":
		e.Kind, e.UUID, e.Text = transcript.Finished, "finished "+item.Item.Process, item.Item.Process
	case item.Type == "turn_aborted":
		e.Outcome = transcript.Interrupted
	case item.Type != "task_complete":
		return nil
	case len(item.Failure) > 0 && string(item.Failure) != "null":
		var f failure
		json.Unmarshal(item.Failure, &f) // of another form: nothing more is known
		e.Text, e.Ending = f.Message, f.ending(at)
	}
	return []transcript.Entry{e}
}

// reasons are Codex's words for why a turn was refused. The other ones tell HTTP's status.
var reasons = map[string]transcript.Reason{
	"usage_limit_exceeded": transcript.Limit,
	"unauthorized":         transcript.Auth,
	"server_overloaded":    transcript.Overloaded,
}

// again is the time at which a limit ends, such as 3:09 AM or Nov 30th, 2026 3:09 AM.
var again = regexp.MustCompile(`\b[Tt]ry again at (?:([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th), (\d{4} ))?(\d{1,2}:\d\d [AP]M)`)

func (f *failure) ending(at time.Time) transcript.Ending {
	how, word := transcript.Ending{Outcome: transcript.Refused}, ""
	var by map[string]struct {
		Status int `json:"http_status_code"`
	}
	if json.Unmarshal(f.Info, &word) == nil {
		how.Reason = reasons[word]
	} else if json.Unmarshal(f.Info, &by) == nil {
		for _, kind := range by {
			how.Reason = transcript.ReasonOf(kind.Status)
		}
	}
	if how.Reason == "" {
		how.Reason = transcript.Broken
	}
	if m := again.FindStringSubmatch(f.Message); m != nil && how.Reason == transcript.Limit {
		how.RetryAt = transcript.At(strings.TrimSpace(m[1]+" "+m[2]+m[3]), at.Local(), "3:04 PM", "Jan 2 2006 3:04 PM")
	}
	return how
}

// tool is the tool that the model called, none of talk.
func (item *responseItem) tool(at time.Time) []transcript.Entry {
	switch {
	case !strings.HasSuffix(item.Type, "_call") || item.Call+item.ID == "":
		return nil
	case item.Namespace == "mcp__relay" || strings.HasPrefix(item.Name, "mcp__relay__"):
		return nil
	}
	var arguments string
	json.Unmarshal(item.Arguments, &arguments) // of another form: of another tool
	if item.Name == "exec_command" && transcript.Talk(transcript.Argument([]byte(arguments), "cmd")) {
		return nil
	}
	return []transcript.Entry{{Kind: transcript.Tool, UUID: "call " + item.Call + item.ID, Time: at, Text: item.Name}}
}

// runs is how a shell's answer begins that goes on in the background.
var runs = regexp.MustCompile(`^(?:[^\n]+\n){0,3}Process running with session ID (\d+)\n`)

// begun is a shell that goes on in the background.
func (item *responseItem) begun(at time.Time) []transcript.Entry {
	var text string
	if json.Unmarshal(item.Output, &text) != nil {
		return nil // a list: of another tool
	}
	m := runs.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return []transcript.Entry{{Kind: transcript.Began, UUID: "began " + item.Call, Time: at, Text: m[1]}}
}
