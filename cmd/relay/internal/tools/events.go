package tools

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

type eventsArguments struct {
	After  int64  `json:"after_event_seq,omitzero" jsonschema:"cursor_event_seq of your last call (default: what happens from now on; 0: all that is kept)"`
	Type   string `json:"event_type,omitzero" jsonschema:"only events of this type, or of these with commas between: message, inject_result, state, turn_end, agent_up, agent_down, refused"`
	Target string `json:"target_agent_id,omitzero" jsonschema:"only events about this agent; self: about you; any (default)"`
	Wait   int64  `json:"max_wait_ms,omitzero" jsonschema:"wait at most so many milliseconds, up to 600000 (default 30000; 0: do not wait)"`
}

// usualWait is how long a call waits for events that does not say how long.
const usualWait = 30 * time.Second

const (
	eventsMost = 50       // events of one answer …
	eventsSize = 32 << 10 // … and bytes of them, unless one alone has more
)

func waitForEvents(ctx context.Context, d *desk, in eventsArguments) (page api.Events, err error) {
	wait := time.Duration(in.Wait) * time.Millisecond
	switch {
	case in.Wait < 0 || in.Wait > waitMost.Milliseconds():
		return page, router.Refusal(protocol.BadField, "max_wait_ms: %d is not between 0 and %d", in.Wait, waitMost.Milliseconds())
	case in.After < api.FromNow:
		return page, router.Refusal(protocol.BadField, "after_event_seq: %d is no number of an event", in.After)
	}
	q := api.Query{After: in.After, Target: in.Target}
	if in.Target == "self" {
		q.Target = d.Name
	}
	if in.Type != "" {
		q.Types = strings.Split(strings.ReplaceAll(in.Type, " ", ""), ",")
	}
	for began := time.Now(); ; q.After = page.Cursor {
		q.Wait = min(max(wait-time.Since(began), 0), api.LongWait)
		page, err = ask(ctx, d, func(c *api.Client) (api.Events, error) { return c.Events(ctx, q) })
		if err != nil || len(page.Events) > 0 || time.Since(began) >= wait {
			return first(page), err
		}
	}
}

// first is as much of a page as a model should read at once; its cursor says where the rest begins.
func first(page api.Events) api.Events {
	size := 0
	for i, e := range page.Events {
		line, err := json.Marshal(e)
		if size += len(line); i > 0 && (err != nil || size > eventsSize || i >= eventsMost) {
			return api.Events{Events: page.Events[:i], Cursor: page.Events[i-1].Seq}
		}
	}
	if page.Events == nil {
		page.Events = []router.Event{}
	}
	return page
}
