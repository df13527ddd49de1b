package fleet

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
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
