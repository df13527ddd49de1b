// Package peer tells whose process asks over a Unix socket.
package peer

import (
	"context"
	"net"
	"sync"

	"relay-pty/inject/agents"
	"relay-pty/protocol/process"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

type key struct{}

// peer is who is at the other end of a connection, looked at once: a parent may end while it lasts.
type peer struct {
	line []process.Process
	env  []string
}

// With is ctx for the requests of a connection.
func With(ctx context.Context, c net.Conn) context.Context {
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	look := sync.OnceValue(func() (p peer) {
		if p.line = sock.Descent(unix, 0); len(p.line) > 0 {
			p.env = process.Environ(p.line[0].PID)
		}
		return p
	})
	return context.WithValue(ctx, key{}, look)
}

// Foreign says why whoever asks is not of the session of the agent whose token it has, "" if
// nothing tells against it, as over TCP, where nobody can know.
func Foreign(ctx context.Context, agent registry.Record) string {
	look, ok := ctx.Value(key{}).(func() peer)
	if !ok {
		return ""
	}
	p := look()
	line := p.line
	for i, is := range line {
		if is.PID == agent.PID {
			line = line[:i] // what is above the wrapper is not the agent's
			break
		}
	}
	return agents.Foreign(line, p.env, agent.Job)
}
