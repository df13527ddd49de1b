package check

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// outcome is what came of a message: how it ended, and the first marker that the
// agent wrote.
type outcome struct {
	end   protocol.InjectResult // without a status: it did not end
	reply string
}

// messageWait bounds the way of one message, the agent's start included.
const messageWait = 40 * time.Second

// deliver has relay-pty itself wrap the agent, sends a message through it and
// waits for its end and, if one is wanted, a marker.
func (c *checker) deliver(ctx context.Context, body string, marker bool) (o outcome, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, messageWait, fmt.Errorf("nothing came of the message within %v", messageWait))
	defer cancel()
	agent, socket := c.p.Name, c.dir+"/s"
	if c.Overlay != nil {
		agent = c.dir + "/profile.json"
		if err := os.WriteFile(agent, c.Overlay, 0o600); err != nil {
			return o, err
		}
	}
	args := []string{c.Self, "--name", "check", "--socket", socket, "--headless", "--ephemeral", "--agent", agent,
		"--size", fmt.Sprintf("%dx%d", cols, rows), "--"}
	if c.agent, err = c.start(ctx, append(args, c.command...)); err != nil {
		return o, err
	}
	defer c.leave()
	var conn *sock.Client
	c.agent.wait(ctx, messageWait, func() bool { conn, err = sock.Dial(ctx, socket); return err == nil })
	if err != nil {
		return o, fmt.Errorf("relay-pty does not listen: %w\n%s", err, c.agent.shown())
	}
	defer conn.Close()
	for _, r := range []protocol.Request{
		&protocol.Subscribe{After: new(int64)},
		&protocol.Inject{ID: "check-2", From: "bob", Body: body},
	} {
		if err := conn.Send(r); err != nil {
			return o, err
		}
	}
	err = o.follow(ctx, conn, marker)
	return o, err
}

// follow reads frames until the message is at its end.
func (o *outcome) follow(ctx context.Context, conn *sock.Client, marker bool) error {
	var state, waits string
	for o.end.Status == "" || marker && o.end.Status == protocol.StatusDelivered && o.reply == "" {
		f, err := conn.Next(ctx)
		switch f := f.(type) {
		case nil:
			return fmt.Errorf("read relay-pty's events: %w (state %q, waiting for %q)", err, state, waits)
		case *protocol.State:
			state = f.State
		case *protocol.Waiting:
			waits = string(f.WaitingFor)
		case *protocol.RelayCommand:
			o.reply = f.Body
		case *protocol.InjectResult:
			if protocol.Terminal(f.Status) {
				o.end = *f
			}
		case *protocol.Error:
			return f
		}
	}
	return nil
}

// arrives judges what came of a message.
func (c *checker) arrives(o outcome, err error) bool {
	switch {
	case o.end.Fault != nil:
		c.bad("message", "relay-pty says %s: %s", o.end.Status, o.end.Fault.Message)
	case o.end.Status != "" && o.end.Status != protocol.StatusDelivered:
		c.bad("message", "relay-pty says %s", o.end.Status)
	case err != nil:
		c.bad("message", "%v", err)
	default:
		return true
	}
	return false
}

// message judges the whole way: relay-pty types a message that needs the paste
// form, the model receives it, and its answer comes back.
func (c *checker) message(ctx context.Context) {
	body := askMark + "\n" + lines(20) + "\n" + words(min(c.p.Typing.PasteBytes, 4000))
	before := c.turns()
	o, err := c.deliver(ctx, body, c.p.Log != nil)
	if !c.arrives(o, err) {
		return
	}
	e := parser.Envelope{ID: "check-2", From: "bob", Body: body}
	got := ""
	for _, t := range c.model.Turns()[before:] {
		got += t.UserText()
	}
	switch { // what agents put around a paste is left open
	case !strings.HasPrefix(got, e.Header()+" ") || !strings.HasSuffix(got, "\n"+e.Footer()) || strings.Count(got, body) != 1:
		c.bad("message", "relay-pty says delivered (%s), and the model received %.400q", o.end.Evidence, got)
	case c.p.Log != nil && o.reply != markBody:
		c.bad("message", "the answer came back as %q, want %q", o.reply, markBody)
	default:
		c.ok("message", fmt.Sprintf("relay-pty delivers %d bytes, evidence %s, and hears the answer", len(got), o.end.Evidence))
	}
}

// line judges a program without a composer: a message reaches it, and where the
// profile makes text inert nothing of it runs.
func (c *checker) line(ctx context.Context) {
	body := "a message"
	if c.p.Quote.Inert() {
		touch := "touch " + c.canary()
		body = "it's \"a\" message $(" + touch + ")`" + touch + "`; " + touch + "\n" + touch
	}
	o, err := c.deliver(ctx, body, false)
	if !c.arrives(o, err) {
		return
	}
	c.ok("message", "relay-pty delivers one, evidence "+o.end.Evidence)
	if !c.p.Quote.Inert() {
		return
	}
	if _, err := os.Stat(c.canary()); err == nil {
		c.bad("quote", "a message ran a command")
		return
	}
	c.ok("quote", "nothing of a message runs")
}
