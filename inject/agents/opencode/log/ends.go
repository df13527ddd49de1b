package log

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"relay-pty/parser/transcript"
)

// state is how a call of a tool is.
type state struct {
	Status string          `json:"status"` // pending: what it was given is not known yet
	Input  json.RawMessage `json:"input"`
}

// works reports whether the call of a tool is known, and something else than talk.
func (p *part) works() bool {
	talk := strings.HasPrefix(p.Tool, "relay_") || p.Tool == "bash" && transcript.Talk(transcript.Argument(p.State.Input, "command"))
	return p.State.Status != "pending" && !talk
}

// failure is why a turn did not end well, and what OpenCode says of that.
func (m *info) failure(at time.Time) (says string, how transcript.Ending) {
	var failed struct {
		Name string `json:"name"`
		Data struct {
			Message string            `json:"message"`
			Status  int               `json:"statusCode"`
			Headers map[string]string `json:"responseHeaders"`
		} `json:"data"`
	}
	json.Unmarshal(m.Error, &failed) // of another form: of another error
	if failed.Name == "MessageAbortedError" {
		return "", transcript.Ending{Outcome: transcript.Interrupted}
	}
	how = transcript.Ending{Outcome: transcript.Refused, Reason: transcript.ReasonOf(failed.Data.Status)}
	if failed.Name == "ProviderAuthError" {
		how.Reason = transcript.Auth
	}
	if after, err := strconv.Atoi(failed.Data.Headers["retry-after"]); err == nil && after > 0 && how.Reason == transcript.Limit {
		how.RetryAt = at.Add(time.Duration(after) * time.Second)
	}
	return failed.Data.Message, how
}
