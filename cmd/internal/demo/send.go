package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// messages are what the second process sends.
var messages = []map[string]any{
	{"type": "inject", "id": "m1", "from": "bob", "body": "please review parser.go"},
	{"type": "inject", "id": "m2", "from": "bob", "body": "/clear is text here, and so is\n!rm -rf: a message never runs"},
}

// send is the second process: it follows the events, sends the messages, and
// waits until each is delivered and answered.
func send(ctx context.Context, socket string) error {
	c, err := dial(ctx, socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Send(map[string]any{"type": "subscribe", "after": 0}); err != nil {
		return err
	}
	fmt.Printf("A second process (pid of its own) connects to the socket and sends %d messages.\n\n", len(messages))
	for _, m := range messages {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		fmt.Printf("  → %s\n", line)
		if err := c.Send(m); err != nil {
			return err
		}
	}
	delivered, answered, seen := 0, 0, 0
	for delivered < len(messages) || answered < len(messages) {
		f, err := c.WaitFrom(ctx, seen, func(testrig.Frame) bool { return true })
		if err != nil {
			return fmt.Errorf("%d of %d messages delivered, %d answered: %w", delivered, len(messages), answered, err)
		}
		seen++
		fmt.Print(describe(f))
		switch f.Str("status") {
		case "delivered":
			delivered++
		case "failed", "expired", "unknown":
			return fmt.Errorf("message %s ended as %s", f.Str("id"), f.Str("status"))
		}
		if f.Type() == "relay_command" {
			answered++
		}
	}
	fmt.Printf("\n%d messages delivered, each once and with evidence; %d answers parsed.\n", delivered, answered)
	return nil
}

// dial waits until the wrapper listens.
func dial(ctx context.Context, socket string) (*testrig.Client, error) {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		c, err := testrig.Dial(ctx, socket)
		if err == nil {
			return c, nil
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// describe tells a frame in words, with the frame itself where it is the point.
func describe(f testrig.Frame) string {
	switch f.Type() {
	case "state":
		return fmt.Sprintf("  state      %s, known by %s\n", f.Str("state"), f.Str("confidence"))
	case "inject_result":
		detail := ""
		if e := f.Str("evidence"); e != "" {
			detail = ", evidence: " + e
		}
		return fmt.Sprintf("  %-10s %s%s\n", f.Str("id"), f.Str("status"), detail)
	case "relay_command":
		return "  ← " + f.Raw
	}
	return ""
}
