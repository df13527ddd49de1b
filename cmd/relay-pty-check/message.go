package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

const (
	messageID   = "check-2"
	messageWait = 3 * time.Minute // bounds the way of the message, the agent's start included
)

// markBody is what a terminal or a reader of Markdown would not leave as it is.
const markBody = "  two  blanks, *stars*,\n\n    an indent and 日本 "

// deliver has relay-pty itself wrap the agent and sends a message through it. It returns the
// evidence that the message was delivered and, if a marker is wanted, what the agent wrote in one.
// With an error beside the evidence, the message was delivered and no marker came.
func (c *checker) deliver(ctx context.Context, body string, marker bool) (evidence, said string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, messageWait, fmt.Errorf("nothing came of the message within %v", messageWait))
	defer cancel()
	name, socket := c.profile.Name, c.dir+"/s"
	if c.overlay != nil {
		name = c.dir + "/profile.json"
		if err := os.WriteFile(name, c.overlay, 0o600); err != nil {
			return "", "", err
		}
	}
	args := []string{c.self, "--name", "check", "--socket", socket, "--headless", "--ephemeral", "--agent", name,
		"--size", fmt.Sprintf("%dx%d", cols, rows), "--"}
	if c.live, err = c.start(ctx, append(args, c.command...)...); err != nil {
		return "", "", err
	}
	c.live.wait(ctx, messageWait, func() bool { _, listens := sock.Listening(socket); return listens })
	conn, err := sock.Dial(ctx, socket)
	if err != nil {
		return "", "", fmt.Errorf("relay-pty does not listen: %w", err)
	}
	defer conn.Close()
	subscribe, inject := &protocol.Subscribe{After: new(int64)}, &protocol.Inject{ID: messageID, From: "bob", Body: body}
	if err := errors.Join(conn.Send(subscribe), conn.Send(inject)); err != nil {
		return "", "", err
	}
	for waits := ""; evidence == "" || marker && said == ""; {
		f, err := conn.Next(ctx)
		switch f := f.(type) {
		case nil:
			return evidence, "", fmt.Errorf("read relay-pty's events: %w (waiting for %q)", err, waits)
		case *protocol.Waiting:
			waits = string(f.WaitingFor)
		case *protocol.RelayCommand:
			said = f.Body
		case *protocol.InjectResult:
			evidence = f.Evidence
			if f.Fault != nil {
				return "", "", fmt.Errorf("relay-pty says %s: %s", f.Status, f.Fault.Message)
			}
		case *protocol.Error:
			return "", "", f
		}
	}
	return evidence, said, nil
}

// message judges the whole way: relay-pty types a message that is too long for one paste, the model
// receives it, and relay-pty reads the marker in the answer.
func (c *checker) message(ctx context.Context) {
	c.model.SetMark("reply", "Here it is.\n\n->relay:bob <<<"+markBody+">>>\n\nThat was it.")
	body := "MARK reply\n" + strings.Repeat("a line\n", 20) + strings.Repeat("and more ", min(c.profile.Typing.PasteBytes, 4000)/9) + "."
	e, before := parser.Envelope{ID: messageID, From: "bob", Body: body}, c.turns()
	evidence, said, err := c.deliver(ctx, body, true)
	got := ""
	for _, t := range c.model.Turns()[before:] {
		got += t.UserText()
	}
	switch whole := strings.Count(got, body) == 1 && strings.HasPrefix(got, e.Header()+" ") && strings.HasSuffix(got, "\n"+e.Footer()); {
	case evidence == "":
		c.bad("message", err.Error())
		return
	case !whole: // what agents put around a paste is left open
		c.bad("message", fmt.Sprintf("relay-pty says delivered (%s), and the model received %.400q", evidence, got))
		return
	}
	c.ok("message", fmt.Sprintf("relay-pty delivers %d bytes, evidence %s", len(got), evidence))
	if said == markBody {
		c.ok("log", "a marker of the reply is read byte for byte")
	} else {
		c.bad("log", fmt.Sprintf("of the marker %q in the reply, relay-pty reads %q (%v)", markBody, said, err))
	}
}

// line judges a program without a composer: a message reaches it, and where the profile makes text
// inert nothing of it runs.
func (c *checker) line(ctx context.Context) {
	touch, quoted := "touch "+c.canary(), c.profile.Quote.Inert()
	body := "a message"
	if quoted {
		body = "it's \"a\" message $(" + touch + ")`" + touch + "`; " + touch + "\n" + touch
	}
	evidence, _, err := c.deliver(ctx, body, false)
	if err != nil {
		c.bad("message", err.Error())
		return
	}
	c.ok("message", "relay-pty delivers one, evidence "+evidence)
	if _, err := os.Stat(c.canary()); err == nil {
		c.bad("quote", "a message ran a command")
	} else if quoted {
		c.ok("quote", "nothing of a message runs")
	}
}
