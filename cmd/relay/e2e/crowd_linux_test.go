package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestAnyoneIsKilled kills routers, wrappers and agents at random moments, under fifty messages a
// second at full counts, to agents and to a channel. What was accepted is not lost and arrives
// once, in its sender's order; a kill may leave one message of which nobody knows; whoever waits
// for an answer gets it, or a reason. Reminders and notices come once.
func TestAnyoneIsKilled(t *testing.T) {
	t.Parallel()
	kills := testrig.Runs(4, 300)
	limit := 2*patience + time.Duration(kills)*5*time.Second
	ctx := testrig.Within(t, limit)
	c := crowd{user: newUser(t), rnd: rand.New(rand.NewPCG(testrig.Seed(t), 0)), killed: map[string]int{}}
	var agents, senders sync.WaitGroup
	keeping, release := context.WithCancel(ctx)
	for i := range 5 {
		name := "agent" + strconv.Itoa(i)
		c.names = append(c.names, name)
		agents.Go(func() { c.keep(keeping, name) })
	}
	defer agents.Wait()
	defer release()
	c.meet(ctx)
	sending, stop := context.WithCancel(ctx)
	for i := range testrig.Runs(4, 45) {
		senders.Go(func() { c.send(ctx, sending, "s"+strconv.Itoa(i)) })
		senders.Go(func() { c.remind(ctx, sending, i) })
	}
	c.began = time.Now()
	for range kills {
		c.kill(ctx)
	}
	stop()
	c.lasted = time.Since(c.began)
	senders.Wait()
	c.settle(ctx)
	c.check(ctx)
	c.checkLater(ctx)
}

// crowd is agents, senders, and whoever kills.
type crowd struct {
	*user
	rnd    *rand.Rand
	names  []string
	killed map[string]int // by what it was
	began  time.Time
	lasted time.Duration // how long there were kills

	mu      sync.Mutex
	sent    map[string]bool // ids of messages and reminders that were accepted
	answers int
	given   map[string]int // why waits ended without an answer
}

// speaking is an agent that notes each message, is slow to read on, and answers. Many kills find it
// between two lines of a message.
const speaking = `while read -r x; do case "$x" in
	"[relay "*) set -- $x; id=$2 from=${4%]}; echo "$id $from ${x#*] }" >>"got.$RELAY_AGENT"; sleep 0.05 ;;
	"[end "*) echo "->relay:$from [re=$id] <<<pong $id>>>" ;;
	esac; done`

// keep runs an agent, again and again.
func (c *crowd) keep(ctx context.Context, name string) {
	for ctx.Err() == nil {
		cmd := c.command(ctx, "run", name, "--headless", "--socket", filepath.Join(c.dir, name), "--idle-timeout", "50", "--", "sh", "-c", speaking)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err == nil && ctx.Err() == nil {
			c.t.Errorf("%s ended by itself: %s", name, &errs)
		}
	}
}

// few is a channel, and its members.
const few, members = "#few", 3

// meet waits until all agents are known, and has some of them join a channel.
func (c *crowd) meet(ctx context.Context) {
	for _, name := range c.names {
		c.sees(ctx, name+" to run", func(e router.Event) bool { return e.Type == router.TypeUp && e.Agent == name })
	}
	for _, name := range c.names[:members] {
		c.does(ctx, "join", few, "--as", name)
	}
}

// send sends to one agent after the other, until sending ends. Each third message is waited for,
// each twentieth goes to the channel, and some are to be followed by notices.
func (c *crowd) send(ctx, sending context.Context, from string) {
	var waits sync.WaitGroup
	defer waits.Wait()
	pace := time.NewTicker(600 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", from, n)
		to := c.names[n%len(c.names)]
		if n%20 == 19 {
			to = few
		}
		args := append([]string{"send", to, strconv.Itoa(n), "--from", from, "--id", id}, notified(n)...)
		// One that has ended when send looks makes it fail; that it was accepted, send says first.
		if out, errs, err := c.try(ctx, args...); !strings.HasPrefix(out, id+" ") {
			c.t.Errorf("%s was not accepted: %v: %s", id, err, errs)
		}
		c.accepted(id)
		if n%3 == 0 && to != few {
			waits.Go(func() { c.await(ctx, id, args) })
		}
		select {
		case <-pace.C:
		case <-sending.Done():
			return
		}
	}
}

// accepted notes a message, or a reminder.
func (c *crowd) accepted(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil {
		c.sent, c.given = map[string]bool{}, map[string]int{}
	}
	c.sent[id] = true
}

// await waits for the answer to a message, which is sent again for that and stays one.
func (c *crowd) await(ctx context.Context, id string, args []string) {
	out, errs, err := c.try(ctx, append(args, "--wait=30s")...)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch why := strings.ReplaceAll(strings.TrimSpace(errs), id, "ID"); {
	case err == nil && out == "pong "+id+"\n":
		c.answers++
	case err == nil || why == "":
		c.t.Errorf("the wait for an answer to %s ended with %v: %q %q", id, err, out, errs)
	default:
		c.given[why]++
	}
}

func (c *crowd) try(ctx context.Context, args ...string) (out, errs string, err error) {
	cmd := c.command(ctx, args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// kill kills somebody, after a while.
func (c *crowd) kill(ctx context.Context) {
	select {
	case <-time.After(time.Duration(c.rnd.IntN(1400)) * time.Millisecond):
	case <-ctx.Done():
		return
	}
	name := c.names[c.rnd.IntN(len(c.names))]
	what := []string{"router", "wrapper", "agent"}[c.rnd.IntN(3)]
	for _, pid := range processes(c.dir, func(env, line []byte) bool {
		switch what {
		case "router":
			return bytes.Contains(line, []byte(aRouter))
		case "wrapper":
			return bytes.Contains(line, []byte("relay-pty\x00--name\x00"+name+"\x00"))
		}
		return bytes.Contains(env, []byte("RELAY_AGENT="+name+"\x00"))
	}) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			c.killed[what]++
		}
	}
}

// settle waits until each message has ended, and nothing is to come.
func (c *crowd) settle(ctx context.Context) {
	for {
		s := c.adds(ctx)
		left := len(s.Scheduled())
		for _, m := range c.ends(s) {
			if !router.Ended(m.Status) {
				left++
			}
		}
		if left == 0 {
			return
		}
		if ctx.Err() != nil {
			c.t.Fatalf("wait for the end of %d messages: %v\n%s", left, context.Cause(ctx), c.does(c.t.Context(), "log", "--last", "0"))
		}
		if _, err := c.events(ctx, s.Last, api.LongWait); err != nil && ctx.Err() == nil {
			c.t.Fatal(err)
		}
	}
}

// sum is what the log adds up to, and the ids of the messages that were sent.
type sum struct {
	*router.State
	sent []string
}

func (c *crowd) adds(ctx context.Context) sum {
	s := sum{State: router.NewState()}
	for _, e := range c.log(ctx) {
		if s.Apply(e); e.Type == router.TypeMessage {
			s.sent = append(s.sent, e.ID)
		}
	}
	return s
}

// ends are what became of what was sent to agents, by id; to each of those in the channel by its
// own.
func (c *crowd) ends(s sum) map[string]router.Known {
	all := map[string]router.Known{}
	for _, id := range s.sent {
		m, _ := s.Find(id)
		for _, one := range m.Deliveries {
			all[one.ID] = *one
		}
		if slices.Contains(c.names, m.To) {
			all[m.ID] = m
		}
	}
	return all
}

// check holds the books of all together.
func (c *crowd) check(ctx context.Context) {
	t := c.t
	got := map[string]int{}
	for _, name := range c.names {
		text, err := os.ReadFile(filepath.Join(c.dir, "got."+name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have got nothing
			t.Fatal(err)
		}
		next := map[string]int{}
		for line := range strings.Lines(string(text)) {
			word := strings.Fields(line)
			id, from := word[0], word[1]
			n, err := strconv.Atoi(word[len(word)-1])
			if err != nil {
				t.Fatalf("%s got %q: %v", name, line, err)
			}
			if got[id]++; n < next[from] && from != router.Relay {
				t.Errorf("%s got %s behind %d", name, id, next[from]-1)
			}
			next[from] = n + 1
		}
	}
	all := c.adds(ctx)
	ends := c.ends(all)
	statuses := map[string]int{}
	for id := range c.sent {
		if _, ok := all.Find(id); !ok {
			t.Errorf("%s was accepted, and is not in the log", id)
		}
	}
	for id, m := range ends {
		statuses[m.Status]++
		arrived := m.Status == protocol.StatusDelivered || m.Status == router.StatusReplied
		switch {
		case got[id] > 1:
			t.Errorf("%s arrived %d times", id, got[id])
		case arrived && got[id] == 0:
			t.Errorf("%s is %s (%s) and did not arrive", id, m.Status, m.Evidence)
		case !arrived && m.Error == nil:
			t.Errorf("%s is %s, and nothing says why", id, m.Status)
		}
	}
	kills := 0
	for _, n := range c.killed {
		kills += n
	}
	doubt := len(ends) - statuses[protocol.StatusDelivered] - statuses[router.StatusReplied]
	if doubt > kills {
		t.Errorf("%d kills left %d messages that did not arrive, or may have: %v", kills, doubt, statuses)
	}
	if c.answers == 0 || len(c.killed) < 3 {
		t.Errorf("%d answers, killed: %v", c.answers, c.killed)
	}
	t.Logf("%.1f a second were accepted, within %v", float64(len(c.sent))/c.lasted.Seconds(), c.lasted.Round(time.Second))
	t.Logf("killed %v; %d messages: %v; %d waits ended with the answer, others with %v", c.killed, len(ends), statuses, c.answers, c.given)
	for _, why := range slices.Sorted(maps.Keys(c.given)) {
		t.Logf("%d × %s", c.given[why], why)
	}
}
