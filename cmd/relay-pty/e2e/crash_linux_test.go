package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/disk"
	"relay-pty/protocol"
)

// crash is a directory in which wrappers run and are killed, one after another, and
// what they told.
type crash struct {
	t      *testing.T
	bin    string
	dir    string
	bodies map[string]string
	ids    []string
	told   *disk.Told
	runs   int
	ends   map[string]testrig.Frame
	unread int  // messages that a starved agent did not read in time: they failed
	brief  bool // the next run is killed when it is degraded
}

func newCrash(t *testing.T, bin string) *crash {
	c := &crash{t: t, bin: bin, dir: scratch(t), ends: map[string]testrig.Frame{}}
	c.bodies, c.ids = messages(20)
	c.told = disk.NewTold(c.bodies)
	return c
}

// keepsReading is an agent that writes down what it has read before it goes.
const keepsReading = `trap '' HUP; exec tee -a "$1"`

// run sends what was not accepted yet and waits until all has ended, or the wrapper was
// killed. It returns how many calls there were.
func (c *crash) run(decide verdicts) int {
	c.t.Helper()
	h := startHeadless(c.t, c.bin, c.dir, false, decide, []string{"--batch-max", "1"}, "sh", "-c", keepsReading, "sh", filepath.Join(c.dir, "got"))
	var rest []string
	for _, id := range c.ids {
		if !c.told.Accepted[id] {
			rest = append(rest, id)
		}
	}
	h.brief, c.brief = c.brief, false
	switch sent := h.send(c.bodies, rest...); {
	case sent && h.brief:
		h.fails()
	case sent:
		h.settles(c.ids...)
	}
	if decide == nil {
		h.again(c.bodies, c.ids)
	}
	h.end()
	c.runs++
	for who, client := range []*testrig.Client{h.events, h.sender} {
		if client == nil {
			continue
		}
		for _, f := range client.Frames() {
			if err := c.told.Hear(fmt.Sprint(who, c.runs), []byte(f.Raw)); err != nil {
				c.t.Error(err)
			}
			if f.Type() == "inject_result" && protocol.Terminal(f.Str("status")) {
				c.ends[f.Str("id")] = f
			}
		}
	}
	return h.watch.N()
}

// fails waits until the journal cannot be written, or nothing is left to do.
func (h *headless) fails() {
	h.t.Helper()
	becomes(h.t, "a journal that fails, or nothing to do", func() bool {
		f, err := h.sender.Request(patience(h.t), fields("status"))
		if over(err) {
			return true
		}
		must(h.t, err)
		return strings.Contains(f.Raw, `"degraded":true`) || strings.Contains(f.Raw, `"oldest_pending_ms":null`)
	})
}

// again sends messages that are known: each is answered with its end, and nothing typed.
func (h *headless) again(bodies map[string]string, ids []string) {
	h.t.Helper()
	for _, id := range ids {
		n := h.sender.Len()
		h.send(bodies, id)
		f, err := h.sender.WaitFrom(patience(h.t, "the answer to "+id), n, func(f testrig.Frame) bool { return f.Str("id") == id })
		if err != nil || !protocol.Terminal(f.Str("status")) {
			h.t.Errorf("%s, which has ended, is answered with %s, %v", id, f.Raw, err)
		}
	}
}

var header = regexp.MustCompile(`\[relay (\S+) from bob( · redelivery)?\]`)

// check compares what the agent has read with how each message ended, and the journal
// with what was told. It returns how many are in doubt or were read twice.
func (c *crash) check() (unsure int) {
	c.t.Helper()
	if err := c.told.Check(filepath.Join(c.dir, "state", "relay-pty"), "alice", true); err != nil {
		c.t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(c.dir, "got"))
	must(c.t, err)
	plain, marked := map[string]int{}, map[string]int{}
	for _, m := range header.FindAllStringSubmatch(string(b), -1) {
		if m[2] == "" {
			plain[m[1]]++
		} else {
			marked[m[1]]++
		}
	}
	for id := range maps.Keys(plain) {
		if _, sent := c.bodies[id]; !sent {
			c.t.Errorf("%s was read, and nobody sent it", id)
		}
	}
	for _, id := range c.ids {
		f, read := c.ends[id], plain[id]+marked[id]
		again := redelivery(id) == "once"
		switch {
		case !c.told.Accepted[id] || f.Raw == "":
			c.t.Errorf("%s has no end", id)
		case plain[id] > 1 || marked[id] > 1 || marked[id] > 0 && !again:
			c.t.Errorf("%s was read %d times unmarked, %d times marked", id, plain[id], marked[id])
		case f.Str("status") == "delivered" && (read == 0 || !whole(string(b), id, c.bodies[id])):
			c.t.Errorf("%s was delivered, and not read: %s", id, f.Raw)
		case f.Str("status") == "unknown" && again && f.Num("attempt") < 2:
			c.t.Errorf("%s was not tried again: %s", id, f.Raw)
		case f.Str("status") == "failed" && strings.Contains(f.Raw, `"code":"no_consume"`):
			if c.unread++; read > 0 {
				c.t.Errorf("%s failed, and was read: %s", id, f.Raw)
			}
		case f.Str("status") != "delivered" && f.Str("status") != "unknown":
			c.t.Errorf("%s ended as %s", id, f.Raw)
		}
		if f.Str("status") == "unknown" || read > 1 {
			unsure++
		}
	}
	if c.unread > 0 {
		c.t.Logf("%d messages failed: their agent did not read", c.unread)
	}
	if most := runs(len(c.ids)/4, 0); c.unread > most {
		c.t.Errorf("%d of %d messages failed, want %d at most: does the agent read at all?", c.unread, len(c.ids), most)
	}
	return unsure
}

// whole reports whether a message was read, as it is or marked.
func whole(read, id, body string) bool {
	plain := text(id, body)
	marked := strings.Replace(plain, "from bob]", "from bob · redelivery]", 1)
	return strings.Contains(read, plain) || strings.Contains(read, marked)
}

// killAt kills the wrapper at its k-th call; a write is torn.
func killAt(k int, torn bool) verdicts {
	return func(n int, c disk.Call) disk.Verdict {
		v := disk.Verdict{Kill: n == k}
		if torn && c.What == disk.Write {
			v.Short = len(c.Data) / 2
			v.Kill = v.Kill && v.Short > 0
		}
		if !v.Kill {
			return disk.Verdict{}
		}
		return v
	}
}

// inDoubt is how many messages may be in doubt after one kill where they are typed one by one.
const inDoubt = 1

// spots is up to n of the points 1 … most, the first and the last among them.
func spots(n, most int) (points []int) {
	for i := range min(n, most) {
		points = append(points, 1+i*(most-1)/max(1, min(n, most)-1))
	}
	return slices.Compact(points)
}

// TestCrashPoints: the wrapper is killed at each of its calls that change the state
// directory, in a run of 20 messages; the next one loses nothing.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	calls := newCrash(t, bin).run(nil)
	points := spots(runs(4, 1<<20), calls)
	var killed, unsure, worst atomic.Int64
	sideBySide(t, len(points), func(t *testing.T, i int) {
		k := points[i]
		c := newCrash(t, bin)
		if n := c.run(killAt(k, k%2 == 0)); n >= k {
			killed.Add(1)
		}
		c.run(nil)
		n := int64(c.check())
		unsure.Add(n)
		for was := worst.Load(); n > was && !worst.CompareAndSwap(was, n); was = worst.Load() {
		}
	})
	if n := int64(len(points)); killed.Load() < n-n/4-1 {
		t.Errorf("only %d of %d points were reached", killed.Load(), n)
	}
	if worst.Load() > inDoubt {
		t.Errorf("%d messages are in doubt after one kill", worst.Load())
	}
	shown(t, "crash points", "kill -9 at %d of the %d calls of 20 messages that change the state directory: 0 accepted lost, 0 invented, events unchanged; %d in doubt or marked, at most %d a kill",
		killed.Load(), calls, unsure.Load(), worst.Load())
}

// TestCrashPointsOfRecovery: so is the second run, while it recovers; the third loses
// nothing.
func TestCrashPointsOfRecovery(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	rnd := rand.New(rand.NewPCG(seed(t), 3))
	first := killAt(60+rnd.IntN(200), false)
	probe := newCrash(t, bin)
	probe.run(first)
	calls := probe.run(nil)
	points := spots(runs(4, 1<<20), calls)
	sideBySide(t, len(points), func(t *testing.T, i int) {
		c := newCrash(t, bin)
		c.run(first)
		c.run(killAt(points[i], points[i]%2 == 0))
		c.run(nil)
		c.check()
	})
	shown(t, "crash points of a recovery", "kill -9 at %d of the %d calls of a run after a kill: the third loses nothing", len(points), calls)
}

// failAt makes the k-th call fail, and with on all that follow.
func failAt(k int, on bool) verdicts {
	return func(n int, c disk.Call) disk.Verdict {
		if n < k || n > k && !on {
			return disk.Verdict{}
		}
		v := disk.Verdict{Errno: []syscall.Errno{syscall.EIO, syscall.ENOSPC}[k%2]}
		if c.What == disk.Write && k%4 > 1 {
			v.Short = len(c.Data) / 2
		}
		return v
	}
}

// TestEachCallFails: one after another, each call that changes the state directory fails
// once: every message is accepted in the end, and none is in doubt. Then it fails for
// good, and the wrapper is killed: nothing that was accepted is lost.
func TestEachCallFails(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	calls := newCrash(t, bin).run(nil)
	points := spots(runs(2, 1<<20), calls)
	sideBySide(t, 2*len(points), func(t *testing.T, i int) {
		k, forGood := points[i/2], i%2 == 1
		c, most := newCrash(t, bin), 0 // nothing is killed in the middle of a message
		if c.brief = forGood; forGood {
			most = inDoubt
		}
		c.run(failAt(k, forGood))
		c.run(nil)
		if n := c.check(); n > most {
			t.Errorf("call %d fails, for good: %v: %d messages are in doubt", k, forGood, n)
		}
	})
	shown(t, "each call fails", "EIO or ENOSPC, writes cut short, at %d of the %d calls of 20 messages: once, all delivered, none in doubt; for good and then kill -9: 0 accepted lost",
		len(points), calls)
}

// TestKillsOnAFailingDisk: calls fail now and then, and the wrapper is killed at any of
// them, twice; the third run, on a sound disk, has everything that was accepted.
func TestKillsOnAFailingDisk(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	base, n := seed(t), runs(1, 200)
	sideBySide(t, n, func(t *testing.T, i int) {
		rnd := rand.New(rand.NewPCG(base, uint64(i)))
		c := newCrash(t, bin)
		for range 2 {
			kill, fail := killAt(1+rnd.IntN(200), rnd.IntN(2) == 0), nowAndThen(rnd, 10+rnd.IntN(100))
			c.run(func(n int, call disk.Call) disk.Verdict {
				if v := kill(n, call); v.Kill {
					return v
				}
				return fail(n, call)
			})
		}
		c.run(nil)
		if n := c.check(); n > 2*inDoubt {
			t.Errorf("%d messages are in doubt", n)
		}
	})
	shown(t, "kill -9 while calls fail now and then", "%d runs with two kills each at random calls, up to every tenth call failing: 0 accepted lost, events unchanged", n)
}

// TestCrashPointsOfADamagedFile: a wrapper that finds its journal damaged is killed at each
// call while it takes over what is left; the next one has it all.
func TestCrashPointsOfADamagedFile(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	bodies, ids := messages(20)
	reached := true
	k := 1
	for ; reached; k++ {
		dir := scratch(t)
		h := startHeadless(t, bin, dir, false, nil, []string{"--prompt-pattern", "^never$"}, unready...)
		h.send(bodies, ids...)
		h.end()
		path := filepath.Join(dir, "state", "relay-pty", "alice.journal")
		b, err := os.ReadFile(path)
		must(t, err)
		b[20]++ // in the first frame, which has no message
		must(t, os.WriteFile(path, b, 0o600))
		h = startHeadless(t, bin, dir, false, killAt(k, true), nil, "cat")
		h.settles(ids...)
		h.end()
		reached = h.watch.N() == k
		h = startHeadless(t, bin, dir, false, nil, nil, "cat")
		h.settles(ids...)
		h.end()
		if _, err := os.Stat(path + ".damaged"); err != nil {
			t.Errorf("call %d: the damaged file is not put aside: %v", k, err)
		}
		if k > runs(3, 1000) {
			break
		}
	}
	shown(t, "crash points of a damaged file", "kill -9 at %d calls while what is left is taken over: all 20 messages come to an end", k-1)
}
