package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/disk"
	"relay-pty/protocol/failpoint"
)

// headless is a wrapper without a terminal on a watched disk, and two clients.
type headless struct {
	t      *testing.T
	cmd    *exec.Cmd
	watch  *disk.Watch
	sender *testrig.Client
	events *testrig.Client
	gone   chan struct{}
	brief  bool
}

// verdicts decide about the calls of a wrapper; see [disk.Start].
type verdicts func(n int, c disk.Call) disk.Verdict

// startHeadless runs a wrapper with its state in dir/state, which is the same for each run.
// A client is nil when the wrapper ended before it was there.
func startHeadless(t *testing.T, bin, dir string, tells bool, decide verdicts, flags []string, argv ...string) *headless {
	t.Helper()
	h := &headless{t: t, gone: make(chan struct{})}
	socket := filepath.Join(dir, "s")
	must(t, os.MkdirAll(filepath.Join(dir, "state"), 0o700))
	args := append([]string{"--name", "alice", "--socket", socket, "--headless", "--idle-timeout", "50", "--log-file", filepath.Join(dir, "log"),
		"--state-dir", filepath.Join(dir, "state", "relay-pty")}, flags...)
	h.cmd = exec.Command(bin, append(append(args, "--"), argv...)...)
	h.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	var err error
	h.watch, err = disk.Start(filepath.Join(dir, "state"), tells, decide, h.cmd.Start)
	must(t, err)
	t.Cleanup(h.watch.Close)
	go func() { h.cmd.Wait(); close(h.gone) }() // how it ended is not asked
	t.Cleanup(h.end)
	h.events, h.sender = h.dial(socket), h.dial(socket)
	if h.sender == nil {
		return h
	}
	h.follow()
	return h
}

// follow subscribes to all events, as soon as the journal can be read.
func (h *headless) follow() {
	h.t.Helper()
	becomes(h.t, "subscribed", func() bool {
		f, err := h.events.Request(patience(h.t), fields("subscribe", "after", 0))
		if over(err) {
			return true
		}
		must(h.t, err)
		if f.Type() != "subscribed" && f.Str("code") != "degraded" {
			h.t.Fatalf("subscribe: %s", f.Raw)
		}
		return f.Type() == "subscribed"
	})
}

// dial connects as soon as the wrapper listens; nil when it ended before.
func (h *headless) dial(socket string) (c *testrig.Client) {
	h.t.Helper()
	becomes(h.t, "the wrapper's socket", func() bool {
		var err error
		if c, err = testrig.Dial(h.t.Context(), socket); err == nil {
			h.t.Cleanup(func() { c.Close() })
			return true
		}
		select {
		case <-h.gone:
			return true
		default:
			return false
		}
	})
	return c
}

// end kills the wrapper, if it still runs.
func (h *headless) end() {
	h.cmd.Process.Kill() // gone: well
	select {
	case <-h.gone:
	case <-time.After(2 * time.Minute): // the test's own context may have ended before
		h.t.Error("not within 2m0s: the end of the killed wrapper")
		return
	}
	select {
	case <-h.watch.Gone(): // so the agent has ended, too
	case <-time.After(5 * time.Second): // nobody waits for orphans here
	}
}

// stops lets the wrapper end by itself.
func (h *headless) stops() {
	h.t.Helper()
	must(h.t, h.cmd.Process.Signal(syscall.SIGTERM))
	ctx := patience(h.t, "the end of the wrapper by SIGTERM")
	select {
	case <-h.gone:
	case <-ctx.Done():
		h.t.Fatal(context.Cause(ctx))
	}
}

// send sends messages one by one, each until it is accepted. It is false when the
// connection ended before, or in brief at the first refusal.
func (h *headless) send(bodies map[string]string, ids ...string) bool {
	h.t.Helper()
	if h.sender == nil {
		return false
	}
	for _, id := range ids {
		ctx := patience(h.t, "the acceptance of "+id)
		for status := ""; status == ""; {
			n := h.sender.Len()
			if err := h.sender.Send(map[string]any{"type": "inject", "id": id, "from": "bob", "body": bodies[id], "redelivery": redelivery(id)}); err != nil {
				return false
			}
			f, err := h.sender.WaitFrom(ctx, n, func(f testrig.Frame) bool { return f.Str("id") == id })
			if over(err) {
				return false
			}
			must(h.t, err)
			if status = f.Str("status"); status == "" && f.Str("code") != "degraded" && f.Str("code") != "queue_full" {
				h.t.Fatalf("%s is refused: %s", id, f.Raw)
			} else if status == "" && h.brief {
				return false
			} else if status == "" {
				pause(h.t, 20*time.Millisecond)
			}
		}
	}
	return true
}

// redelivery is what the sender of a message wants after a crash.
func redelivery(id string) string {
	if strings.HasSuffix(id, "3") {
		return "once"
	}
	return "never"
}

// over reports whether the wrapper hung up.
func over(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// settles waits until each message has ended, or the wrapper has.
func (h *headless) settles(ids ...string) {
	h.t.Helper()
	if h.events == nil {
		return
	}
	for _, id := range ids {
		_, err := h.events.Wait(patience(h.t), func(f testrig.Frame) bool {
			return f.Type() == "inject_result" && f.Str("id") == id && f.Str("status") != "queued" && f.Str("status") != "injecting"
		})
		if over(err) {
			return
		}
		if err != nil {
			h.t.Fatalf("%s does not end: %v\n%s", id, err, dump(h.events.Frames()))
		}
	}
}

// messages is n of them, some of several pages.
func messages(n int) (bodies map[string]string, ids []string) {
	bodies = map[string]string{}
	for i := range n {
		id := fmt.Sprintf("m%02d", i)
		bodies[id] = "body of " + id + strings.Repeat(" and more", []int{0, 20, 60, 300}[i%4])
		ids = append(ids, id)
	}
	return bodies, ids
}

// recording is what wrappers did to one directory, and the messages that were sent.
type recording struct {
	name   string
	top    string
	calls  []disk.Call
	bodies map[string]string
	keeps  int64 // see [disk.Told]
}

// recorded runs wrappers one after another on one directory. Each run gets the number of
// its run, and what it is to do with it.
func recorded(t *testing.T, name, bin string, decides []verdicts) recording {
	t.Helper()
	dir := scratch(t)
	bodies, ids := messages(20)
	rec := recording{name: name, top: filepath.Join(dir, "state"), bodies: bodies}
	for i, decide := range decides {
		h := startHeadless(t, bin, dir, true, decide, nil, "cat")
		share := ids[i*len(ids)/len(decides) : (i+1)*len(ids)/len(decides)]
		if decide == nil { // what is told before there is a file is in it, once there is one
			_, err := h.events.Wait(patience(t, "the agent's state"), func(f testrig.Frame) bool { return f.Type() == "state" })
			must(t, err)
		}
		h.send(bodies, share...)
		h.settles(share[:len(share)/2]...)
		if i+1 == len(decides) && decide == nil {
			h.settles(share...)
			h.stops()
		} else {
			h.end()
		}
		rec.calls = append(rec.calls, h.watch.Calls()...)
	}
	return rec
}

// at makes the n-th call of a kind that one.
func at(what disk.What, n int, v disk.Verdict) verdicts {
	return func(_ int, c disk.Call) disk.Verdict {
		if c.What != what || !strings.Contains(c.Path, ".journal") && c.What != disk.Mkdir {
			return disk.Verdict{}
		}
		if n--; n == 0 {
			return v
		}
		return disk.Verdict{}
	}
}

// cuts simulates power cuts between the calls, and returns how many left less than was
// told, with one of them.
func (rec recording) cuts(t *testing.T, n int, rnd *rand.Rand) (lost int, first error) {
	t.Helper()
	places := make([]int, n)
	for i := range places {
		places[i] = rnd.IntN(len(rec.calls) + 1)
		if i < n/2 { // the file is made among the first calls, where there is the most to lose
			places[i] = min(i, len(rec.calls))
		}
	}
	slices.Sort(places)
	d, told := disk.NewDisk(rec.top, rnd), disk.NewTold(rec.bodies)
	told.Keeps = rec.keeps
	scene, err := os.MkdirTemp(fastDir(), "cut")
	must(t, err)
	defer os.RemoveAll(scene)
	for i, c := range rec.calls {
		for len(places) > 0 && places[0] == i {
			places = places[1:]
			dir := filepath.Join(scene, "state")
			must(t, os.Mkdir(dir, 0o700))
			must(t, d.Cut(rnd).Write(dir))
			if err := told.Check(filepath.Join(dir, "relay-pty"), "alice", rnd.IntN(16) == 0); err != nil {
				if lost++; first == nil {
					first = fmt.Errorf("%s, before call %d of %d, %s %s: %w", rec.name, i, len(rec.calls), c.What, c.Path, err)
				}
			}
			must(t, os.RemoveAll(dir))
		}
		must(t, d.Do(c))
		if c.What == disk.Tell && c.Err == 0 {
			must(t, told.Hear(c.Conn, c.Data))
		}
	}
	return lost, first
}

// fastDir is a directory on a disk that needs none.
func fastDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// killed ends the wrapper at the n-th call of a kind; of a write, some bytes are written.
func killed(what disk.What, n, short int) verdicts {
	return at(what, n, disk.Verdict{Kill: true, Short: short})
}

func failing(what disk.What, n int, errno syscall.Errno, short int) verdicts {
	return at(what, n, disk.Verdict{Errno: errno, Short: short})
}

// nowAndThen makes about one call in so many fail.
func nowAndThen(rnd *rand.Rand, in int) verdicts {
	return func(_ int, c disk.Call) disk.Verdict {
		if !strings.Contains(c.Path, ".journal") || rnd.IntN(in) > 0 {
			return disk.Verdict{}
		}
		v := disk.Verdict{Errno: []syscall.Errno{syscall.EIO, syscall.ENOSPC}[rnd.IntN(2)]}
		if c.What == disk.Write && rnd.IntN(2) == 0 {
			v.Short = 1 + rnd.IntN(len(c.Data))
		}
		return v
	}
}

// TestPowerCuts: whatever of the unsynced a power cut takes, nothing that was told is lost.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(seed(t), 1))
	bin := binary(t)
	pruned := recorded(t, "prunes", breaks(t, failpoint.FewEvents), []verdicts{nil, nil})
	pruned.keeps = 40
	recs := []recording{
		pruned,
		recorded(t, "plain", bin, []verdicts{nil}),
		recorded(t, "restarts", bin, []verdicts{killed(disk.Sync, 12+rnd.IntN(4), 0), killed(disk.Write, 5+rnd.IntN(20), rnd.IntN(800)), nil}),
		recorded(t, "killed while the file is made", bin, []verdicts{killed(disk.Rename, 1, 0), killed(disk.Sync, 6, 0), nil}),
		recorded(t, "a sync fails", bin, []verdicts{failing(disk.Sync, 10+rnd.IntN(10), syscall.EIO, 0), nil}),
		recorded(t, "a write fails", bin, []verdicts{failing(disk.Write, 10+rnd.IntN(20), syscall.ENOSPC, 1+rnd.IntN(800)), nil}),
		recorded(t, "calls fail now and then", bin, []verdicts{nowAndThen(rnd, 100), nowAndThen(rnd, 100), nil}),
	}
	n, calls, all := runs(140, 10_000)/len(recs)+1, 0, 0
	for _, rec := range recs {
		began := time.Now()
		if lost, err := rec.cuts(t, n, rnd); err != nil {
			t.Errorf("%d of %d: %v", lost, n, err)
		}
		calls, all = calls+len(rec.calls), all+n
		t.Logf("%s: %d calls, %v", rec.name, len(rec.calls), time.Since(began))
	}
	shown(t, "power cuts", "%d cuts in %d recorded runs of 20 messages (%d calls), with kills, failed syncs and writes, and pruning: 0 accepted messages, 0 told events lost",
		all, len(recs), calls)
}

// TestProvePowerCutsNoticeWhatIsMissing: without any one of the syncs, something is lost, and so
// it is when the wrapper itself leaves out the syncs of its commits.
func TestProvePowerCutsNoticeWhatIsMissing(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(seed(t), 2))
	bin := binary(t)
	isDir := func(c disk.Call) bool { return !strings.Contains(c.Path, ".journal") }
	var ended time.Time
	syncs := 0
	rec := recorded(t, "killed", bin, []verdicts{func(_ int, c disk.Call) disk.Verdict {
		// The second run is told what the first one did not sync.
		if c.What == disk.Sync && strings.HasSuffix(c.Path, ".journal") {
			syncs++
		}
		if syncs == 4 {
			ended = time.Now()
		}
		return disk.Verdict{Kill: syncs == 4}
	}, nil})
	second := slices.IndexFunc(rec.calls, func(c disk.Call) bool { return c.PID != rec.calls[0].PID })
	writes := second + slices.IndexFunc(rec.calls[second:], func(c disk.Call) bool { return c.What == disk.Write && !isDir(c) })
	for what, gone := range map[string]func(i int, c disk.Call) bool{
		"the file":                   func(_ int, c disk.Call) bool { return !isDir(c) },
		"the directory":              func(_ int, c disk.Call) bool { return isDir(c) && c.Path != rec.top },
		"the directory above it":     func(_ int, c disk.Call) bool { return c.Path == rec.top },
		"what a killed run has left": func(i int, c disk.Call) bool { return i >= second && i < writes },
	} {
		less := rec
		less.calls = nil
		for i, c := range rec.calls {
			if i == writes { // its follower may read so soon, too
				less.calls = append(less.calls, replay(rec.calls[second:], ended)...)
			}
			if c.What != disk.Sync || !gone(i, c) {
				less.calls = append(less.calls, c)
			}
		}
		less.caught(t, "no sync of "+what, rnd)
	}
	unsynced := recorded(t, "unsynced", breaks(t, failpoint.Unsynced), []verdicts{nil})
	unsynced.caught(t, string(failpoint.Unsynced), rnd)
	renewed := recorded(t, "renewed", bin, []verdicts{failing(disk.Sync, 15, syscall.EIO, 0), nil})
	renewed.inPlace().caught(t, "a rename before the file is whole", rnd)
}

// replay is what the first follower is told first: subscribed, and the events of the run
// before, which ended then.
func replay(calls []disk.Call, ended time.Time) (told []disk.Call) {
	at := slices.IndexFunc(calls, func(c disk.Call) bool { return bytes.Contains(c.Data, []byte(`"subscribed"`)) })
	for _, c := range calls[at:] {
		if c.What != disk.Tell || c.Conn != calls[at].Conn {
			continue
		}
		lines := c.Data
		c.Data = nil
		for line := range bytes.Lines(lines) {
			var f struct{ Timestamp int64 }
			if json.Unmarshal(line, &f) == nil && f.Timestamp <= ended.UnixMilli() {
				c.Data = append(c.Data, line...)
			}
		}
		if len(c.Data) > 0 {
			told = append(told, c)
		}
	}
	return told
}

// inPlace is the recording with each rename of a new file right after its creation.
func (rec recording) inPlace() recording {
	var calls []disk.Call
	for _, c := range rec.calls {
		if c.What != disk.Rename {
			calls = append(calls, c)
			continue
		}
		made := len(calls) - 1
		for ; calls[made].What != disk.Create; made-- {
			if calls[made].Path == c.Path {
				calls[made].Path = c.To
			}
		}
		calls = slices.Insert(calls, made+1, c)
	}
	rec.calls = calls
	return rec
}

// caught fails unless some cut shows that something is lost.
func (rec recording) caught(t *testing.T, what string, rnd *rand.Rand) {
	t.Helper()
	for range 20 {
		if lost, err := rec.cuts(t, 200, rnd); lost > 0 {
			t.Logf("%s: %d of 200: %v", what, lost, err)
			return
		}
	}
	t.Errorf("%s: no cut shows it", what)
}
