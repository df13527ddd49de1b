package api

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// says lists a wrapper that answers how its agent can be heard, by what why says at that moment.
func (r *rig) says(name string, why func() string) {
	r.wraps(name, name+"s token", func(_ context.Context, c *sock.Conn) {
		for in := range c.Incoming() {
			if ask, ok := in.Request.(*protocol.Status); ok {
				c.Answer(&protocol.StatusAnswer{Head: ask.Head, Name: name, Unheard: why()})
			}
		}
	})
}

// awaits asks for the answer to a message of ci's, and waits for it for minutes at most.
func (r *rig) awaits(id, to string) Message {
	r.t.Helper()
	m, err := r.Send(r.t.Context(), Send{ID: id, From: "ci", To: to, Body: "done?", Until: router.Replied, WaitMS: time.Minute.Milliseconds()})
	if err != nil || !m.Reached(router.Replied) {
		r.t.Fatalf("%s has an end: not within a minute: %+v, %v", id, m, err)
	}
	return m
}

// TestWaitForOneWhomNobodyHears ends at once, and says why; the message goes its way.
func TestWaitForOneWhomNobodyHears(t *testing.T) {
	r := start(t)
	r.says("bob", func() string { return "it draws" })
	m := r.awaits("m-1", "bob")
	if m.Error == nil || m.Error.Code != router.Unheard || !strings.HasPrefix(m.Error.Message, "nobody hears bob: it draws; an answer by relay reply") {
		t.Errorf("got %+v", m.Error)
	}
	if m, err := r.Message(t.Context(), "m-1", "", 0); err != nil || m.Error != nil || m.Status != router.StatusAccepted {
		t.Errorf("the message is %s, %+v, %v", m.Status, m.Error, err)
	}
	if m, err := r.Message(t.Context(), "m-1", router.Delivered, time.Millisecond); err != nil || m.Error != nil {
		t.Errorf("whoever waits for the delivery alone is told %+v, %v", m.Error, err)
	}
}

// TestWaitForOneWhoHasAnsweredByItself goes on until there is an answer.
func TestWaitForOneWhoHasAnsweredByItself(t *testing.T) {
	r := start(t)
	r.says("bob", func() string { return "it draws" })
	_, err := r.Send(t.Context(), Send{From: "bob", To: router.Human, Body: "by relay send"})
	must(t, err)
	defer meanwhile(func() {
		r.takes("m-1", "bob")
		r.tell("m-1", protocol.StatusDelivered)
		if _, err := r.Reply(t.Context(), "m-1", Answer{From: "bob", Body: "yes"}); err != nil {
			t.Error(err)
		}
	})()
	if m := r.awaits("m-1", "bob"); len(m.Replies) != 1 || m.Error != nil {
		t.Errorf("got %+v, %+v", m.Replies, m.Error)
	}
}

// TestWaitIsNotHeldUp by a wrapper that does not answer, and ends when the agent begins to draw.
func TestWaitIsNotHeldUp(t *testing.T) {
	r := start(t)
	defer meanwhile(func() {
		r.takes("m-1", "carol") // whose wrapper only listens
		if _, err := r.Reply(t.Context(), "m-1", Answer{From: "carol", Body: "yes"}); err != nil {
			t.Error(err)
		}
		e := router.Event{Type: "inject_result", Agent: "carol", Message: router.Message{ID: "m-1"}}
		e.Status = protocol.StatusDelivered
		if err := r.hub.Record(t.Context(), e); err != nil {
			t.Error(err)
		}
	})()
	began := time.Now()
	if m := r.awaits("m-1", "carol"); len(m.Replies) != 1 || time.Since(began) >= wrapperWait {
		t.Errorf("after %v: got %+v", time.Since(began), m)
	}
	var draws atomic.Bool
	var taken sync.WaitGroup
	defer taken.Wait()
	r.says("bob", func() string {
		if draws.Load() {
			return "it draws"
		}
		defer draws.Store(true)
		taken.Go(func() { r.takes("m-2", "bob") })
		return ""
	})
	if m := r.awaits("m-2", "bob"); m.Error == nil || m.Error.Code != router.Unheard {
		t.Errorf("got %+v", m)
	}
}

// TestWaitForSeveral ends when none of those is left that can be heard.
func TestWaitForSeveral(t *testing.T) {
	r := start(t)
	must2 := func(_ Channel, err error) { must(t, err) }
	must2(r.Member(t.Context(), "all", "bob", true))
	must2(r.Member(t.Context(), "all", "carol", true))
	r.says("bob", func() string { return "it draws" })
	m, err := r.Send(t.Context(), Send{ID: "m-1", From: "ci", To: "#all", Body: "x", Until: router.Replied, WaitMS: 200})
	if err != nil || m.Reached(router.Replied) || m.Error != nil {
		t.Errorf("with carol: %+v, %v", m, err)
	}
	must2(r.Member(t.Context(), "all", "carol", false))
	if m := r.awaits("m-2", "#all"); m.Error == nil || m.Error.Code != router.Unheard || !strings.HasPrefix(m.Error.Message, "nobody hears bob: it draws; an answer") {
		t.Errorf("got %+v", m)
	}
}
