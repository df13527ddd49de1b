package registry_test

import (
	"context"
	"fmt"

	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// Two wrappers run; their events are followed, over the end of one of them and its next start.
func Example() {
	ctx, dir, alice := begin("alice", "bob")
	defer end()
	running, _ := registry.List(dir)
	events := make(chan string, 100)
	for _, r := range running {
		fmt.Println(r.Name, "runs")
		go follow(ctx, r, events)
	}
	for _, r := range running {
		fmt.Println(send(ctx, r.Socket, "m1"), "for", r.Name)
		fmt.Println(<-events)
	}
	alice.restart()
	fmt.Println(<-events)
	fmt.Println(send(ctx, running[0].Socket, "m2"), "for alice, who is back")
	fmt.Println(<-events)
	// Output:
	// alice runs
	// bob runs
	// m1 queued for alice
	// m1 delivered to alice: echo
	// m1 queued for bob
	// m1 delivered to bob: echo
	// alice ended
	// m2 queued for alice, who is back
	// m2 delivered to alice: echo
}

// follow tells what becomes of messages to one agent.
func follow(ctx context.Context, r registry.Record, events chan<- string) {
	f := sock.Follow(r.Socket, 0, "", "inject_result", "exit")
	defer f.Close()
	for {
		frame, err := f.Next(ctx)
		if err != nil {
			return
		}
		switch ev := frame.(type) {
		case *protocol.InjectResult:
			if protocol.Terminal(ev.Status) {
				events <- fmt.Sprintf("%s %s to %s: %s", ev.ID, ev.Status, r.Name, ev.Evidence)
			}
		case *protocol.Exit:
			events <- r.Name + " ended"
		case *sock.Gap:
			events <- "some events of " + r.Name + " are missing"
		}
	}
}

// send hands a message over, and returns its id and how far it came.
func send(ctx context.Context, socket, id string) string {
	c, err := sock.Dial(ctx, socket)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	answer, err := c.Ask(ctx, &protocol.Inject{ID: id, From: "human", Body: "hello"})
	if err != nil {
		return err.Error()
	}
	return id + " " + answer.(*protocol.InjectResult).Status
}
