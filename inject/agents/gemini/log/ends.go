package log

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"relay-pty/parser/transcript"
)

// reasons are the words of Google's APIs for why a request was refused, what the text says where
// that is an "invalid argument", and what Gemini CLI puts behind each limit (HTTP's status 429),
// whose words may be its own: "You have exhausted your daily quota on this model."
var reasons = []struct {
	says string
	is   transcript.Reason
}{
	{"RESOURCE_EXHAUSTED", transcript.Limit},
	{"UNAUTHENTICATED", transcript.Auth},
	{"PERMISSION_DENIED", transcript.Auth},
	{"API key not valid", transcript.Auth},
	{"UNAVAILABLE", transcript.Overloaded},
	{"\nPlease wait and try again later. To increase your limits, ", transcript.Limit},
	{"\nPossible quota limitations in place ", transcript.Limit},
}

// end is the end of a turn that did not end well: by an error of the API, or by Esc.
func (r *record) end(at time.Time) []transcript.Entry {
	e := transcript.Entry{Kind: transcript.TurnEnd, UUID: r.ID, Time: at}
	json.Unmarshal(r.Content, &e.Text) // of another form: no text
	switch {
	case r.Type == "error":
		e.Ending = transcript.Ending{Outcome: transcript.Refused, Reason: transcript.Broken}
		for _, reason := range reasons {
			if strings.Contains(e.Text, reason.says) {
				e.Reason = reason.is
				break
			}
		}
	case e.Text == "Request cancelled.":
		e.Text, e.Outcome = "", transcript.Interrupted
	default:
		return nil
	}
	return []transcript.Entry{e}
}

// call is a call of a tool, with its result.
type call struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
}

// result is what a tool answered.
type result []struct {
	Response struct {
		Response struct {
			Output string `json:"output"`
		} `json:"response"`
	} `json:"functionResponse"`
}

// moved is what a shell answers that goes on in the background. Nothing tells when it is over.
var moved = regexp.MustCompile(`^(?:<untrusted_context>\s*)?Command moved to background \(PID: (\d+)\)`)

// used is the tools that the model called, but for talk, and what went on in the background.
func (r *record) used(at time.Time) []transcript.Entry {
	var entries []transcript.Entry
	var calls []call
	json.Unmarshal(r.Tools, &calls) // of another form: none that are known
	for _, c := range calls {
		talk := c.Name == "run_shell_command" && transcript.Talk(transcript.Argument(c.Args, "command"))
		if talk || strings.HasPrefix(c.Name, "mcp_relay_") {
			continue
		}
		entries = append(entries, transcript.Entry{Kind: transcript.Tool, UUID: r.ID + "/" + c.ID, Time: at, Text: c.Name})
		var all result
		json.Unmarshal(c.Result, &all) // of another form: of another tool
		for _, one := range all {
			if m := moved.FindStringSubmatch(one.Response.Response.Output); m != nil {
				entries = append(entries, transcript.Entry{Kind: transcript.Began, UUID: r.ID + "/" + c.ID, Index: 1, Time: at, Text: m[1]})
			}
		}
	}
	return entries
}
