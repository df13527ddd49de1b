package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
	"relay-pty/queue"
)

// office is a server on a real socket, with a mailbox that nobody empties.
type office struct {
	t      *testing.T
	path   string
	box    *queue.Mailbox
	events *queue.Outbox
	closed chan struct{}
	screen []string // its rows
	said   chan protocol.Signal
	noted  chan string // of leases
	unread atomic.Bool
	spoke  atomic.Int32
}

func newOffice(t *testing.T, changes ...func(*Server)) *office {
	t.Helper()
	o := &office{t: t, path: filepath.Join(t.TempDir(), "s"), events: queue.NewOutbox(), closed: make(chan struct{}),
		said: make(chan protocol.Signal, 10), noted: make(chan string, 100)}
	var err error
	if o.box, err = queue.New(queue.Config{Max: 10}, o.events); err != nil {
		t.Fatal(err)
	}
	l, err := sock.Listen(o.path, "alice")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	d := &Server{Name: "alice", Token: "secret", Box: o.box, Events: o.events, Closed: o.closed,
		Status: func() *protocol.StatusAnswer { return &protocol.StatusAnswer{Name: "alice", State: "busy"} },
		Screen: func() *protocol.ScreenAnswer { return &protocol.ScreenAnswer{Rows: o.screen} },
		Explain: func() *protocol.ExplainAnswer {
			return &protocol.ExplainAnswer{State: "busy", Signs: []protocol.Sign{{Name: protocol.SignBusyRow, Wins: true}}}
		},
		Signal: func(r *protocol.Signal) { o.said <- *r }, Unread: o.unread.Load, Spoke: func() { o.spoke.Add(1) },
		Lent: func(ids []string) { o.noted <- "lent " + strings.Join(ids, " ") }, Settled: func(ids []string) { o.noted <- "settled " + strings.Join(ids, " ") }}
	for _, change := range changes {
		change(d)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx, d.Handle) }()
	t.Cleanup(func() {
		cancel()
		soon(t, "the end of Serve", served)
		l.Close()
	})
	return o
}

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// soon is what comes from c, which must not take long.
func soon[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
	return v
}

// late says so of a connection whose limit ran out.
func late(err error) error {
	if os.IsTimeout(err) {
		return fmt.Errorf("not within %v: %w", patience, err)
	}
	return err
}

// visitor is a client with its own view of the wire.
type visitor struct {
	t  *testing.T
	nc *net.UnixConn
	r  *bufio.Reader
}

func (o *office) visit() *visitor {
	o.t.Helper()
	nc, err := net.Dial("unix", o.path)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience))
	return &visitor{o.t, nc.(*net.UnixConn), bufio.NewReader(nc)}
}

func (v *visitor) say(lines ...string) {
	v.t.Helper()
	if _, err := v.nc.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		v.t.Fatal(err)
	}
}

// hear reads one line and checks that it has the given members.
func (v *visitor) hear(want ...any) map[string]any {
	v.t.Helper()
	line, err := v.r.ReadString('\n')
	if err != nil {
		v.t.Fatalf("read: %v (after %q), want %v", late(err), line, want)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		v.t.Fatalf("%s: %v", line, err)
	}
	for i := 0; i < len(want); i += 2 {
		if g := fmt.Sprint(got[want[i].(string)]); g != fmt.Sprint(want[i+1]) {
			v.t.Fatalf("%s is %s, want %v in %s", want[i], g, want[i+1], line)
		}
	}
	return got
}

func (v *visitor) hearsEnd() {
	v.t.Helper()
	if line, err := v.r.ReadString('\n'); err == nil || os.IsTimeout(err) {
		v.t.Fatalf("heard %q, %v, want the end", line, late(err))
	}
}

func message(id string) string {
	return fmt.Sprintf(`{"type":"inject","id":%q,"from":"bob","body":"hello","req":"r-%s"}`, id, id)
}

func TestInjectIsAnsweredToItsEnd(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"))
	v.nc.CloseWrite()
	v.hear("type", "inject_result", "id", "m1", "status", "queued", "queue_position", 1, "durable", false, "req", "r-m1")
	now := time.Now()
	must(t, o.box.Take(now, "m1"))
	v.hear("status", "injecting", "attempt", 1, "req", "r-m1")
	must(t, o.box.Finish("m1", queue.Outcome{Status: "delivered", Evidence: "turn"}, now))
	v.hear("status", "delivered", "evidence", "turn", "req", "r-m1")
	v.hearsEnd()
}

func TestAnswersKeepTheRequestsOrder(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(`{"type":"hello","req":"a"}`, message("m1"), `{"type":"nosuch","req":"b"}`, `{"type":"status","req":"c"}`,
		message("m2"), `{"type":"query","id":"m1","req":"d"}`, `{"type":"query","id":"m9","req":"e"}`)
	v.hear("type", "hello", "name", "alice", "protocol", 1, "req", "a")
	v.hear("id", "m1", "status", "queued")
	v.hear("type", "error", "code", "unknown_type", "req", "b")
	v.hear("type", "status", "state", "busy", "req", "c")
	v.hear("id", "m2", "status", "queued", "queue_position", 2)
	v.hear("id", "m1", "status", "queued", "req", "d")
	v.hear("type", "error", "code", "unknown_id", "id", "m9", "req", "e")
}

func TestSameIDAgain(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"), message("m1"), strings.Replace(message("m1"), "hello", "other", 1), message("m2"))
	v.hear("id", "m1", "status", "queued")
	v.hear("id", "m1", "status", "queued")
	v.hear("type", "error", "code", "duplicate_id", "id", "m1")
	v.hear("id", "m2", "status", "queued", "queue_position", 2)
	must(t, o.box.Take(time.Now(), "m1"))
	v.hear("id", "m1", "status", "injecting")
}

// What nobody can see is refused, and its id may be sent again. What is seen in part is kept as it
// was asked: the same again is the same message, and its sanitised form another one.
func TestBodiesOfWhichNothingIsSeen(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	body := func(body string) string { return strings.Replace(message("m1"), "hello", body, 1) }
	for _, unseen := range []string{`\u200b`, `\ufeff\u202e`, `\u0007`, `\r`, `\u3164`, `\udb40\udc68\udb40\udc69`} {
		v.say(body(unseen))
		v.hear("type", "error", "code", "bad_field", "field", "body", "id", "m1", "req", "r-m1")
	}
	v.say(body(`a\u200bb`), body(`a\u200bb`), body("ab"))
	v.hear("id", "m1", "status", "queued")
	v.hear("id", "m1", "status", "queued")
	v.hear("type", "error", "code", "duplicate_id", "id", "m1")
	if got := o.box.Heads(1)[0].Body; got != "a\u200bb" {
		t.Errorf("kept %+q", got)
	}
	v.say(asAgent, `{"type":"emit","to":"bob","body":"\u200b","req":"e"}`)
	v.hear("type", "hello")
	v.hear("type", "error", "code", "bad_field", "field", "body", "req", "e")
}

func TestFullQueueRefusesAndRemembersNothing(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	sub := o.visit()
	sub.say(`{"type":"subscribe","events":["backpressure"]}`)
	sub.hear("type", "subscribed", "seq", 0)
	for i := range 9 {
		v.say(message(fmt.Sprint("m", i)))
		v.hear("status", "queued")
		if i == 7 {
			v.hear("type", "backpressure", "queue_length", 8, "accept", false)
		}
	}
	sub.hear("type", "backpressure", "accept", false)
	v.say(message("late"))
	v.hear("type", "error", "code", "queue_full", "id", "late", "req", "r-late")
	must(t, o.box.Take(time.Now(), "m0"))
	v.hear("id", "m0", "status", "injecting")
	v.say(message("late"))
	v.hear("id", "late", "status", "queued")
}

// TestWhatCannotBeReadNow is not said to be gone, or never to have been.
func TestWhatCannotBeReadNow(t *testing.T) {
	o := newOffice(t)
	o.events.Fail(errors.New("disk on fire"))
	v := o.visit()
	v.say(message("m1"), `{"type":"subscribe","after":3}`, `{"type":"subscribe","after":0}`, `{"type":"subscribe"}`,
		`{"type":"query","id":"m0"}`, `{"type":"cancel","id":"m0"}`)
	for range 6 {
		v.hear("type", "error", "code", "degraded")
	}
}

func TestSubscribeReplaysAndFollows(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"))
	v.hear("status", "queued")
	sub := o.visit()
	sub.say(`{"type":"subscribe","after":0}`)
	epoch := sub.hear("type", "subscribed", "seq", 0, "protocol", 1)["epoch"]
	sub.hear("type", "inject_result", "seq", 1, "id", "m1")
	must(t, o.events.Tell(&protocol.RelayCommand{From: "alice", To: "bob", Body: "hi", Source: "log"}, time.Now()))
	sub.hear("type", "relay_command", "seq", 2, "to", "bob")

	late := o.visit()
	late.say(`{"type":"subscribe","after":1,"events":["relay_command"]}`)
	late.hear("type", "subscribed", "seq", 1, "epoch", epoch)
	late.hear("type", "relay_command", "seq", 2)
	late.say(`{"type":"subscribe","after":99}`)
	late.hear("type", "error", "code", "cursor_gone", "message",
		"there is no event 99 yet, the newest is 2: the number may be of another epoch; subscribe with 0 for all events that are kept")
}

func TestSubscriberThatAlsoInjectsHearsEachEventOnce(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(`{"type":"subscribe"}`, message("m1"))
	v.hear("type", "subscribed")
	v.hear("id", "m1", "status", "queued", "req", "r-m1")
	now := time.Now()
	must(t, o.box.Take(now, "m1"))
	must(t, o.box.Finish("m1", queue.Outcome{Status: "failed", Fault: &protocol.Fault{Code: "x", Message: "y"}}, now))
	v.hear("id", "m1", "status", "injecting", "seq", 2)
	v.hear("id", "m1", "status", "failed", "seq", 3)
	v.say(`{"type":"hello"}`)
	v.hear("type", "hello")
}

func TestWrongTokenIsRefused(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(`{"type":"hello","token":"wrong"}`, `{"type":"hello","token":"secret"}`)
	v.hear("type", "error", "code", "not_authorized", "field", "token")
	v.hear("type", "hello", "name", "alice")
}

// TestTokenOfAForeignSessionIsRefused: whoever is not of the agent's session may do all that a
// script may, and does not speak as the agent. It is looked at once a connection.
func TestTokenOfAForeignSessionIsRefused(t *testing.T) {
	var asked atomic.Int64
	const foreign, own = `{"type":"hello","token":"secret"}`, `{"type":"signal","event":"busy"}`
	for _, why := range []string{"it is of another session", ""} {
		v := newOffice(t, func(s *Server) {
			s.Foreign = func(_ *sock.Conn, reads bool) string {
				if reads {
					return "it was left behind"
				}
				asked.Add(1)
				return why
			}
		}).visit()
		v.say(foreign, own, `{"type":"hello"}`, message("m1"))
		if why != "" {
			if e := v.hear("type", "error", "code", "not_authorized", "field", "token"); e["message"] != why {
				t.Errorf("got %v", e)
			}
			v.hear("type", "error", "code", "not_authorized")
		} else {
			v.hear("type", "hello")
			v.hear("type", "ok")
		}
		v.hear("type", "hello")
		v.hear("status", "queued")
		if v.say(`{"type":"pull"}`); why == "" {
			v.hear("type", "error", "code", "not_authorized", "message", "it was left behind")
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("it was looked at %d times", n)
	}
}

func TestTheEndIsToldToAll(t *testing.T) {
	o := newOffice(t)
	v, sub := o.visit(), o.visit()
	sub.say(`{"type":"subscribe"}`)
	sub.hear("type", "subscribed")
	v.say(message("m1"))
	v.hear("status", "queued")
	must(t, o.box.Close(protocol.Fault{Code: "agent_exited", Message: "gone"}, false, time.Now()))
	must(t, o.events.Tell(&protocol.Exit{Code: 3}, time.Now()))
	close(o.closed)
	if e := v.hear("id", "m1", "status", "failed")["error"].(map[string]any); e["code"] != "agent_exited" {
		t.Errorf("failed with %v", e)
	}
	v.hearsEnd()
	sub.hear("status", "queued")
	sub.hear("status", "failed")
	sub.hear("type", "exit", "code", 3)
	sub.hearsEnd()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
