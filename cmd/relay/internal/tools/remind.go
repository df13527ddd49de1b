package tools

import (
	"context"
	"strconv"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

type remindArguments struct {
	Delay   string `json:"delay" jsonschema:"how long from now: 90s, 5m, 2h30m; a number alone is milliseconds"`
	Message string `json:"message" jsonschema:"what to be reminded of"`
}

func remindMe(ctx context.Context, d *desk, in remindArguments) (api.Reminder, error) {
	delay, err := time.ParseDuration(in.Delay)
	if n, wrong := strconv.ParseInt(in.Delay, 10, 64); wrong == nil {
		delay, err = time.Duration(n)*time.Millisecond, nil
		if delay/time.Millisecond != time.Duration(n) {
			delay = 0 // no duration has so many
		}
	}
	if err != nil || delay < time.Millisecond {
		return api.Reminder{}, router.Refusal(protocol.BadField, "delay: %q is no time from now on: 90s, 5m, 2h30m, 500 (milliseconds)", in.Delay)
	}
	r := api.Remind{DelayMS: delay.Milliseconds(), Message: in.Message, From: d.Name, ID: d.NewID()}
	return ask(ctx, d, func(c *api.Client) (api.Reminder, error) { return c.Remind(ctx, r) })
}
