package check

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"relay-pty/parser"
)

// frame is what is read of a line from relay-pty's socket.
type frame struct {
	Type     string `json:"type"`
	Status   string `json:"status"`
	Evidence string `json:"evidence"`
	State    string `json:"state"`
	Body     string `json:"body"`
	Waits    string `json:"waiting_for"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
}

// outcome is what came of a message: how it ended, and the first marker that the
// agent wrote.
type outcome struct {
	end   frame
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
	var conn *os.File
	c.agent.wait(ctx, messageWait, func() bool { conn = dial(socket); return conn != nil })
	if conn == nil {
		return o, fmt.Errorf("relay-pty does not listen:\n%s", c.agent.shown())
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	b, err := json.Marshal(map[string]any{"type": "inject", "id": "check-2", "from": "bob", "body": body})
	if err != nil {
		return o, err
	}
	if _, err := conn.Write(append([]byte("{\"type\":\"subscribe\",\"after\":0}\n"), append(b, '\n')...)); err != nil {
		return o, err
	}
	last, err := o.follow(bufio.NewReader(conn), marker)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (state %q, waiting for %q)", context.Cause(ctx), last.State, last.Waits)
	}
	return o, err
}

// follow reads frames until the message is at its end.
func (o *outcome) follow(in *bufio.Reader, marker bool) (last frame, err error) {
	for o.end.Status == "" || marker && o.end.Status == "delivered" && o.reply == "" {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return last, errors.New("relay-pty hung up")
		}
		var f frame
		if json.Unmarshal(line, &f) != nil {
			continue // no frame that we know
		}
		switch {
		case f.Type == "state":
			last.State = f.State
		case f.Type == "waiting":
			last.Waits = f.Waits
		case f.Type == "relay_command":
			o.reply = f.Body
		case f.Type == "inject_result" && f.Status != "queued" && f.Status != "injecting":
			o.end = f
		case f.Type == "error":
			return last, errors.New(strings.TrimSpace(string(line)))
		}
	}
	return last, nil
}

// dial connects by hand, for net.Dial would link the name resolver. It returns
// nil while nobody listens.
func dial(path string) *os.File {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil
	}
	syscall.CloseOnExec(fd)
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) != nil || syscall.SetNonblock(fd, true) != nil {
		syscall.Close(fd) // of no use
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// arrives judges what came of a message.
func (c *checker) arrives(o outcome, err error) bool {
	switch {
	case o.end.Status != "" && o.end.Status != "delivered":
		c.bad("message", "relay-pty says %s: %s", o.end.Status, o.end.Error.Message)
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
