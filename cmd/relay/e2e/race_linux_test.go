package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// race is the agent alice, whose hooks and whose typist want the same messages, and what became of
// them.
type race struct {
	*user
	ctx   context.Context
	home  string // of the agent
	argv  []string
	rnd   *rand.Rand
	life  *exec.Cmd
	kills int               // of the wrapper
	sent  map[string]string // how each message may come again, by its id
	after int64             // the event that was read last
	ends  map[string]router.Event
}

// TestHooksAndTypistRace: hooks, one that waits, and the typist want the same messages, and all of
// them are killed now and then: no message is lost, and none comes twice without a mark.
func TestHooksAndTypistRace(t *testing.T) {
	t.Parallel()
	count, kills := testrig.Runs(32, 500), testrig.Runs(2, 17) // of each kind
	limit := time.Duration(testrig.Runs(2, 20)) * time.Minute
	ctx := testrig.Within(t, limit)
	r := newRace(ctx, t, kills)
	r.lives()
	n := 0
	for n < count || r.killed(killedHook) < kills || r.killed(killedWaiter) < kills {
		for range 1 + r.rnd.IntN(8) {
			r.sends(n)
			n++
		}
		r.ended(max(0, n-10), 0)
		if r.kills < min(kills, kills*n/count) {
			r.dies()
		}
	}
	r.ended(n, time.Duration(testrig.Runs(2, 60))*time.Second)
	r.life.Process.Kill()
	r.life.Wait() // it was killed
	r.check(kills)
}

func newRace(ctx context.Context, t *testing.T, kills int) *race {
	t.Helper()
	u, seed := newUser(t), testrig.Seed(t)
	r := &race{
		user: u, ctx: ctx, home: filepath.Join(u.dir, ".claude"), rnd: rand.New(rand.NewPCG(seed, 0)),
		sent: map[string]string{}, ends: map[string]router.Event{},
	}
	self, err := os.Executable()
	for _, dir := range []string{"sessions", "projects/p"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(r.home, dir), 0o700))
	}
	claude := filepath.Join(u.dir, "claude")
	script := "#!/bin/sh\n[ $1 = --version ] && exec echo 2.1.329\n" + agents.EnvAgent + "=" + hookedAgent +
		" " + agents.EnvConf + `='{"BusyMS":5,"QuitKeys":-1,"Still":true}'` +
		fmt.Sprintf(" %s=%s %s='%d %d' exec %s \"$@\"\n", hookedHome, r.home, hookedChance, seed, kills, self)
	if err = errors.Join(err, os.WriteFile(claude, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.dir, "alice")
	r.argv = []string{"run", "alice", "--headless", "--socket", socket, "--", claude}
	return r
}

// lives starts the agent and waits until it is there.
func (r *race) lives() {
	r.t.Helper()
	r.life = r.command(r.ctx, r.argv...)
	must(r.t, r.life.Start())
	pid := r.life.Process.Pid
	r.becomes(r.ctx, "a new life", func() bool {
		list, err := registry.List(filepath.Join(r.dir, "relay", "agents"))
		_, unknown := r.client().Agent(r.ctx, "alice") // the router hears of it a moment later
		return err == nil && unknown == nil && len(list) == 1 && list[0].PID == pid
	})
}

// dies kills the wrapper, and another one follows.
func (r *race) dies() {
	r.t.Helper()
	must(r.t, r.life.Process.Signal(syscall.SIGKILL))
	r.life.Wait() // it was killed
	r.kills++
	r.lives()
}

// sends sends the nth message. Each has a sender of its own, for one may send few a minute.
func (r *race) sends(n int) {
	r.t.Helper()
	m := api.Send{
		To: "alice", From: fmt.Sprint("s", n), ID: fmt.Sprint("m-", n), Mode: protocol.ModeImportant,
		Body:       "look " + strings.Repeat("of many words ", r.rnd.IntN(200)),
		Redelivery: []string{protocol.RedeliverNever, protocol.RedeliverOnce}[r.rnd.IntN(2)],
	}
	if _, err := r.client().Send(r.ctx, m); err != nil {
		r.t.Fatalf("send %s: %v", m.ID, err)
	}
	r.sent[m.ID] = m.Redelivery
}

// ended waits until so many messages have come to their end. When nothing does for a while, the
// wrapper is killed: what was leased for a hook that was killed is then settled at once. 0: it is
// not.
func (r *race) ended(n int, while time.Duration) {
	r.t.Helper()
	for len(r.ends) < n {
		q := api.Query{After: r.after, Types: []string{"inject_result"}, Wait: cmp.Or(while, 30*time.Second)}
		page, err := r.client().Events(r.ctx, q)
		if err != nil {
			r.t.Fatalf("%d of %d have ended: %v", len(r.ends), n, err)
		}
		r.after = page.Cursor
		for _, e := range page.Events {
			if protocol.Terminal(e.Status) {
				if was, ok := r.ends[e.ID]; ok {
					r.t.Errorf("%s ended twice:\n%+v\n%+v", e.ID, was, e)
				}
				r.ends[e.ID] = e
			}
		}
		if len(page.Events) == 0 && while > 0 {
			r.dies()
		}
	}
}

var receipt = regexp.MustCompile(`(?:"|\\n)\[relay (m-\d+) from s\d+([^\]]*)\] look`)

// receipts count how often the agent got a message without a mark, and with one.
type receipts struct{ plain, marked int }

// reads adds the receipts that stand in files of the agent's, in lines that count.
func (r *race) reads(all map[string]receipts, pattern string, counts func(string) bool) (n int) {
	r.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(r.home, pattern)) // the pattern is sound
	for _, path := range paths {
		log, err := os.ReadFile(path)
		if err != nil {
			r.t.Error(err)
		}
		for line := range strings.Lines(string(log)) {
			if !counts(line) {
				continue
			}
			for _, m := range receipt.FindAllStringSubmatch(line, -1) {
				was := all[m[1]]
				if n++; strings.Contains(m[2], "redelivery") {
					was.marked++
				} else {
					was.plain++
				}
				all[m[1]] = was
			}
		}
	}
	return n
}

// typed reports whether a row of the agent's log is a prompt that was typed.
func typed(row string) bool {
	return strings.Contains(row, `"type":"user"`) && strings.Contains(row, `"kind":"human"`)
}

// killed is how many hooks of a kind the agent has killed.
func (r *race) killed(kind string) int {
	list, _ := os.ReadFile(filepath.Join(r.home, "killed")) // none yet
	return strings.Count(string(list), kind+"\n")
}

// check holds the books together.
func (r *race) check(kills int) {
	r.t.Helper()
	got, logged := map[string]receipts{}, map[string]receipts{}
	byKeys := r.reads(got, "events-*", func(line string) bool {
		return strings.Contains(line, `"kind":"`+agents.KindSubmit+`"`)
	})
	byHooks := r.reads(got, "projects/p/*.jsonl", func(row string) bool { return !typed(row) })
	r.reads(logged, "projects/p/*.jsonl", func(string) bool { return true })
	lost, doubled, doubt, again := 0, 0, 0, 0
	for _, id := range slices.Sorted(maps.Keys(r.sent)) {
		end, plain, marked := r.ends[id], got[id].plain, got[id].marked
		n := logged[id].plain + logged[id].marked
		if n > 1 || n > 0 && end.Status == protocol.StatusUnknown {
			r.t.Errorf("%s stands in the agent's log %d times, and ended as %s", id, n, end.Status)
		}
		switch {
		case end.Status == protocol.StatusUnknown:
			doubt++
		case end.Status != protocol.StatusDelivered || plain+marked == 0:
			lost++
			r.t.Errorf("%s ended as %s (%s), and the agent did not get it", id, end.Status, end.Evidence)
		}
		if plain > 1 || marked > 1 || marked > 0 && r.sent[id] == protocol.RedeliverNever {
			doubled++
			r.t.Errorf("%s, to come again %s, came %d times without a mark and %d times with one",
				id, r.sent[id], plain, marked)
		}
		again += marked
	}
	hooks, waiters := r.killed(killedHook), r.killed(killedWaiter)
	if r.kills < kills || byKeys == 0 || byHooks == 0 {
		r.t.Errorf("killed were %d wrappers, want %d; the agent got %d messages typed and %d by hooks",
			r.kills, kills, byKeys, byHooks)
	}
	shows(r.t, "hooks, one that waits and the typist race for %d messages; kill -9 of %d hooks, "+
		"%d that waited, %d wrappers => %d lost, %d doubled without a mark; %d in doubt and told so, "+
		"%d came with a mark; %d typed, %d handed over",
		len(r.sent), hooks, waiters, r.kills, lost, doubled, doubt, again, byKeys, byHooks)
}
