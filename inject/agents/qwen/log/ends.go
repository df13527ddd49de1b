package log

import (
	"encoding/json"
	"regexp"
	"strings"

	"relay-pty/parser/transcript"
)

// part is a part of what was said: a text, a call of a tool, or its result.
type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *call  `json:"functionCall"`
	Result  struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// call is a call of a tool.
type call struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// talks reports whether the tool does nothing but talk.
func (c *call) talks() bool {
	return strings.HasPrefix(c.Name, "mcp__relay__") ||
		c.Name == "run_shell_command" && transcript.Talk(transcript.Argument(c.Args, "command"))
}

// failure is what Qwen Code notes of a request that failed, after its last try.
type failure struct {
	Name     string `json:"event.name"`
	Message  string `json:"error_message"`
	Status   int    `json:"status_code"`
	Subagent string `json:"subagent_name"`
}

var (
	started = regexp.MustCompile(`^Background shell started\.\nid: (\S+)\n`)
	taskID  = regexp.MustCompile(`<task-id>([^<]+)</task-id>`)
	status  = regexp.MustCompile(`<status>(\w+)</status>`)
)

// beside is what a row tells of a turn beside what was said in it: that a request failed, and what
// becomes of work in the background. The agent is told of the end of that in a turn of its own.
func (r *record) beside() []transcript.Entry {
	e := transcript.Entry{UUID: r.UUID, Time: r.Timestamp}
	switch failed := r.Payload.Event; {
	case r.Type == "system" && failed.Name == "qwen-code.api_error" && failed.Subagent == "":
		e.Kind, e.Text = transcript.Failed, failed.Message
		e.Ending = transcript.Ending{Outcome: transcript.Refused, Reason: transcript.ReasonOf(failed.Status)}
		return []transcript.Entry{e}
	case r.Type == "user" && r.Subtype == "notification":
		e.Kind, e.Opens = transcript.Reported, true
	case r.Type == "tool_result":
		e.Kind = transcript.Began
	default:
		return nil
	}
	for _, p := range r.Message.Parts {
		if e.Kind == transcript.Began {
			if m := started.FindStringSubmatch(transcript.Argument(p.Result.Response, "output")); m != nil {
				e.Text = m[1]
			}
		} else if id, is := taskID.FindStringSubmatch(p.Text), status.FindStringSubmatch(p.Text); id != nil && is != nil && is[1] != "running" {
			e.Text = id[1]
		}
	}
	if e.Text == "" {
		return nil
	}
	return []transcript.Entry{e}
}
