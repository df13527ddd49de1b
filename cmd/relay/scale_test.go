package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/bus"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestALongLog: neither a start of the router nor a look at the past takes longer with a long log.
// Times are promised where nothing runs beside; elsewhere they are told.
func TestALongLog(t *testing.T) {
	events := testrig.Runs(20_000, 1_000_000)
	u := newUser(t)
	store := filepath.Join(u.dir, "state", "relay")
	longLog(t, store, events)
	took := func(what string, most time.Duration, do func()) {
		t.Helper()
		var list []time.Duration
		for range 5 {
			began := time.Now()
			do()
			list = append(list, time.Since(began))
		}
		slices.Sort(list)
		if list[2] > most && testrig.Proving() {
			t.Errorf("%s takes %v, want %v at most", what, list[2], most)
		}
		t.Logf("EVIDENCE %s, in a log of %d events (median of 5) => %v", what, events, list[2].Round(time.Millisecond/10))
	}
	began := time.Now()
	end := u.serves(t)
	t.Logf("made anew from the log in %v", time.Since(began))
	end()
	if testrig.Proving() {
		took("a start of the router", time.Second, func() { u.serves(t)() })
	}
	end = u.serves(t)
	defer end()
	last := events / 4 * 4
	for what, args := range map[string][]string{
		"relay events --after, near the end": {"events", "--json", "--after", strconv.Itoa(last - 500)},
		"relay show, an old message":         {"show", "m-100"},
		"relay show, a new message":          {"show", fmt.Sprint("m-", last/4-1)},
		"relay recv --last 10":               {"recv", "--last", "10", "--as", "agent3"},
	} {
		took(what, 50*time.Millisecond, func() { u.does(t.Context(), args...) })
	}
	// A thousand events of one agent among twenty are found by reading twenty thousand: told, not
	// bound.
	took("relay events --after 0 --target, 1,000 of 20,000 events", time.Hour, func() {
		u.does(t.Context(), "events", "--json", "--wait", "--after", "0", "--target", "agent3")
	})
	t.Logf("EVIDENCE a router that has just worked, memory => %d KiB", testrig.Memory(t, running(u.dir, aRouter)[0]))
	out := u.does(t.Context(), "recv", "--last", "10", "--as", "agent3")
	if want := fmt.Sprintf("(%d older)", events/4/20-10); !strings.HasPrefix(out, want) {
		t.Errorf("recv begins with %.40q, want %q", out, want)
	}
	if out := u.does(t.Context(), "show", "m-100"); !strings.Contains(out, "delivered") || strings.Count(out, "\n") < 6 {
		t.Errorf("show tells %q", out)
	}
}

// serves runs the router, from when it answers until end is called.
func (u *user) serves(t *testing.T) (end func()) {
	t.Helper()
	cmd := u.command(t.Context(), "serve")
	errs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	must(t, err)
	said := make([]byte, 200)
	n, _ := errs.Read(said)
	if !bytes.Contains(said[:n], []byte("router at")) {
		t.Fatalf("the router says %q", said[:n])
	}
	return func() {
		t.Logf("the router has %d KiB", testrig.Memory(t, cmd.Process.Pid))
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the router ended with %v", err)
		}
		t.Logf("it has worked for %v", cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
}

// longLog writes a log of messages to twenty agents, four events each, as a router would, but
// without waiting for the disk.
func longLog(t *testing.T, dir string, events int) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	log, err := bus.Open(t.Context(), dir, bus.Keep{Age: 1000 * time.Hour, Bytes: 1 << 40})
	must(t, err)
	log.Close() // it has made the stream
	srv, err := server.NewServer(&server.Options{
		ServerName: "relay", DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: dir, JetStreamMaxStore: 1 << 50,
	})
	must(t, err)
	srv.Start()
	defer func() { srv.Shutdown(); srv.WaitForShutdown() }()
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	must(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(4000))
	must(t, err)
	now := time.Now().Add(-time.Hour).UnixMilli()
	for i := range events / 4 {
		to := fmt.Sprint("agent", i%20)
		m := router.Message{ID: fmt.Sprint("m-", i), From: "alice", To: to, Kind: "message", Mode: "sequential", Redelivery: "never", Chain: fmt.Sprint("m-", i)}
		m.Body = strings.Repeat("Words of some length. ", 8)
		publish(t, js, to, router.Event{Type: router.TypeMessage, Timestamp: now + int64(i), Message: m})
		for _, status := range []string{protocol.StatusQueued, protocol.StatusInjecting, protocol.StatusDelivered} {
			e := router.Event{Type: "inject_result", Timestamp: now + int64(i), Agent: to, Message: router.Message{ID: m.ID}}
			e.Status = status
			publish(t, js, to, e)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(5 * patience):
		t.Fatal("the log is not written yet")
	}
}

func publish(t *testing.T, js jetstream.JetStream, agent string, e router.Event) {
	e.EventID = "e-" + newID()
	data, err := json.Marshal(e)
	if err == nil {
		_, err = js.PublishAsync("ev."+e.Type+"."+agent, data)
	}
	must(t, err)
}
