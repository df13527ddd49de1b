package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay-pty/clients"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
	"relay-pty/queue"
)

// agent0 is a wrapper's socket with a mailbox behind it, and what the agent said there.
type agent0 struct {
	t      *testing.T
	socket string
	box    *queue.Mailbox
	said   chan protocol.Signal
}

func newAgent(t *testing.T) *agent0 {
	t.Helper()
	a := &agent0{t: t, socket: filepath.Join(testrig.Dir(t), "s"), said: make(chan protocol.Signal, 9)}
	events := queue.NewOutbox()
	box, err := queue.New(queue.Config{}, events)
	must(t, err)
	l, err := sock.Listen(a.socket, "alice")
	must(t, err)
	a.box = box
	d := &clients.Server{Name: "alice", Token: "secret", Box: box, Events: events, Closed: make(chan struct{}),
		Unread: func() bool { return false }, Spoke: func() {},
		Signal: func(r *protocol.Signal) { a.said <- *r }, Lent: func([]string) {}, Settled: func([]string) {}}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx, d.Handle) }()
	t.Cleanup(func() { cancel(); <-served; l.Close() })
	return a
}

func (a *agent0) send(id, mode, body string) {
	a.t.Helper()
	msg := queue.Message{ID: id, From: "bob", Body: body, Mode: mode, Kind: "message", Redelivery: "never"}
	if _, _, err := a.box.Enqueue(msg, time.Now()); err != nil {
		a.t.Fatal(err)
	}
}

// run runs a hook in the agent's environment and returns what it printed, and its status.
func (a *agent0) run(in string, args ...string) (out, errs string, status int) {
	var o, e bytes.Buffer
	env := map[string]string{"RELAY_SOCKET": a.socket, "RELAY_TOKEN": "secret"}
	p := Process{In: strings.NewReader(in), Out: &o, Err: &e, Getenv: func(k string) string { return env[k] },
		Exit: func(int) { a.t.Error("it took too long") }}
	status = p.Run(args)
	return o.String(), e.String(), status
}

// silent runs a hook that has nothing to say.
func (a *agent0) silent(in string, args ...string) {
	a.t.Helper()
	if out, errs, status := a.run(in, args...); out+errs != "" || status != 0 {
		a.t.Errorf("%v printed %q and %q, status %d", args, out, errs, status)
	}
}

func TestHookSignals(t *testing.T) {
	a := newAgent(t)
	long := strings.Repeat("ü", protocol.MaxDetail)
	a.silent(`{"prompt":"x"}`, "UserPromptSubmit")
	a.silent(`{"notification_type":"permission_prompt","message":"`+long+`"}`, "Notification")
	a.silent(`{"notification_type":"idle_prompt","message":"x"}`, "Notification")
	a.silent(`{"agent_id":"sub"}`, "Stop")
	a.silent(`{`, "Stop")
	a.silent(`{"last_assistant_message":"x"}`, "Stop")
	want := []protocol.Signal{{Event: "turn_start"}, {Event: "blocked", Detail: long[:protocol.MaxDetail]}, {Event: "turn_end"}}
	for _, w := range want {
		got := <-a.said
		if got.Event != w.Event || got.Detail != w.Detail {
			t.Errorf("signalled %.100v, want %.100v", got, w)
		}
	}
	if len(a.said) != 0 {
		t.Errorf("and %v", <-a.said)
	}
}

func TestHookHandsMessagesOver(t *testing.T) {
	a := newAgent(t)
	a.silent(`{}`, "PostToolUse")
	a.send("s", "sequential", "later")
	a.silent(`{}`, "PostToolUse")
	a.send("i", "important", "soon \"quoted\" <tag>")
	a.send("u", "urgent", "now")
	a.send("big", "important", strings.Repeat("x", 9000))
	a.silent(`{"agent_id":"sub"}`, "PostToolUse") // a sub-agent's context is not the agent's
	out, errs, status := a.run(`{"tool_name":"Bash"}`, "PostToolUse")
	var got struct {
		Out struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || errs != "" || status != 0 {
		t.Fatalf("printed %q and %q, status %d: %v", out, errs, status, err)
	}
	text := func(id, body string) string { return parser.Envelope{ID: id, From: "bob", Body: body}.Text() }
	if want := "\n" + text("u", "now") + "\n\n" + text("i", "soon \"quoted\" <tag>"); got.Out.AdditionalContext != want || got.Out.HookEventName != "PostToolUse" {
		t.Errorf("got %+v, want %q", got, want)
	}
	if left := a.box.Heads(9); len(left) != 2 || left[0].ID != "big" || len(a.box.Lent()) != 2 {
		t.Errorf("left are %v, leased %v", left, a.box.Lent())
	}
}

func TestHookWaits(t *testing.T) {
	a := newAgent(t)
	first := make(chan int)
	go func() { _, _, status := a.run(``, "SessionStart", "wait"); first <- status }()
	<-a.box.Changed() // it waits
	type end struct {
		errs   string
		status int
	}
	second := make(chan end)
	go func() { _, errs, status := a.run(``, "Stop", "wait"); second <- end{errs, status} }()
	if status := <-first; status != 0 {
		t.Errorf("the one in whose place another waits ends with %d", status)
	}
	a.send("u", "urgent", "now")
	a.send("s", "sequential", "later")
	big := strings.Repeat("wörds ", 10000)
	a.send("i", "important", big)
	got := <-second
	if want := "\n" + (parser.Envelope{ID: "i", From: "bob", Body: big}).Text(); got.status != 2 || got.errs != want {
		t.Errorf("it ended with %d and %.100q", got.status, got.errs)
	}
	if left := a.box.Heads(9); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}

// TestHookThatCannot: nothing that goes wrong is the agent's business.
func TestHookThatCannot(t *testing.T) {
	a := newAgent(t)
	a.send("i", "important", "soon")
	a.silent(`{}`)
	a.silent(`{}`, "Nonsense")
	a.silent(`{}`, "PostToolUse", "nonsense")
	a.silent(``, "PostToolUse")
	for name, env := range map[string]map[string]string{
		"no socket":    {"RELAY_TOKEN": "secret"},
		"no token":     {"RELAY_SOCKET": a.socket},
		"wrong token":  {"RELAY_SOCKET": a.socket, "RELAY_TOKEN": "wrong"},
		"nobody there": {"RELAY_SOCKET": a.socket + "x", "RELAY_TOKEN": "secret"},
	} {
		for _, args := range [][]string{{"PostToolUse"}, {"Stop"}, {"Stop", "wait"}} {
			var out bytes.Buffer
			p := Process{In: strings.NewReader(`{}`), Out: &out, Err: &out, Getenv: func(k string) string { return env[k] }, Exit: func(int) { t.Error("it took too long") }}
			if status := p.Run(args); status != 0 || out.Len() > 0 {
				t.Errorf("%s, %v: status %d, %q", name, args, status, out.Bytes())
			}
		}
	}
	if len(a.box.Lent()) != 0 || len(a.said) != 0 {
		t.Error("something was pulled or said")
	}
}

// TestHookIsHurried: an agent does not wait for a wrapper that does not answer.
func TestHookIsHurried(t *testing.T) {
	socket := filepath.Join(testrig.Dir(t), "s")
	l, err := net.Listen("unix", socket) // who connects is not answered
	must(t, err)
	defer l.Close()
	status, ended := make(chan int, 1), make(chan struct{})
	env := map[string]string{"RELAY_SOCKET": socket, "RELAY_TOKEN": "secret"}
	p := Process{In: strings.NewReader(`{}`), Out: io.Discard, Err: io.Discard, Getenv: func(k string) string { return env[k] }, Exit: func(s int) { status <- s }}
	go func() { defer close(ended); p.Run([]string{"Stop"}) }()
	select {
	case s := <-status:
		if s != 0 {
			t.Errorf("it ends with %d", s)
		}
	case <-time.After(time.Minute):
		t.Fatal("the end of a hook that nobody answers: not within a minute")
	}
	nc, err := l.Accept()
	must(t, err)
	nc.Close()
	<-ended
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
