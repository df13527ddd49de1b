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

// TestRedeliveriesAreMarked, and go unmarked to a wrapper of a version that does not know the word.
func TestRedeliveriesAreMarked(t *testing.T) {
	for name, knows := range map[string]bool{"a wrapper": true, "an older one": false} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(testrig.Dir(t), "bob")
			l, err := sock.Listen(path, "bob")
			must(t, err)
			defer l.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			var asked []string
			served := make(chan error, 1)
			go func() {
				served <- l.Serve(ctx, func(_ context.Context, c *sock.Conn) {
					for in := range c.Incoming() {
						ask, ok := in.Request.(*protocol.Inject)
						if !ok {
							continue
						}
						asked = append(asked, ask.Redelivery)
						if ask.Redelivery == protocol.RedeliverMarked && !knows {
							c.Refuse(&protocol.Error{Code: protocol.BadField, Field: "redelivery", Message: "must be one of never, once", Req: ask.Req})
							continue
						}
						c.Answer(&protocol.InjectResult{Req: ask.Req, ID: ask.ID, Status: protocol.StatusQueued, Queued: &protocol.Queued{Position: 1}})
					}
				})
			}()
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
