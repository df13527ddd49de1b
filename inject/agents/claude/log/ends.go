package log

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"relay-pty/parser/transcript"
)

// ends is the end of a turn.
func (r *record) ends(how transcript.Ending, says string) ([]transcript.Entry, error) {
	entries, err := r.entries(transcript.TurnEnd, []block{{Type: "text", Text: says}})
	for i := range entries {
		entries[i].Ending = how
	}
	return entries, err
}

// reasons are Claude Code's words for why a request was refused; others are no more than HTTP's
// status.
var reasons = map[string]transcript.Reason{
	"authentication_failed": transcript.Auth, "oauth_org_not_allowed": transcript.Auth,
	"rate_limit": transcript.Limit, "billing_error": transcript.Limit,
	"overloaded": transcript.Overloaded,
}

var (
	status = regexp.MustCompile(`^API Error: (?:Request rejected \()?([0-9]{3})\b`)
	// resets is when a limit ends: 7pm, 7:51pm or Dec 3, 7pm, and perhaps where.
	resets = regexp.MustCompile(`\bresets (?:at )?((?:[A-Z][a-z]{2} \d{1,2}, (?:\d{4}, )?)?\d{1,2}(?::\d\d)?[ap]m)(?: \(([\w/+-]+)\))?`)
)

// refused is the end of a turn by an answer of the API, as Claude Code says in the model's place.
func (r *record) refused(blocks []block) ([]transcript.Entry, error) {
	var says []string
	for _, b := range blocks {
		says = append(says, b.Text)
	}
	text, how := strings.Join(says, "\n"), transcript.Ending{Outcome: transcript.Refused}
	var word string
	json.Unmarshal(r.Error, &word) // of another form: it is none
	if m := status.FindStringSubmatch(text); r.Status == 0 && m != nil {
		json.Unmarshal([]byte(m[1]), &r.Status) // they are digits
	}
	if how.Reason = reasons[word]; how.Reason == "" {
		how.Reason = transcript.ReasonOf(r.Status)
	}
	if at, err := time.Parse(time.RFC3339, r.Timestamp); err == nil && how.Reason == transcript.Limit {
		how.RetryAt = retryAt(text, at)
	}
	return r.ends(how, text)
}

// retryAt is when a limit ends, as the text says.
func retryAt(text string, now time.Time) time.Time {
	m := resets.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	zone := time.Local
	if named, err := time.LoadLocation(m[2]); m[2] != "" && err == nil {
		zone = named
	}
	return transcript.At(m[1], now.In(zone), "3:04pm", "3pm", "Jan 2, 3:04pm", "Jan 2, 3pm", "Jan 2, 2006, 3:04pm", "Jan 2, 2006, 3pm")
}

// toolsOf is the tools that the model called, by name and in their places, but for talk.
func toolsOf(blocks []block) []block {
	list := make([]block, len(blocks))
	for i, b := range blocks {
		if b.Type != "tool_use" || strings.HasPrefix(b.Name, "mcp__relay__") {
			continue
		}
		if b.Name != "Bash" || !transcript.Talk(transcript.Argument(b.Input, "command")) {
			list[i] = block{Type: "text", Text: b.Name}
		}
	}
	return list
}

// begun is the work in the background, if a tool began some: a shell, a monitor, a subagent.
func (r *record) begun() ([]transcript.Entry, error) {
	var result struct {
		Shell   string `json:"backgroundTaskId"`
		Monitor string `json:"taskId"` // of other tools, too, which have no …
		Limit   *int64 `json:"timeoutMs"`
		Agent   string `json:"agentId"`
		Status  string `json:"status"`
	}
	if len(r.Result) == 0 || r.Result[0] != '{' || json.Unmarshal(r.Result, &result) != nil {
		return nil, nil
	}
	name := result.Shell
	switch {
	case name != "":
	case result.Status == "async_launched":
		name = result.Agent
	case result.Limit != nil:
		name = result.Monitor
	}
	if name == "" {
		return nil, nil
	}
	return r.tasks(transcript.Began, name)
}

// notified is the mode of a prompt that tells of work in the background.
const notified = "task-notification"

// ofTask reports whether a row's origin is work in the background.
func ofTask(origin json.RawMessage) bool {
	kind, err := kindOf(origin)
	return err == nil && kind == notified
}

var (
	taskID     = regexp.MustCompile(`<task-id>([\w-]+)</task-id>`)
	taskStatus = regexp.MustCompile(`<status>(\w+)</status>`) // a monitor's event has none
)

// reported is that work in the background is over, which the agent was told.
func (r *record) reported(blocks []block) ([]transcript.Entry, error) {
	for _, b := range blocks {
		id, is := taskID.FindStringSubmatch(b.Text), taskStatus.FindStringSubmatch(b.Text)
		if id != nil && is != nil && is[1] != "running" {
			return r.tasks(transcript.Reported, id[1])
		}
	}
	return nil, nil
}

// tasks is an entry of work in the background, beside those of the row's blocks.
func (r *record) tasks(kind transcript.Kind, name string) ([]transcript.Entry, error) {
	entries, err := r.entries(kind, []block{{Type: "text", Text: name}})
	for i := range entries {
		entries[i].UUID += "/task"
	}
	return entries, err
}
