package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// takes is the socket of a wrapper that answers what it is handed over, until ctx ends; then served
// receives.
func takes(ctx context.Context, t *testing.T, answer func(*sock.Conn, *protocol.Inject)) (path string, served <-chan error) {
	t.Helper()
	path = filepath.Join(testrig.Dir(t), "bob")
	l, err := sock.Listen(path, "bob")
	must(t, err)
	t.Cleanup(func() { l.Close() }) // ended by ctx
	ended := make(chan error, 1)
	go func() {
		ended <- l.Serve(ctx, func(_ context.Context, c *sock.Conn) {
			for in := range c.Incoming() {
				if ask, ok := in.Request.(*protocol.Inject); ok {
					answer(c, ask)
				}
			}
		})
	}()
	return path, ended
}

func queued(ask *protocol.Inject) *protocol.InjectResult {
	return &protocol.InjectResult{Req: ask.Req, ID: ask.ID, Status: protocol.StatusQueued, Queued: &protocol.Queued{Position: 1}}
}

// TestRedeliveriesAreMarked, and go unmarked to a wrapper of a version that does not know the word.
func TestRedeliveriesAreMarked(t *testing.T) {
	for name, knows := range map[string]bool{"a wrapper": true, "an older one": false} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			var asked []string
			path, served := takes(ctx, t, func(c *sock.Conn, ask *protocol.Inject) {
				asked = append(asked, ask.Redelivery)
				if ask.Redelivery == protocol.RedeliverMarked && !knows {
					c.Refuse(&protocol.Error{Code: protocol.BadField, Field: "redelivery", Message: "must be one of never, once", Req: ask.Req})
					return
				}
				c.Answer(queued(ask))
			})
			client, err := sock.Dial(ctx, path)
			must(t, err)
			m := router.Known{Message: router.Message{
				ID: "m:r1", From: "ci", To: "bob", Body: "hi", Kind: protocol.KindMessage, Mode: protocol.ModeSequential,
				Redelivery: protocol.RedeliverNever, Redelivers: "m",
			}, Result: router.Result{Status: router.StatusAccepted}, Accepted: time.Now().UnixMilli()}
			if err := (&Fleet{}).hand(ctx, client, m); err != nil {
				t.Error(err)
			}
			client.Close()
			cancel()
			<-served
			want := []string{protocol.RedeliverMarked}
			if !knows {
				want = append(want, protocol.RedeliverNever)
			}
			if !slices.Equal(asked, want) {
				t.Errorf("it was asked with %v, want %v", asked, want)
			}
		})
	}
}

// TestNewsOfAnInbox: what was not handed over is news once, in order, however much it is, and what
// was handed over only if it is to be cancelled. What has ended is no longer remembered.
func TestNewsOfAnInbox(t *testing.T) {
	n := 0
	h, err := hub.New(t.Context(), storerig.Open(t, ""), router.Rules{PairMost: 1000}, func() string { n++; return fmt.Sprint(n) })
	must(t, err)
	must(t, h.Up(t.Context(), registry.Record{Name: "bob", Agent: "generic", PID: 1}))
	const all = 2*some + 3
	for n := range all {
		_, err := h.Send(t.Context(), router.Message{ID: fmt.Sprint("m", n+1), From: "ci", To: "bob", Body: "hi"})
		must(t, err)
	}
	result := func(n int, status string) {
		must(t, h.Record(t.Context(), router.Event{Type: protocol.TypeInjectResult, Agent: "bob",
			Message: router.Message{ID: fmt.Sprint("m", n)}, Result: router.Result{Status: status}}))
	}
	result(1, protocol.StatusDelivered)
	result(2, protocol.StatusQueued)
	result(3, protocol.StatusQueued)
	must(t, h.Down(t.Context(), "bob", false))
	_, err = h.Cancel(t.Context(), "m2")
	must(t, err)
	handed := map[string]bool{"m1": true, "m2": true, "m3": true}
	var got, want []string
	for m := range (&Fleet{Hub: h}).news("bob", handed) {
		got, handed[m.ID] = append(got, m.ID), true
	}
	for n := range all {
		if id := fmt.Sprint("m", n+1); id != "m1" && id != "m3" {
			want = append(want, id)
		}
	}
	if !slices.Equal(got, want) || handed["m1"] {
		t.Errorf("news are %q, want %q; what has ended is remembered: %t", got, want, handed["m1"])
	}
}

// TestEndsThatNobodyHeard: where events of a wrapper were missed, it is asked about what it was
// given, and the end that it answers with is kept, once.
func TestEndsThatNobodyHeard(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	asked, missed := 0, make(chan struct{}, 1)
	path, served := takes(ctx, t, func(c *sock.Conn, ask *protocol.Inject) {
		r := queued(ask)
		if asked++; asked > 1 {
			r.Status, r.Queued, r.Evidence = protocol.StatusDelivered, nil, protocol.EvidenceTurn
		} else {
			missed <- struct{}{}
		}
		c.Answer(r)
	})
	h, err := hub.New(ctx, storerig.Open(t, ""), router.Rules{}, func() string { return "e" })
	must(t, err)
	bob := registry.Record{Name: "bob", Socket: path, Agent: "generic", PID: 1}
	must(t, h.Up(ctx, bob))
	_, err = h.Send(ctx, router.Message{ID: "m", From: "ci", To: "bob", Body: "hi"})
	must(t, err)
	handing := make(chan error, 1)
	go func() { handing <- (&Fleet{Hub: h}).handOver(ctx, bob, nil, missed) }()
	for status := ""; status != protocol.StatusDelivered; {
		changed := h.Changed()
		h.View(func(s *router.State, _ func(string) bool) {
			m, _ := s.Find("m")
			status = m.Status
		})
		if status == protocol.StatusDelivered {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("m is %s, want delivered: not within %v", status, patience)
		}
	}
	cancel()
	<-handing // ended by ctx
	<-served
	if asked != 2 {
		t.Errorf("it was handed over %d times, want 2", asked)
	}
}
