package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
)

// measures are what is timed, in the order of the report, each with the bound of its median on a
// machine where tmux keeps to its pace; 0: none.
var measures = []struct {
	what string
	most time.Duration
}{
	{sendWarm, 15 * time.Millisecond}, {sendKeys, 0}, {sendCold, 80 * time.Millisecond},
	{sendByte, 0}, {keysByte, 0}, {markerByte, 20 * time.Millisecond},
}

const (
	sendWarm   = "relay send, a router runs"
	sendCold   = "relay send, no router runs"
	sendKeys   = "tmux send-keys"
	sendByte   = "relay send → the agent has it"
	keysByte   = "tmux send-keys → the agent has it"
	markerByte = "a marker → the other agent has it"

	pace = 2600 * time.Microsecond // of tmux send-keys
)

// TestQuickMessages: how quick relay is, as a user's shell and an agent see it: whole processes and
// real terminals. tmux send-keys, which is how it is done without relay, is timed beside it in the
// same rounds; where it is slower than its pace, the bounds are as much longer.
func TestQuickMessages(t *testing.T) {
	q := newQuick(t)
	for i := range testrig.Runs(2, 30) { // more messages a minute are not let through
		q.round(fmt.Sprint(i))
	}
	for _, m := range measures {
		if slices.Sort(q.times[m.what]); len(q.times[m.what]) == 0 {
			t.Fatalf("%s: not timed", m.what)
		}
	}
	slower := max(1, float64(middle(q.times[sendKeys]))/float64(pace))
	for _, m := range measures {
		list := q.times[m.what]
		median := middle(list)
		shows(t, "%s, whole programs => median %s, 95 %% %s", m.what, ms(median), ms(list[len(list)*95/100]))
		if most := time.Duration(slower * float64(m.most)); testrig.Proving() && most > 0 && median > most {
			t.Errorf("%s: %s at the median, want %s at most", m.what, ms(median), ms(most))
		}
	}
}

func middle(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// quick is two agents in wrappers, one in tmux, and what they tell.
type quick struct {
	*user
	ctx   context.Context
	notes chan note
	times map[string][]time.Duration
}

// note is that an agent got or said some words, and when.
type note struct {
	what, words string
	at          time.Duration
}

func newQuick(t *testing.T) *quick {
	t.Helper()
	_, err := exec.LookPath("tmux")
	testrig.Require(t, "tmux", err)
	bin := built(t)
	if testrig.Proving() { // as users get them
		bin = testrig.Dir(t)
		out, err := exec.Command("make", "-s", "-C", "../../..", "build", "BIN="+bin).CombinedOutput()
		if err != nil {
			t.Fatalf("make build: %v\n%s", err, out)
		}
	}
	q := &quick{userWith(t, bin), testrig.Within(t, 10*patience), make(chan note, 16), map[string][]time.Duration{}}
	told := filepath.Join(q.dir, "told")
	ln, err := net.Listen("unix", told)
	must(t, err)
	t.Cleanup(func() { ln.Close() }) // nobody is told
	go q.listen(ln)
	self, err := os.Executable()
	must(t, err)
	argv := []string{"env", agents.EnvAgent + "=" + timingAgent, timingTold + "=" + told, self}
	for _, name := range []string{"a", "b"} {
		q.wraps(q.ctx, name, argv...)
	}
	q.tmux(append([]string{"new-session", "-d", "-s", "c"}, argv...)...)
	t.Cleanup(func() { exec.Command("tmux", "-S", filepath.Join(q.dir, "tmux"), "kill-server").Run() }) // it has ended: well
	return q
}

func (q *quick) tmux(args ...string) {
	q.t.Helper()
	cmd := exec.CommandContext(q.ctx, "tmux", append([]string{"-S", filepath.Join(q.dir, "tmux"), "-f", "/dev/null"}, args...)...)
	cmd.Env = append(q.env, "TMUX=")
	if out, err := cmd.CombinedOutput(); err != nil {
		q.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
}

// listen reads what the agents tell until the listener is closed.
func (q *quick) listen(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				var n note
				if _, err := fmt.Sscan(lines.Text(), &n.what, &n.words, &n.at); err == nil {
					q.notes <- n
				}
			}
		}()
	}
}

// await returns when an agent got or said those words. Other notes are of rounds that are over.
func (q *quick) await(what, words string) time.Duration {
	q.t.Helper()
	for {
		select {
		case n := <-q.notes:
			if n.what == what && n.words == words {
				return n.at
			}
		case <-q.ctx.Done():
			q.t.Fatalf("an agent has %s %s: %v", what, words, context.Cause(q.ctx))
		}
	}
}

// round times each thing once. It has a sender of its own, for few messages a minute go from one to
// another.
func (q *quick) round(n string) {
	q.t.Helper()
	send := func(to, body string) { q.does(q.ctx, "send", to, body, "--from", "ci"+n) }
	q.rests()
	q.clock(func() { send("a", "words"+n) }, sendWarm, sendByte, "words"+n)
	q.rests()
	q.clock(func() { q.tmux("send-keys", "-t", "c", "typed"+n, "Enter") }, sendKeys, keysByte, "typed"+n)
	q.rests()
	send("a", "say b passed"+n)
	said := q.await("said", "passed"+n)
	q.times[markerByte] = append(q.times[markerByte], q.await("got", "passed"+n)-said)
	q.rests()
	for _, pid := range running(q.dir, aRouter) {
		must(q.t, syscall.Kill(pid, syscall.SIGTERM))
	}
	q.becomes(q.ctx, "the router's end", func() bool { return len(running(q.dir, aRouter)) == 0 })
	q.clock(func() { send("b", "cold"+n) }, sendCold, "", "")
}

// rests lets an agent that has just spoken be ready again.
func (q *quick) rests() { <-time.After(400 * time.Millisecond) }

// clock notes how long something takes, and how long it is until an agent has its words.
func (q *quick) clock(does func(), whole, arrived, words string) {
	q.t.Helper()
	began := now()
	does()
	q.times[whole] = append(q.times[whole], now()-began)
	if arrived != "" {
		q.times[arrived] = append(q.times[arrived], q.await("got", words)-began)
	}
}

// timingAgent names an agent that reads lines and tells at a socket, by a clock that is the same in
// all processes, when it has got each message. One that begins with "say " it passes on by a
// marker, as "TO WORDS" behind it says.
const (
	timingAgent = "timing"
	timingTold  = "TIMING_TOLD" // names the socket, in its environment
)

func init() {
	ownAgents[timingAgent] = func() int {
		tell, err := net.Dial("unix", os.Getenv(timingTold))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer tell.Close()
		timed(tell)
		return 0
	}
}

func timed(tell io.Writer) {
	var say string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		at, line := now(), lines.Text()
		if strings.HasPrefix(line, "[end ") {
			if to, words, ok := strings.Cut(say, " "); ok {
				at := now()
				fmt.Printf("->relay:%s <<<%s>>>\n", to, words)
				fmt.Fprintf(tell, "said %s %d\n", words, at) // nobody listens: the test is over
			}
			say = ""
			continue
		}
		if _, body, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[relay ") {
			line = body
		}
		if words, ok := strings.CutPrefix(line, "say "); ok {
			say = words
			continue
		}
		fmt.Fprintf(tell, "got %s %d\n", line, at)
	}
}

func now() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for no clock that there is
	return time.Duration(t.Nano())
}
