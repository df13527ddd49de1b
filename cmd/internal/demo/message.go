package main

import (
	"context"
	"fmt"
	"regexp"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol"
)

// message is what bob sends.
type message struct{ id, from, body string }

// envelope is a message as an agent reads it.
var envelope = regexp.MustCompile(`(?s)\[relay (\S+) from ([^\s\]]+)[^\]\n]*\] (.*?)\n\[end `)

// messagesIn finds all messages of a text: those that waited together are typed as
// one turn.
func messagesIn(text string) []message {
	var all []message
	for _, m := range envelope.FindAllStringSubmatch(text, -1) {
		all = append(all, message{m[1], m[2], m[3]})
	}
	return all
}

// answer is what an agent says to a message. A screen would lose the blanks and
// show the marks as something else.
func answer(m message) string {
	return fmt.Sprintf("I read  `%s`  as *text*", m.body)
}

// marker is the answer as the agent writes it.
func marker(m message) string {
	return fmt.Sprintf("->relay:%s [re=%s] <<<%s>>>", m.from, m.id, answer(m))
}

// bob is the second process: it sends messages, each an id and a body, and ends
// when all were delivered.
func bob(ctx context.Context, socket string, words []string) error {
	c, err := testrig.Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer c.Close()
	for i := 0; i+1 < len(words); i += 2 {
		m := map[string]any{"type": "inject", "id": words[i], "from": "bob", "body": words[i+1]}
		if err := c.Send(m); err != nil {
			return err
		}
	}
	for i := 0; i+1 < len(words); i += 2 {
		if _, err := c.Wait(ctx, ended(words[i])); err != nil {
			return fmt.Errorf("bob waits for the end of %s: %w", words[i], err)
		}
	}
	return nil
}

// ended is true for what ends a message, and for a refusal of it.
func ended(id string) func(testrig.Frame) bool {
	return func(f testrig.Frame) bool {
		return f.Str("id") == id && (protocol.Terminal(f.Str("status")) || f.Type() == "error")
	}
}
