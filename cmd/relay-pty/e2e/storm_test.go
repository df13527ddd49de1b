package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/storm"
	"relay-pty/protocol"
)

// TestStorm: senders, humans and faults at once, and the books are right.
func TestStorm(t *testing.T) {
	t.Parallel()
	c := storm.Config{
		Agents: runs(3, 20), Messages: runs(400, 100_000), Faults: runs(6, 500),
		Kinds: possible(t), Patience: 2 * time.Minute,
	}
	if !proving() {
		c.Programs = []string{"line", "composer", "silent"}
	}
	run := weather(t, c)
	doubt := books.Doubts(run)
	shown(t, "storm: agents under senders, humans and faults: violations of the books",
		"0 in %d messages, %d faults, %d agents, %d lives; %d turns in doubt after %d kills; %s",
		len(run.Sends), len(run.Faults), c.Agents, len(run.Readings), doubt.Turns, doubt.Kills, ends(run))
}

// TestKills: nothing that was accepted is lost by kill -9, and no more than one message is
// in doubt for each. In a storm, where turns hold up to ten, it is one turn.
func TestKills(t *testing.T) {
	t.Parallel()
	n := runs(5, 1000)
	c := storm.Config{
		Agents: runs(2, 8), Messages: n * 20, Faults: n, Kinds: []string{"kill-wrapper"},
		Programs: []string{"line", "line", "line", "silent", "line", "line", "line", "composer"}, Quiet: true,
		Flags: []string{"--batch-max", "1"},
	}
	run := weather(t, c)
	accepted, lost := lost(run)
	doubt := books.Doubts(run)
	if lost > 0 || doubt.Kills != n || doubt.Messages > n {
		t.Errorf("%d accepted messages lost, %d of %d kills, %d in doubt", lost, doubt.Kills, n, doubt.Messages)
	}
	shown(t, "kill -9 of the wrapper under load: accepted messages lost; unknown or typed once more, marked", "%d of %d; %d after %d kills; %s",
		lost, accepted, doubt.Messages, n, ends(run))
}

// lost counts the messages of which a sender was told that they are queued, and those
// of them of which no end is told.
func lost(run books.Run) (accepted, lost int) {
	ended := map[string]bool{}
	for _, e := range run.Events {
		ended[e.ID] = ended[e.ID] || protocol.Terminal(e.Status)
	}
	for _, s := range run.Sends {
		if s.Answer == "queued" {
			accepted++
			if !ended[s.ID] {
				lost++
			}
		}
	}
	return accepted, lost
}

// possible are the faults that can be had here.
func possible(t *testing.T) []string {
	t.Helper()
	kinds := storm.Kinds()
	_, err := exec.LookPath("strace")
	if err == nil && os.Geteuid() != 0 {
		err = fmt.Errorf("small disks and strace need root")
	}
	if err == nil || !slices.Contains(kinds, "disk-full") {
		return kinds
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("CI cannot run this: %v", err)
	}
	t.Logf("NOT RUN: faults of the disk: %v", err)
	return slices.DeleteFunc(kinds, func(k string) bool { return k == "disk-full" || k == "sync-error" })
}

// weather runs a storm and checks its books. What is left of one that failed is kept.
func weather(t *testing.T, c storm.Config) books.Run {
	t.Helper()
	c.Seed, c.Binary, c.Log = seed(t), binary(t), t.Logf
	dir, err := os.MkdirTemp("", "storm")
	must(t, err)
	c.Dir = dir
	var strays atomic.Int64
	c.Stray = func(agent, event string) {
		if strays.Add(1) <= 5 {
			t.Errorf("%s said nothing, but there is %s", agent, event)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("RELAY_SEED=%d; what is left of the run: %s", c.Seed, dir)
			return
		}
		os.RemoveAll(dir) // tests leave nothing
	})
	began := time.Now()
	run, err := storm.Run(bounded(t, time.Duration(runs(4, 60))*time.Minute, "the end of a storm"), c)
	must(t, err)
	t.Logf("ran for %v", time.Since(began).Round(time.Second))
	began = time.Now()
	bad := books.Check(run)
	t.Logf("checked in %v: %s", time.Since(began).Round(time.Millisecond), ends(run))
	kinds := map[string]int{}
	for _, v := range bad {
		if kinds[v.Invariant]++; kinds[v.Invariant] <= 3 {
			t.Errorf("%s at %s: %s %s\n%s", v.Invariant, v.Agent, v.ID, v.What, trace(t, run, v))
		}
	}
	if len(bad) > 0 {
		t.Errorf("%d violations: %v", len(bad), kinds)
	}
	return run
}

// ends counts what became of the messages, and how often agents read one again.
func ends(run books.Run) string {
	n := map[string]int{}
	for _, e := range run.Events {
		n[e.Status]++
	}
	again := 0
	for _, r := range run.Readings {
		again += strings.Count(string(r.Bytes), " · redelivery")
	}
	refused, unanswered := 0, 0
	for _, s := range run.Sends {
		switch s.Answer {
		case "queued":
		case "":
			unanswered++
		default:
			refused++
		}
	}
	return fmt.Sprintf("%d accepted, %d refused, %d without an answer; %d delivered, %d failed, %d expired, %d cancelled, %d unknown, %d marked duplicates",
		n["queued"], refused, unanswered, n["delivered"], n["failed"], n["expired"], n["cancelled"], n["unknown"], again)
}

// trace is all that is known of the message of a violation.
func trace(t *testing.T, run books.Run, v books.Violation) string {
	var b strings.Builder
	for _, s := range run.Sends {
		if s.ID == v.ID && v.ID != "" {
			fmt.Fprintf(&b, "  sent: %.300q\n", fmt.Sprintf("%+v", s))
		}
	}
	for _, e := range run.Events {
		if e.ID == v.ID && v.ID != "" {
			line, err := protocol.Encode(&e.InjectResult)
			must(t, err)
			fmt.Fprintf(&b, "  event: %s", line)
		}
	}
	for _, r := range run.Readings {
		if at := strings.Index(string(r.Bytes), v.ID); at >= 0 && r.Agent == v.Agent && v.ID != "" {
			fmt.Fprintf(&b, "  read in life %d (killed: %v) at byte %d of %d: %.400q\n", r.Life, r.Killed, at, len(r.Bytes), r.Bytes[max(0, at-60):])
		}
	}
	for _, f := range run.Faults {
		if f.Agent == v.Agent {
			fmt.Fprintf(&b, "  fault in life %d: %s\n", f.Life, f.Kind)
		}
	}
	return b.String()
}
