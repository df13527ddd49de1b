package sock_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// A server that knows one request, and a client that asks for it and for another.
func Example() {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "alice.sock")
	listener, err := sock.Listen(path, "alice")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- listener.Serve(ctx, answer) }()

	client, err := sock.Dial(ctx, path)
	if err != nil {
		panic(err)
	}
	ok, err := client.Ask(ctx, &protocol.Resume{})
	fmt.Println(ok.Type(), err)
	_, err = client.Ask(ctx, &protocol.Query{ID: "m1"})
	fmt.Println(err)
	client.Close()
	stop()
	<-served
	// Output:
	// ok <nil>
	// unknown_id: no message m1
}

// answer is the handler of one connection: each line is answered, with
// the tag of its request, before the next is received.
func answer(_ context.Context, c *sock.Conn) {
	for in := range c.Incoming() {
		switch r := in.Request.(type) {
		case nil:
			c.Refuse(in.Error)
		case *protocol.Query:
			c.Answer(&protocol.Error{Code: protocol.UnknownID, Message: "no message " + r.ID, Req: r.Req})
		case *protocol.Resume:
			c.Answer(&protocol.OK{Head: r.Head})
		}
	}
}
