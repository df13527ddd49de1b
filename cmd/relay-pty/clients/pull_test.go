package clients

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
	"relay-pty/queue"
)

const (
	pullAll  = `{"type":"pull","req":"p"}`
	pullWait = `{"type":"pull","wait_ms":60000,"req":"w"}`
)

func ackOf(ids ...string) string {
	return fmt.Sprintf(`{"type":"pull_ack","ids":["%s"],"req":"a"}`, strings.Join(ids, `","`))
}

// agent is a client that speaks as the agent.
func (o *office) agent(more ...string) *visitor {
	o.t.Helper()
	v := o.visit()
	v.say(append([]string{asAgent}, more...)...)
	v.hear("type", "hello")
	return v
}

// hearMessages reads the answer to a pull and checks whose messages it brings.
func (v *visitor) hearMessages(req string, ids ...string) []map[string]any {
	v.t.Helper()
	list := []map[string]any{}
	for _, m := range v.hear("type", "messages", "req", req)["messages"].([]any) {
		list = append(list, m.(map[string]any))
	}
	var got []string
	for _, m := range list {
		got = append(got, m["id"].(string))
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		v.t.Fatalf("pulled %v, want %v", got, ids)
	}
	return list
}

func TestOnlyTheAgentPulls(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"), pullAll, pullWait, ackOf("m1"))
	v.hear("status", "queued")
	v.hear("type", "error", "code", "not_authorized", "req", "p")
	v.hear("type", "error", "code", "not_authorized", "req", "w")
	v.hear("type", "error", "code", "not_authorized", "req", "a")
	if len(o.box.Lent()) != 0 || o.box.Len() != 1 {
		t.Error("something was pulled")
	}
}

func TestPullAndAck(t *testing.T) {
	o := newOffice(t)
	sender := o.visit()
	sender.say(message("m1"), `{"type":"inject","id":"n","from":"bob","body":"a\tb","kind":"notice","mode":"important","reply_to":"m0","thread":"t"}`)
	sender.hear("id", "m1", "status", "queued")
	sender.hear("id", "n", "status", "queued")
	v := o.agent(pullAll, pullAll, `{"type":"queue"}`)
	got := v.hearMessages("p", "n", "m1")
	want := map[string]any{"id": "n", "from": "bob", "mode": "important", "reply_to": "m0", "thread": "t", "body": "a\tb",
		"text": "[relay n from bob · re m0 · thread t] a    b\n[end n]"}
	if fmt.Sprint(got[0]) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got[0], want)
	}
	if text := got[1]["text"]; text != "[relay m1 from bob] hello\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]" {
		t.Errorf("the text is %q", text)
	}
	if n := o.spoke.Load(); n != 1 {
		t.Errorf("%d connections spoke as the agent, want 1", n)
	}
	v.hearMessages("p")
	if waiting := v.hear("type", "queue")["messages"].([]any); len(waiting) != 0 {
		t.Errorf("waiting are %v", waiting)
	}
	sender.hear("id", "n", "status", "injecting", "attempt", 1)
	sender.hear("id", "m1", "status", "injecting", "attempt", 1)
	sender.say(`{"type":"cancel","id":"m1","req":"c"}`)
	sender.hear("type", "error", "code", "too_late", "req", "c")
	other := o.agent(ackOf("n", "m1"), ackOf("m1"), ackOf("nobody"), ackOf("m1", "m2")) // a hook that is over cannot acknowledge
	for range 2 {
		other.hear("type", "ok", "req", "a", "seq", nil)
	}
	other.hear("type", "error", "code", "unknown_id", "id", "nobody")
	other.hear("type", "error", "code", "unknown_id", "id", "m2")
	sender.hear("id", "n", "status", "delivered", "evidence", "pulled", "attempt", 1)
	sender.hear("id", "m1", "status", "delivered", "evidence", "pulled")
	for _, want := range []string{"lent n m1", "lent ", "settled n m1", "settled m1"} {
		if got := soon(t, want, o.noted); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// TestPullWhereNoMarkerIsRead tells how to answer all the same.
func TestPullWhereNoMarkerIsRead(t *testing.T) {
	o := newOffice(t)
	o.unread.Store(true)
	sender := o.visit()
	sender.say(message("m1"))
	sender.hear("id", "m1", "status", "queued")
	got := o.agent(pullAll).hearMessages("p", "m1")
	if text := got[0]["text"]; text != "[relay m1 from bob] hello\n[end m1 · reply: relay reply m1 …]" {
		t.Errorf("the text is %q", text)
	}
}

func TestPullTakesWhatItAsksFor(t *testing.T) {
	o := newOffice(t)
	for i, mode := range []string{"sequential", "important", "urgent", "important"} {
		r := &protocol.Inject{ID: fmt.Sprint("m", i), From: "bob", Body: "x", Mode: mode, Kind: "message", Redelivery: "never"}
		if _, _, err := o.box.Enqueue(queue.FromRequest(r), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	v := o.agent()
	size := len(parser.Envelope{ID: "m2", From: "bob", Body: "x"}.Text())
	for more, ids := range [][]string{{}, {"m2"}} {
		v.say(fmt.Sprintf(`{"type":"pull","max_bytes":%d,"req":"p"}`, size-1+more))
		v.hearMessages("p", ids...)
	}
	v.say(`{"type":"pull","max":1,"modes":["important","sequential"],"req":"p"}`, `{"type":"pull","modes":["sequential"],"req":"p"}`, pullAll)
	v.hearMessages("p", "m1")
	v.hearMessages("p", "m0")
	v.hearMessages("p", "m3")
	v.say(`{"type":"pull","max_bytes":1000,"wait_ms":60000,"req":"w"}`)
	big := strings.Repeat("x", protocol.MaxBody)
	for _, id := range []string{"b0", "b1"} {
		if _, _, err := o.box.Enqueue(queue.Message{ID: id, From: "bob", Body: big, Mode: "sequential", Kind: "message"}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if heads := o.box.Heads(9); len(heads) != 2 {
		t.Errorf("for the typist are %d messages that the one who waits does not want", len(heads))
	}
	v.say(pullAll, pullAll)
	v.hearMessages("w")
	v.hearMessages("p", "b0")
	v.hearMessages("p", "b1")
}

func TestAckThatIsTooLate(t *testing.T) {
	o := newOffice(t)
	sender := o.visit()
	sender.say(message("m1"), message("m2"))
	sender.hear("status", "queued")
	sender.hear("status", "queued")
	v := o.agent(pullAll)
	v.hearMessages("p", "m1", "m2")
	must(t, o.box.Settle(o.box.Lent()[0], false, time.Now()))
	v.say(ackOf("m1", "m2"))
	v.hear("type", "error", "code", "too_late", "id", "m1", "field", "ids", "req", "a")
	sender.hear("status", "injecting")
	sender.hear("status", "injecting")
	if e := sender.hear("id", "m1", "status", "unknown")["error"].(map[string]any); e["code"] != "unacknowledged" {
		t.Errorf("unknown for %v", e)
	}
	sender.hear("id", "m2", "status", "delivered", "evidence", "pulled")
}

// TestPullWaits: for a first message, and no longer than it is asked to.
func TestPullWaits(t *testing.T) {
	o := newOffice(t)
	v, sender := o.agent(`{"type":"pull","wait_ms":1,"req":"short"}`, pullWait), o.visit()
	v.nc.CloseWrite()
	v.hearMessages("short")
	sender.say(message("m1"))
	sender.hear("status", "queued")
	v.hearMessages("w", "m1")
	v.hearsEnd()
}

// TestOneWaits: the later of two, and either ends when its client asks for something else.
func TestOneWaits(t *testing.T) {
	o := newOffice(t)
	first := o.agent(pullWait)
	soon(t, "the first that waits", o.box.Changed())
	second := o.agent(pullWait, `{"type":"status","req":"s"}`, pullWait)
	second.hearMessages("w")
	second.hear("type", "status", "req", "s")
	first.hearMessages("w")
	second.say(`{"type":"nosuch"}`)
	second.hearMessages("w")
	second.hear("type", "error", "code", "unknown_type")
	sender := o.visit()
	sender.say(message("m1"))
	sender.hear("status", "queued")
	if heads := o.box.Heads(1); len(heads) != 1 {
		t.Error("nobody waits, and the message is not for the typist")
	}
}

// TestPullThatNobodyHears leaves its messages where they were.
func TestPullThatNobodyHears(t *testing.T) {
	o := newOffice(t)
	v := o.agent(`{"type":"pull","wait_ms":60000,"modes":["urgent"]}`)
	soon(t, "the pull that waits", o.box.Changed())
	v.nc.Close()
	soon(t, "the end of its waiting", o.box.Changed())
	sender := o.visit()
	sender.say(message("m1"))
	sender.hear("status", "queued")
	d := &Server{Box: o.box, Events: o.events, Lent: func([]string) {}, Settled: func([]string) {}, Unread: func() bool { return false }}
	c := &client{Server: d, gone: func() bool { return true }}
	if c.lend(&protocol.Pull{Max: 9, Modes: protocol.Modes()}, true); len(o.box.Lent()) != 0 {
		t.Errorf("leased are %v", o.box.Lent())
	}
	sender.hear("status", "injecting", "attempt", 1)
	sender.say(`{"type":"query","id":"m1","req":"q"}`)
	sender.hear("id", "m1", "status", "queued", "queue_position", 1, "req", "q")
}

// TestPullWhileTheAPIRefuses gets nothing, also one that waits, and then as many as may be tried.
func TestPullWhileTheAPIRefuses(t *testing.T) {
	var most atomic.Int32
	o := newOffice(t, func(s *Server) { s.Lends = func(asked int) int { return min(asked, int(most.Load())) } })
	sender := o.visit()
	for _, id := range []string{"m1", "m2", "m3"} {
		sender.say(message(id))
		sender.hear("id", id, "status", "queued")
	}
	v := o.agent(pullAll)
	v.hearMessages("p")
	waits := o.agent(pullWait)
	soon(t, "the pull that waits", o.box.Changed())
	most.Store(1)
	o.box.Wake()
	waits.hearMessages("w", "m1")
	most.Store(10)
	v.say(pullAll)
	v.hearMessages("p", "m2", "m3")
}

func TestPullAtTheEndOfTheAgent(t *testing.T) {
	o := newOffice(t)
	v := o.agent(pullWait)
	soon(t, "the pull that waits", o.box.Changed())
	must(t, o.box.Close(protocol.Fault{Code: "agent_exited", Message: "gone"}, true, time.Now()))
	after := o.agent(pullAll)
	after.hear("type", "error", "code", "shutting_down", "req", "p")
	close(o.closed)
	v.hear("type", "error", "code", "shutting_down", "req", "w")
	v.hearsEnd()
}

// TestTypedClient: what Go programs of the agent's use.
func TestTypedClient(t *testing.T) {
	o := newOffice(t)
	sender := o.visit()
	sender.say(message("m1"))
	sender.hear("status", "queued")
	ctx := t.Context()
	anybody, err := sock.Dial(ctx, o.path)
	must(t, err)
	defer anybody.Close()
	if err := anybody.Signal(ctx, protocol.SignalBusy, "x"); err == nil {
		t.Error("anybody signals")
	}
	c, err := sock.DialAs(ctx, o.path, "secret")
	must(t, err)
	defer c.Close()
	must(t, c.Signal(ctx, protocol.SignalBusy, "x"))
	if got := soon(t, "the agent's word", o.said); got.Event != "busy" || got.Detail != "x" {
		t.Errorf("signalled %+v", got)
	}
	for _, want := range []int{1, 0} {
		msgs, err := c.Pull(ctx, &protocol.Pull{})
		if err != nil || len(msgs) != want || want == 1 && (msgs[0].ID != "m1" || msgs[0].Body != "hello") {
			t.Errorf("pulled %+v, %v", msgs, err)
		}
	}
	if err := c.PullAck(ctx, "m1"); err != nil {
		t.Error(err)
	}
	sender.hear("status", "injecting")
	sender.hear("status", "delivered", "evidence", "pulled")
}
