package clients

import (
	"testing"
	"time"

	"relay-pty/protocol"
	"relay-pty/queue"
)

func (o *office) take(id string) {
	o.t.Helper()
	if err := o.box.Take(time.Now(), id); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) giveBack(id string) {
	o.t.Helper()
	if err := o.box.Return(id, time.Now()); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) finish(id, status string) {
	o.t.Helper()
	if err := o.box.Finish(id, queue.Outcome{Status: status}, time.Now()); err != nil {
		o.t.Fatal(err)
	}
}

// wanted waits until somebody's cancel of the message is known to the mailbox.
func (o *office) wanted(id string) {
	o.t.Helper()
	limit := time.After(patience)
	for !o.box.Wanted(id) {
		select {
		case <-o.box.Changed():
		case <-limit:
			o.t.Fatalf("the cancel of %s: not within %v", id, patience)
		}
	}
}

const cancelM1 = `{"type":"cancel","id":"m1","req":"c"}`

func TestCancelledIsToldToAllOnce(t *testing.T) {
	o := newOffice(t)
	sender, sub, other := o.visit(), o.visit(), o.visit()
	sub.say(`{"type":"subscribe"}`)
	sub.hear("type", "subscribed")
	sender.say(message("m1"))
	sender.hear("status", "queued")
	other.say(cancelM1, `{"type":"status","req":"s"}`)
	other.nc.CloseWrite()
	other.hear("type", "inject_result", "id", "m1", "status", "cancelled", "req", "c", "seq", 2)
	other.hear("type", "status", "req", "s")
	other.hearsEnd()
	sender.hear("id", "m1", "status", "cancelled", "req", "r-m1", "seq", 2)
	sender.say(`{"type":"hello"}`)
	sender.hear("type", "hello")
	sub.hear("id", "m1", "status", "queued")
	if e := sub.hear("id", "m1", "status", "cancelled"); e["req"] != nil {
		t.Errorf("a subscriber hears the canceller's req: %v", e)
	}
	sub.say(`{"type":"hello"}`)
	sub.hear("type", "hello")
}

func TestSenderCancelsItsOwn(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(`{"type":"subscribe"}`, message("m1"), cancelM1, cancelM1, `{"type":"query","id":"m1"}`, message("m1"), `{"type":"hello"}`)
	v.hear("type", "subscribed")
	v.hear("status", "queued", "req", "r-m1")
	v.hear("status", "cancelled", "req", "c")
	v.hear("status", "cancelled", "req", "c") // asked again: the latest result
	v.hear("status", "cancelled")
	v.hear("status", "cancelled", "req", "r-m1")
	v.hear("type", "hello")
}

func TestCancelTooLate(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"), message("m2"))
	v.hear("id", "m1", "status", "queued")
	v.hear("id", "m2", "status", "queued")
	o.take("m1")
	v.hear("id", "m1", "status", "injecting")
	if !o.box.Entering("m1") {
		t.Fatal("Enter is refused")
	}
	v.say(cancelM1)
	v.hear("type", "error", "code", "too_late", "id", "m1", "req", "c")
	o.finish("m1", "delivered")
	v.hear("id", "m1", "status", "delivered", "req", "r-m1")
	v.say(cancelM1, `{"type":"cancel","id":"m9","req":"d"}`)
	v.hear("type", "error", "code", "too_late", "id", "m1", "req", "c")
	v.hear("type", "error", "code", "unknown_id", "field", "id", "id", "m9", "req", "d")
}

// TestCancelWaitsForTheAttempt: the answer is the end of the attempt, what was
// asked after it on that connection is answered after it, and others go on.
func TestCancelWaitsForTheAttempt(t *testing.T) {
	for end, want := range map[string][]any{
		"withdrawn": {"type", "inject_result", "id", "m1", "status", "cancelled", "req", "c", "attempt", 1},
		"delivered": {"type", "error", "code", "too_late", "id", "m1", "req", "c"},
		"unknown":   {"type", "error", "code", "too_late", "id", "m1", "req", "c"},
	} {
		t.Run(end, func(t *testing.T) {
			o := newOffice(t)
			sender, canceller, second := o.visit(), o.visit(), o.visit()
			sender.say(message("m1"), message("m2"))
			sender.hear("id", "m1", "status", "queued")
			sender.hear("id", "m2", "status", "queued")
			o.take("m1")
			sender.hear("id", "m1", "status", "injecting")
			canceller.say(`{"type":"subscribe","events":["waiting"]}`, cancelM1, `{"type":"status","req":"s"}`)
			canceller.nc.CloseWrite()
			canceller.hear("type", "subscribed")
			o.wanted("m1")
			second.say(cancelM1)
			sender.say(`{"type":"status"}`)
			sender.hear("type", "status")
			must(t, o.box.WaitsFor("draft", time.Now()))
			canceller.hear("type", "waiting", "id", "m2") // events are no answers, they go on
			told := "cancelled"
			if end == "withdrawn" {
				o.giveBack("m1")
			} else {
				told = end
				o.finish("m1", end)
			}
			sender.hear("id", "m1", "status", told, "req", "r-m1")
			canceller.hear(want...)
			canceller.hear("type", "status", "req", "s")
			second.hear(want...)
		})
	}
}

func TestCancelOfATakenMessageThatTheSenderSends(t *testing.T) {
	o := newOffice(t)
	v := o.visit()
	v.say(message("m1"))
	v.hear("status", "queued")
	o.take("m1")
	v.say(cancelM1)
	v.nc.CloseWrite()
	v.hear("status", "injecting", "req", "r-m1")
	o.wanted("m1")
	o.giveBack("m1")
	v.hear("status", "cancelled", "req", "c")
	v.hearsEnd()
}

// TestCancelGivesUp: an attempt that nobody can withdraw does not keep the
// connection for ever, and what it is told stays true.
func TestCancelGivesUp(t *testing.T) {
	o := newOffice(t, func(s *Server) { s.patience = time.Millisecond })
	v := o.visit()
	v.say(message("m1"))
	v.hear("status", "queued")
	o.take("m1")
	v.hear("status", "injecting")
	v.say(cancelM1, `{"type":"status"}`)
	v.hear("type", "error", "code", "too_late", "id", "m1", "req", "c")
	v.hear("type", "status")
	if o.box.Wanted("m1") {
		t.Error("the wish is still there")
	}
	o.giveBack("m1")
	v.say(`{"type":"query","id":"m1","req":"q"}`)
	v.hear("id", "m1", "status", "queued", "req", "q")
}

func TestCancelAtTheEndOfTheAgent(t *testing.T) {
	o := newOffice(t)
	v, c := o.visit(), o.visit()
	v.say(message("m1"))
	v.hear("status", "queued")
	o.take("m1")
	c.say(cancelM1)
	o.wanted("m1")
	must(t, o.box.Close(protocol.Fault{Code: "agent_exited", Message: "gone"}, false, time.Now()))
	close(o.closed)
	c.hear("type", "error", "code", "too_late", "id", "m1", "req", "c")
	c.hearsEnd()
}
