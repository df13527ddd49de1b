package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol"
)

// TestProveALongLog: neither a start of the router nor a look at the past takes longer with a long
// log, nor does the router need more memory: 30 MiB, and 60 when it works. A start may take 30 ms
// and a look 50, or on a machine that is slow twice what they take with a short log.
func TestProveALongLog(t *testing.T) {
	const events = 1_000_000
	u, short := newUser(t), newUser(t)
	last := map[int]int64{} // number of the last event, by how many there are
	last[events] = longLog(t, filepath.Join(u.dir, "state", "relay"), events)
	last[shortLog] = longLog(t, filepath.Join(short.dir, "state", "relay"), shortLog)
	ends := func() {}
	starts := func(u *user) func() {
		return func() { ends = u.serves(t) }
	}
	start := tookTime(func() { ends() }, starts(u), starts(short))
	told(t, "a start of the router", events, start[0])
	told(t, "a start of the router", shortLog, start[1])
	if most := max(30*time.Millisecond, 2*start[1]); start[0] > most {
		t.Errorf("a start of the router takes %v, want %v at most", start[0], most)
	}
	defer u.serves(t)()
	defer short.serves(t)()
	small := func(has string, most int) {
		memory := testrig.Memory(t, running(u.dir, aRouter)[0])
		if shows(t, "a router that has "+has+", memory => %d KiB", memory); memory > most<<10 {
			t.Errorf("a router that has %s takes %d KiB, want %d MiB at most", has, memory, most)
		}
	}
	small("just begun", 30)
	for what, args := range map[string]func(events int) []string{
		"relay events --after, near the end": func(n int) []string {
			return []string{"events", "--json", "--after", strconv.FormatInt(last[n]-500, 10)}
		},
		"relay show, an old message": func(int) []string { return []string{"show", "m-100"} },
		"relay show, a new message":  func(n int) []string { return []string{"show", fmt.Sprint("m-", n/4-1)} },
		"relay recv --last 10":       func(int) []string { return []string{"recv", "--last", "10", "--as", "agent3"} },
	} {
		list := tookTime(func() {},
			func() { u.does(t.Context(), args(events)...) },
			func() { short.does(t.Context(), args(shortLog)...) })
		told(t, what, events, list[0])
		told(t, what, shortLog, list[1])
		if most := max(50*time.Millisecond, 2*list[1]); list[0] > most {
			t.Errorf("%s takes %v, want %v at most", what, list[0], most)
		}
	}
	// A thousand events of one agent among twenty are found by reading twenty thousand: told, not
	// bound.
	told(t, "relay events --after 0 --target, 1,000 of 20,000 events", events, tookTime(func() {}, func() {
		u.does(t.Context(), "events", "--json", "--wait", "--after", "0", "--target", "agent3")
	})[0])
	small("just worked", 60)
	out := u.does(t.Context(), "recv", "--last", "10", "--as", "agent3")
	if want := fmt.Sprintf("(%d older)", events/4/20-10); !strings.HasPrefix(out, want) {
		t.Errorf("recv begins with %.40q, want %q", out, want)
	}
	if out := u.does(t.Context(), "show", "m-100"); !strings.Contains(out, "delivered") || strings.Count(out, "\n") < 6 {
		t.Errorf("show tells %q", out)
	}
}

// shortLog is how many events a short log has, a multiple of 4 as those of a long one.
const shortLog = 4_000

// told logs how long something took in a log of so many events.
func told(t *testing.T, what string, events int, took time.Duration) {
	t.Helper()
	shows(t, "%s, in a log of %d events (median of 5) => %v", what, events, took.Round(time.Millisecond/10))
}

// tookTime does each five times, by turns, and then does what ends it, and returns the median times
// of the first.
func tookTime(ends func(), each ...func()) (medians []time.Duration) {
	list := make([][]time.Duration, len(each))
	for range 5 {
		for i, do := range each {
			began := time.Now()
			do()
			list[i] = append(list[i], time.Since(began))
			ends()
		}
	}
	for _, l := range list {
		slices.Sort(l)
		medians = append(medians, l[len(l)/2])
	}
	return medians
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

// longLog writes a log of messages to twenty agents, four events each, as a router would, but a
// thousand messages at once. It returns the number of the last event.
func longLog(t *testing.T, dir string, events int) (last int64) {
	t.Helper()
	log, err := store.Open(t.Context(), dir, store.Limit{Age: 1000 * time.Hour, Bytes: 1 << 40})
	must(t, err)
	defer log.Close()
	state, err := router.Resume(log)
	must(t, err)
	var list []store.Entry
	write := func(about string, e router.Event) {
		e.EventID, e.Seq = "e-"+rand.Text(), state.Last+1
		state.Apply(e)
		data, err := json.Marshal(e)
		must(t, err)
		list = append(list, store.Entry{Seq: e.Seq, Type: e.Type, Agent: about, Data: data})
	}
	now := time.Now().Add(-time.Hour).UnixMilli()
	for i := range events / 4 {
		to := fmt.Sprint("agent", i%20)
		m := router.Message{ID: fmt.Sprint("m-", i), From: "alice", To: to, Kind: "message", Mode: "sequential", Redelivery: "never"}
		m.Chain = m.ID
		m.Body = strings.Repeat("Words of some length. ", 8)
		write(to, router.Event{Type: router.TypeMessage, Timestamp: now + int64(i), Message: m})
		for _, status := range []string{protocol.StatusQueued, protocol.StatusInjecting, protocol.StatusDelivered} {
			e := router.Event{Type: "inject_result", Timestamp: now + int64(i), Agent: to, Message: router.Message{ID: m.ID}}
			e.Status = status
			write(to, e)
		}
		if i%1000 == 999 || i == events/4-1 {
			rows, err := state.Take()
			must(t, err)
			must(t, log.Commit(t.Context(), list, rows))
			state.Saved(rows)
			list = nil
		}
	}
	return state.Last
}
