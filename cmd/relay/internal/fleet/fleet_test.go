package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// speaks is a wrapper that tells some events to whoever follows, and no more.
func speaks(ctx context.Context, c *sock.Conn, events ...protocol.Event) {
	for {
		select {
		case in, open := <-c.Incoming():
			if !open {
				return
			}
			if ask, ok := in.Request.(*protocol.Subscribe); ok {
				c.Answer(&protocol.Subscribed{Head: ask.Head, Epoch: "e"})
				for _, e := range events {
					c.Answer(e)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// TestLastWords: what an agent says just before it ends is routed, however long the log takes.
func TestLastWords(t *testing.T) {
	dir := testrig.Dir(t)
	log := storerig.Open(t, "")
	may, at := make(chan struct{}), make(chan struct{})
	log.Before(func(events []store.Entry) {
		for _, e := range events {
			if e.Type == protocol.TypeState {
				at <- struct{}{}
				<-may
			}
		}
	})
	h, err := hub.New(t.Context(), log, router.Rules{}, func() string { return "id" })
	must(t, err)
	bob := registry.Record{Name: "bob", Socket: filepath.Join(testrig.Dir(t), "bob"), PID: os.Getpid(), Agent: "generic"}
	l, err := sock.Listen(bob.Socket, bob.Name)
	must(t, err)
	says := []protocol.Event{
		&protocol.State{Stamp: protocol.Stamp{Seq: 1, Timestamp: 1}, State: "busy"},
		&protocol.RelayCommand{Stamp: protocol.Stamp{Seq: 2, Timestamp: 2}, ID: "last", From: "bob", To: router.Human, Body: "farewell", Source: "stream"},
		&protocol.Exit{Stamp: protocol.Stamp{Seq: 3, Timestamp: 3}},
	}
	serving, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- l.Serve(serving, func(ctx context.Context, c *sock.Conn) { speaks(ctx, c, says...) })
	}()
	listed, err := registry.Announce(dir, bob)
	must(t, err)
	ctx, stop := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("not within %v", patience))
	ran := make(chan error, 1)
	go func() { ran <- (&Fleet{Hub: h, Places: registry.At(dir)}).Run(ctx) }()
	await(t, ctx, "the first event", at)
	listed.Retire()
	end()
	<-served
	l.Close()
	close(may)
	for {
		changed, down := h.Changed(), false
		h.View(func(s *router.State, _ func(string) bool) {
			a, _ := s.Agent("bob")
			down = !a.Running
			if _, ok := s.Find("last"); down && !ok {
				t.Error("bob has ended, and his last message is not in the log")
			}
		})
		if down {
			break
		}
		await(t, ctx, "bob's end", changed)
	}
	stop()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
}

// TestRetired: a wrapper that ended while no router ran took its listing back if it is not there,
// unless the machine has ended meanwhile.
func TestRetired(t *testing.T) {
	dir := testrig.Dir(t)
	f := &Fleet{Places: registry.At(dir)}
	up, err := uptime()
	must(t, err)
	_, err = registry.Announce(dir, registry.Record{Name: "killed", Socket: filepath.Join(dir, "s"), PID: os.Getpid()})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "bad.json"), []byte("{"), 0o600))
	now := time.Now()
	for name, c := range map[string]struct {
		agent   string
		started time.Time
		want    bool
	}{
		"it is listed":                      {"killed", now, false},
		"it is not":                         {"gone", now, true},
		"its listing cannot be read":        {"bad", now, false},
		"it was started as the machine was": {"gone", now.Add(time.Minute - up), true},
		"it was started before the machine": {"gone", now.Add(-time.Minute - up), false},
	} {
		if got := f.retired(router.Agent{Name: c.agent, Started: c.started.UnixMilli()}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func await(t *testing.T, ctx context.Context, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-ctx.Done():
		t.Fatalf("wait for %s: %v", what, context.Cause(ctx))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
