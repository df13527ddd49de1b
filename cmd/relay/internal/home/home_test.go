package home

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
)

// TestRouterThatEndsIsAbsent: a router that is killed while it is asked is one that does not run,
// however far the question came.
func TestRouterThatEndsIsAbsent(t *testing.T) {
	socket := filepath.Join(testrig.Dir(t), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	go func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			switch n % 4 { // it ends before the question, in it, behind it, in its answer
			case 1:
				conn.Read(make([]byte, 1)) // else it is over already
			case 2:
				conn.Read(make([]byte, 4096)) // as before
			case 3:
				conn.Read(make([]byte, 4096))                                       // as before
				conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")) // as before
			}
			conn.Close() // nothing can be done
		}
	}()
	client := api.NewClient(socket, "")
	for n := range 200 {
		if _, err := client.Health(context.Background()); !absent(err) {
			t.Fatalf("question %d: %v is taken for a router that runs", n, err)
		}
	}
	listener.Close() // nothing can be done
	if _, err := client.Health(context.Background()); !absent(err) {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestRouterThatDoesNotAnswerIsThere: one that hangs is not replaced.
func TestRouterThatDoesNotAnswerIsThere(t *testing.T) {
	socket := filepath.Join(testrig.Dir(t), "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	defer listener.Close()
	hung := errors.New("it hangs")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, hung)
	defer cancel()
	if _, err := api.NewClient(socket, "").Health(ctx); !errors.Is(err, hung) || absent(err) {
		t.Errorf("got %v", err)
	}
	if absent(nil) {
		t.Error("a router that is well is taken for none")
	}
}
