package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// polite is a wrapper whose agent answers each message by a new one, as fast as the router lets it:
// a turn takes all that waits. Its log tells what a turn was given and did.
type polite struct {
	name  string
	turn  func(given []*protocol.Inject) (says protocol.RelayCommand, tools int)
	waits chan *protocol.Inject

	mu     sync.Mutex // guards what follows
	events []protocol.Event
	known  map[string]bool
	more   chan struct{} // closed and replaced with each event
}

// converses lists a wrapper of that name until the test ends.
func (u *user) converses(name string, turn func([]*protocol.Inject) (protocol.RelayCommand, int)) {
	u.t.Helper()
	p := &polite{name: name, turn: turn, waits: make(chan *protocol.Inject, 1000), known: map[string]bool{}, more: make(chan struct{})}
	path := filepath.Join(u.dir, name)
	l, err := sock.Listen(path, name)
	must(u.t, err)
	ctx, cancel := context.WithCancel(u.t.Context())
	var all sync.WaitGroup
	all.Go(func() { l.Serve(ctx, p.serve) })
	all.Go(func() { p.works(ctx) })
	r := registry.Record{Name: name, Socket: path, PID: os.Getpid(), Agent: "claude", StartedAt: time.Now().UnixMilli()}
	agents := filepath.Join(u.dir, "relay", "agents")
	must(u.t, os.MkdirAll(agents, 0o700))
	listed, err := registry.Announce(agents, r)
	must(u.t, err)
	u.t.Cleanup(func() {
		listed.Retire()
		cancel()
		all.Wait()
		l.Close() // nobody connects any more
	})
	u.becomes(testrig.Within(u.t, patience), "the router does not know "+name, func() bool {
		return strings.Contains("\n"+u.does(ctx, "ls"), "\n"+name+" ")
	})
}

// tells puts events behind the others. It is for the owner of mu.
func (p *polite) tells(events ...protocol.Event) {
	for _, e := range events {
		e.SetStamp(int64(len(p.events)+1), time.Now().UnixMilli())
		p.events = append(p.events, e)
	}
	close(p.more)
	p.more = make(chan struct{})
}

func (p *polite) serve(ctx context.Context, c *sock.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case in, open := <-c.Incoming():
			if !open {
				return
			}
			switch ask := in.Request.(type) {
			case *protocol.Subscribe:
				c.Answer(&protocol.Subscribed{Head: ask.Head, Epoch: "e", Protocol: 1})
				go p.follows(ctx, c, *ask.After)
			case *protocol.Inject:
				c.Answer(p.gets(ask))
			case *protocol.Query:
				p.answers(c, ask)
			case *protocol.Queue:
				c.Answer(&protocol.QueueAnswer{Head: ask.Head, Messages: []protocol.Pending{}})
			default:
				c.Answer(&protocol.OK{})
			}
		}
	}
}

// follows tells a client all events after that number.
func (p *polite) follows(ctx context.Context, c *sock.Conn, after int64) {
	for {
		p.mu.Lock()
		news, more := p.events[after:], p.more
		p.mu.Unlock()
		for _, e := range news {
			if !c.Answer(e) {
				return
			}
			after++
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

func (p *polite) answers(c *sock.Conn, ask *protocol.Query) {
	p.mu.Lock()
	known := p.known[ask.ID]
	p.mu.Unlock()
	if !known {
		c.Refuse(&protocol.Error{Code: protocol.UnknownID, ID: ask.ID, Req: ask.Req, Message: "no message has this id"})
		return
	}
	c.Answer(&protocol.InjectResult{ID: ask.ID, Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn, Attempt: 1, Req: ask.Req})
}

// gets takes a message.
func (p *polite) gets(m *protocol.Inject) protocol.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	result := func(status string) *protocol.InjectResult {
		return &protocol.InjectResult{ID: m.ID, Status: status, Queued: &protocol.Queued{Position: 1}}
	}
	if !p.known[m.ID] {
		p.known[m.ID] = true
		p.tells(result(protocol.StatusQueued))
		p.waits <- m
	}
	answer := result(protocol.StatusQueued)
	answer.Req = m.Req
	return answer
}

// works takes turns until ctx ends.
func (p *polite) works(ctx context.Context) {
	for {
		var given []*protocol.Inject
		select {
		case m := <-p.waits:
			given = append(given, m)
		case <-ctx.Done():
			return
		}
		for len(p.waits) > 0 {
			given = append(given, <-p.waits)
		}
		end := &protocol.TurnEnd{Outcome: protocol.OutcomeAnswered, Tools: new(0)}
		var events []protocol.Event
		for _, m := range given {
			end.IDs = append(end.IDs, m.ID)
			events = append(events, &protocol.InjectResult{ID: m.ID, Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn, Attempt: 1})
		}
		says, tools := p.turn(given)
		p.mu.Lock()
		if says.To != "" {
			says.From, says.ID, says.Body, says.Source = p.name, fmt.Sprintf("%s-%d", p.name, len(p.events)), "thank you", protocol.SourceLog
			says.TurnOf, says.Tools = end.IDs, new(0) // it writes first, and works then
			events = append(events, &says)
		}
		end.Tools = &tools
		p.tells(append(events, end)...)
		p.mu.Unlock()
	}
}

// back is what an agent says to whom the newest of its messages came from, but not to the router.
func back(given []*protocol.Inject) protocol.RelayCommand {
	from := given[len(given)-1].From
	if from == router.Human {
		from = "b"
	}
	return protocol.RelayCommand{To: from}
}

// chatter is what agents said in the chain of a message.
type chatter struct{ said, deliveries, waits, far, paused, resumed int }

func (u *user) chatter(ctx context.Context, id string) (c chatter) {
	u.t.Helper()
	ended := map[string]bool{}
	var copies []string
	for _, e := range u.log(ctx) {
		switch {
		case e.Type == router.TypeChainPaused && e.ID == id:
			c.paused++
		case e.Type == router.TypeChainResumed && e.ID == id:
			c.resumed++
		case e.Type == protocol.TypeInjectResult && protocol.Terminal(e.Status):
			ended[e.ID] = true
		case e.Type == router.TypeMessage && e.Chain == id && e.ID != id:
			c.said++
			if c.far = max(c.far, e.Hops); len(e.Recipients) == 0 {
				copies = append(copies, e.ID)
			}
			for _, to := range e.Recipients {
				copies = append(copies, router.DeliveryID(e.ID, to))
			}
		}
	}
	for _, id := range copies {
		if c.deliveries++; !ended[id] {
			c.waits++
		}
	}
	return c
}

func (u *user) seesPaused(ctx context.Context, id string) {
	u.t.Helper()
	u.sees(ctx, "a notice that the chain is paused", func(e router.Event) bool { return e.Type == router.TypeChainPaused && e.ID == id })
}

// restsBut waits until nothing of a chain is under way but what waits for it.
func (u *user) restsBut(ctx context.Context, id string, waits int) (c chatter) {
	u.t.Helper()
	u.becomes(ctx, "the chain to rest", func() bool { c = u.chatter(ctx, id); return c.waits == waits })
	return c
}

// TestTwoPoliteAgents, who thank each other for each message, whatever re= says: after eight hops
// their chain waits, one notice says so, and a resume lets it go as far again, also where the
// router is killed on the way.
func TestTwoPoliteAgents(t *testing.T) {
	t.Parallel()
	for name, re := range map[string]func(given *protocol.Inject) string{
		"new messages": func(*protocol.Inject) string { return "" },
		"answers":      func(m *protocol.Inject) string { return m.ID },
		"to the first": func(*protocol.Inject) string { return "m-1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, ctx := newUser(t), testrig.Within(t, patience)
			fourth, goes := make(chan struct{}), make(chan struct{})
			var turns atomic.Int32 // of both
			turn := func(given []*protocol.Inject) (protocol.RelayCommand, int) {
				if turns.Add(1) == 4 {
					close(fourth)
					<-goes
				}
				says := back(given)
				says.ReplyTo = re(given[0])
				return says, 0
			}
			goOn := sync.OnceFunc(func() { close(goes) })
			defer goOn()
			u.converses("a", turn)
			u.converses("b", turn)
			u.does(ctx, "send", "a", "begin", "--id", "m-1")
			select {
			case <-fourth:
			case <-ctx.Done():
				t.Fatalf("the fourth turn: %v", context.Cause(ctx))
			}
			if u.killsRouter() != 1 {
				t.Error("no router ran")
			}
			goOn()
			u.does(ctx, "ls")
			u.seesPaused(ctx, "m-1")
			if c := u.restsBut(ctx, "m-1", 1); c != (chatter{said: 9, deliveries: 9, waits: 1, far: 9, paused: 1}) {
				t.Errorf("then there is %+v", c)
			}
			if said := u.does(ctx, "queue", "b"); !strings.Contains(said, " paused ") {
				t.Errorf("relay queue says %q", said)
			}
			const paused = "the chain of m-1 is paused (8 hops of nothing but talk): relay resume m-1 "
			if said := u.does(ctx, "events", "--event", "chain_paused"); !strings.Contains(said, paused) {
				t.Errorf("relay events says %q", said)
			}
			u.does(ctx, "send", "a", "another thing", "--id", "m-2")
			u.seesPaused(ctx, "m-2")
			if said := u.does(ctx, "resume", "m-1"); said != "the chain of m-1 goes on\n" {
				t.Errorf("relay resume says %q", said)
			}
			u.sees(ctx, "a second notice", func(e router.Event) bool {
				return e.Type == router.TypeChainPaused && e.ID == "m-1" && u.chatter(ctx, "m-1").paused == 2
			})
			if c := u.restsBut(ctx, "m-1", 1); c != (chatter{said: 18, deliveries: 18, waits: 1, far: 9, paused: 2, resumed: 1}) {
				t.Errorf("resumed, there is %+v", c)
			}
			if said := u.does(ctx, "cancel", "--chain", "m-1"); said != "the chain of m-1 is ended, 1 cancelled\n" {
				t.Errorf("relay cancel says %q", said)
			}
		})
	}
}

// TestPoliteAgentsInAChannel, who each answer all that they read there, are paused as soon.
func TestPoliteAgentsInAChannel(t *testing.T) {
	t.Parallel()
	u, ctx := newUser(t), testrig.Within(t, patience)
	u.env = append(u.env, "RELAY_PAIR_LIMIT=0")
	for _, name := range []string{"a", "b", "c"} {
		u.converses(name, func([]*protocol.Inject) (protocol.RelayCommand, int) {
			return protocol.RelayCommand{To: "#x"}, 0
		})
		u.does(ctx, "join", "#x", "--as", name)
	}
	u.does(ctx, "send", "#x", "begin", "--id", "m-1")
	u.seesPaused(ctx, "m-1")
	var c chatter
	u.becomes(ctx, "nothing but what is held", func() bool {
		held := 0
		for _, name := range []string{"a", "b", "c"} {
			held += strings.Count(u.does(ctx, "queue", name), " paused ")
		}
		c = u.chatter(ctx, "m-1")
		return held == c.waits
	})
	if c.paused != 1 || c.deliveries-c.waits > 500 || c.waits == 0 {
		t.Errorf("there is %+v", c)
	}
	shows(t, "three agents that answer all that they read in a channel => paused after %d deliveries, with one notice; %d wait", c.deliveries-c.waits, c.waits)
}

// TestAgentsThatWork are not paused: two hundred messages, each third turn of which uses a tool,
// after it has written.
func TestAgentsThatWork(t *testing.T) {
	t.Parallel()
	u, ctx := newUser(t), testrig.Within(t, 2*patience)
	u.env = append(u.env, "RELAY_PAIR_LIMIT=0")
	const most = 200
	var turns atomic.Int32 // of both
	turn := func(given []*protocol.Inject) (protocol.RelayCommand, int) {
		n := turns.Add(1)
		if n > most {
			return protocol.RelayCommand{}, 0
		}
		return back(given), int(n%3) / 2
	}
	u.converses("a", turn)
	u.converses("b", turn)
	began := time.Now()
	u.does(ctx, "send", "a", "begin", "--id", "m-1")
	ended := 0
	u.sees(ctx, "the last turn", func(e router.Event) bool {
		if e.Type == protocol.TypeTurnEnd {
			ended++
		}
		return ended == most+1
	})
	if c := u.chatter(ctx, "m-1"); c != (chatter{said: most, deliveries: most, far: c.far}) || c.far > 3 {
		t.Errorf("there is %+v", c)
	}
	t.Logf("%d messages in %v", most, time.Since(began))
}
