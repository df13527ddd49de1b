package clients

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay-pty/protocol"
	"relay-pty/queue"
)

const (
	asAgent = `{"type":"hello","token":"secret"}`
	emitIt  = `{"type":"emit","to":"bob","body":"hi","req":"e"}`
	signal  = `{"type":"signal","event":"busy","detail":"thinking","req":"s"}`
)

func TestOnlyTheAgentSignalsAndEmits(t *testing.T) {
	o := newOffice(t)
	for name, before := range map[string]string{
		"without hello":           `{"type":"status"}`,
		"hello without token":     `{"type":"hello"}`,
		"hello with another's":    `{"type":"hello","token":"Secret"}`,
		"hello with the hash":     `{"type":"hello","token":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}`,
		"hello with more than it": `{"type":"hello","token":"secret "}`,
	} {
		t.Run(name, func(t *testing.T) {
			v := o.visit()
			v.say(before, signal, emitIt)
			v.hear()
			v.hear("type", "error", "code", "not_authorized", "req", "s")
			v.hear("type", "error", "code", "not_authorized", "req", "e")
		})
	}
	if len(o.said) != 0 || o.events.Last() != 0 {
		t.Error("something was taken")
	}
	sub, v := o.visit(), o.visit()
	sub.say(`{"type":"subscribe","req":"sub"}`)
	sub.hear("type", "subscribed", "req", "sub")
	v.say(asAgent, signal, emitIt, `{"type":"hello","token":"wrong"}`, `{"type":"hello"}`, emitIt)
	v.hear("type", "hello")
	v.hear("type", "ok", "req", "s", "seq", nil)
	v.hear("type", "ok", "req", "e", "seq", 1)
	v.hear("type", "error", "code", "not_authorized", "field", "token")
	v.hear("type", "hello")
	v.hear("type", "ok", "req", "e", "seq", 2)
	if got := soon(t, "the agent's word", o.said); got.Event != "busy" || got.Detail != "thinking" {
		t.Errorf("got %+v", got)
	}
	sub.hear("type", "relay_command", "seq", 1, "to", "bob", "source", "emit")
	sub.hear("type", "relay_command", "seq", 2)
}

func TestAgentHearsItsOwnEmitAfterTheAnswer(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(asAgent, `{"type":"subscribe"}`, emitIt, `{"type":"status"}`)
	v.hear("type", "hello")
	v.hear("type", "subscribed")
	v.hear("type", "ok", "seq", 1)
	v.hear("type", "relay_command", "seq", 1)
	v.hear("type", "status")
}

func TestCommandsNeedLeave(t *testing.T) {
	command := func(body string) string {
		return fmt.Sprintf(`{"type":"inject","id":"m1","from":"bob","body":"%s","kind":"command","req":"r"}`, body)
	}
	o := newOffice(t)
	v := o.visit()
	v.say(command("ls"), command(`a\nb`), asAgent, command("ls"), `{"type":"query","id":"m1"}`)
	v.hear("type", "error", "code", "not_authorized", "field", "kind", "id", "m1", "req", "r")
	v.hear("type", "error", "code", "not_authorized", "field", "kind", "id", "m1", "req", "r")
	v.hear("type", "hello")
	v.hear("type", "error", "code", "not_authorized", "id", "m1")
	v.hear("type", "error", "code", "unknown_id")
	if o.events.Last() != 0 {
		t.Error("something was queued")
	}

	o = newOffice(t, func(s *Server) { s.AllowCommand = true })
	v = o.visit()
	for _, bad := range []string{`a\nb`, `a\r`, `a\tb`, `\u0003`, `a\u001b[A`, `a\u007f`, `a\u009b1m`, `ls\u200b`, `ls \u202etxt`} {
		v.say(command(bad))
		v.hear("type", "error", "code", "bad_field", "field", "body", "id", "m1", "req", "r")
	}
	v.say(command("echo 'é' 🎉"))
	v.hear("id", "m1", "status", "queued", "req", "r")
	if m := o.box.Heads(1)[0]; m.Kind != protocol.KindCommand || m.Body != "echo 'é' 🎉" {
		t.Errorf("got %+v", m)
	}
}

func TestQueueIsListedInItsOrder(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(`{"type":"queue","req":"q"}`)
	if list := v.hear("type", "queue", "req", "q")["messages"].([]any); len(list) != 0 {
		t.Errorf("got %v", list)
	}
	inject := func(id, more string) string {
		return fmt.Sprintf(`{"type":"inject","id":%q,"from":"bob@h","body":"x"%s}`, id, more)
	}
	v.say(inject("s", ``), inject("s-1", `,"priority":-1,"timeout_ms":60000`), inject("i", `,"mode":"important","kind":"notice"`), inject("u9", `,"mode":"urgent","priority":9`),
		inject("u1", `,"mode":"urgent","priority":1`), inject("taken", ``))
	for range 6 {
		v.hear("status", "queued")
	}
	o.take("taken")
	v.hear("status", "injecting")
	must(t, o.box.WaitsFor("dialog", time.Now()))
	v.say(`{"type":"queue"}`)
	var got []string
	for _, e := range v.hear("type", "queue")["messages"].([]any) {
		m := e.(map[string]any)
		got = append(got, fmt.Sprintf("%s %s %v %v %v", m["id"], m["mode"], m["priority"], m["waiting_for"], m["expires_at"] != nil))
		if m["from"] != "bob@h" || m["queued_at"].(float64) < 1e12 || m["body"] != nil || len(m) != 7 {
			t.Errorf("got %v", m)
		}
	}
	want := []string{"u1 urgent 1 dialog false", "u9 urgent 9 dialog false", "i important 0 dialog false", "s-1 sequential -1 dialog true", "s sequential 0 dialog false"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUrgentHasItsReserve(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	for i := range 9 {
		v.say(message(fmt.Sprint("m", i)))
		v.hear("status", "queued")
		if i == 7 {
			v.hear("type", "backpressure", "accept", false)
		}
	}
	important := strings.Replace(message("i"), `"from"`, `"mode":"important","from"`, 1)
	urgent := strings.ReplaceAll(important, "important", "urgent")
	v.say(message("late"), important, urgent, strings.Replace(urgent, `"i"`, `"j"`, 1))
	v.hear("type", "error", "code", "queue_full", "id", "late")
	v.hear("type", "error", "code", "queue_full", "id", "i")
	v.hear("id", "i", "status", "queued", "queue_position", 1)
	v.hear("type", "error", "code", "queue_full", "id", "j")
}

func TestScreen(t *testing.T) {
	o := newOffice(t)
	o.screen = []string{"$ ls", "", "日本語"}
	v := o.visit()
	v.say(`{"type":"screen","req":"s"}`)
	if rows := fmt.Sprint(v.hear("type", "screen", "req", "s")["rows"]); rows != "[$ ls  日本語]" {
		t.Errorf("got %s", rows)
	}
}

func TestExplain(t *testing.T) {
	v := newOffice(t).visit()
	v.say(`{"type":"explain","req":"e"}`, `{"type":"explain","why":1,"req":"f"}`)
	if signs := fmt.Sprint(v.hear("type", "explain", "req", "e", "state", "busy")["signs"]); signs != "[map[name:busy_row says: since:<nil> wins:true]]" {
		t.Errorf("got %s", signs)
	}
	v.hear("type", "error", "code", "bad_field", "field", "why", "req", "f")
}

func TestAnswerOverALineIsRefused(t *testing.T) {
	o := newOffice(t)
	for range 1000 {
		o.screen = append(o.screen, strings.Repeat("語", 500))
	}
	v := o.visit()
	v.say(`{"type":"screen","req":"s"}`, `{"type":"status"}`)
	v.hear("type", "error", "code", "message_too_large", "req", "s")
	v.hear("type", "status")
}

// fill makes the log too long for what may wait to be written at a time.
func (o *office) fill() {
	o.t.Helper()
	for range 60 {
		if err := o.events.Tell(&protocol.MarkerInvalid{Raw: strings.Repeat("x", 30<<10)}, time.Now()); err != nil {
			o.t.Fatal(err)
		}
	}
}

// TestAnswersKeepTheirOrderBehindAReplay: results come out of the log, which a
// client that reads slowly has not been sent yet; other answers wait for them.
func TestAnswersKeepTheirOrderBehindAReplay(t *testing.T) {
	for name, first := range map[string]string{
		"inject": message("m1"),
		"cancel": `{"type":"cancel","id":"m0","req":"r-m1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			sender := o.visit()
			sender.say(message("m0"))
			sender.hear("id", "m0", "status", "queued")
			o.fill()
			v := o.visit()
			v.say(`{"type":"subscribe","after":1}`, first, `{"type":"status","req":"s"}`, message("m2"), `{"type":"cancel","id":"m2","req":"c"}`, `{"type":"hello"}`)
			v.nc.CloseWrite()
			v.hear("type", "subscribed")
			for i := range 60 {
				v.hear("type", "marker_invalid", "seq", i+2)
			}
			v.hear("type", "inject_result", "req", "r-m1")
			v.hear("type", "status", "req", "s")
			v.hear("id", "m2", "status", "queued", "req", "r-m2")
			v.hear("id", "m2", "status", "cancelled", "req", "c")
			v.hear("type", "hello")
		})
	}
}

// TestClientThatNeverReadsAndLeaves: what it has asked for still counts.
func TestClientThatNeverReadsAndLeaves(t *testing.T) {
	o := newOffice(t)
	o.fill()
	news, err := o.events.Follow(queue.FromNow)
	must(t, err)
	v := o.visit()
	v.say(`{"type":"subscribe","after":0}`, message("m1"), message("m2"), message("m3"))
	soon(t, "a first event", news.Wake()) // m1 is accepted, and its answer waits behind the replay
	v.nc.Close()
	limit := time.After(patience)
	for o.box.Len() < 3 {
		select {
		case <-news.Wake():
		case <-limit:
			t.Fatalf("three messages accepted: not within %v, %d are", patience, o.box.Len())
		}
	}
}
