package api

import (
	"context"
	"testing"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// TestKeysOnAFullDisk: keys that were pressed are told at once, together with that nobody can read
// of it later.
func TestKeysOnAFullDisk(t *testing.T) {
	r := start(t)
	r.wraps("bob", "bobs token", func(ctx context.Context, c *sock.Conn) {
		for in := range c.Incoming() {
			if ask, ok := in.Request.(*protocol.Keys); ok {
				c.Answer(&protocol.KeysAnswer{Head: ask.Head, Pressed: 1})
			}
		}
	})
	press := func() (Pressed, error) { return r.Keys(t.Context(), "bob", Keys{Keys: []string{"Enter"}}) }
	if done, err := press(); err != nil || done.Pressed != 1 || done.Error != nil {
		t.Fatalf("with room: %+v, %v", done, err)
	}
	r.store.Fill(true)
	if done, err := press(); err != nil || done.Pressed != 1 || done.Error == nil || done.Error.Code != string(protocol.Degraded) {
		t.Errorf("without room: %+v, %v", done, err)
	}
	if !r.hub.Full() {
		t.Error("nobody is told that the log is full")
	}
}
