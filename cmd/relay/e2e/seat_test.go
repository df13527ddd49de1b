package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// seat is a human at the terminal of an agent with a composer, alice, under relay run.
type seat struct {
	*user
	ctx   context.Context
	human *testrig.Term
	agent testrig.FakeAgent
}

func sit(t *testing.T, conf agents.Config, flags ...string) *seat {
	t.Helper()
	u, ctx := newUser(t), testrig.Within(t, patience)
	a, err := testrig.Agent(testrig.Dir(t), "composer", conf)
	must(t, err)
	relay, socket := filepath.Join(u.bin, "relay"), filepath.Join(u.dir, "alice")
	argv := slices.Concat([]string{relay, "run", "alice", "--socket", socket, "--agent", "claude"},
		flags, []string{"--"}, a.EnvArgv())
	s := &seat{u, ctx, testrig.StartTerm(t, term.Options{Argv: argv, Env: u.env, Dir: u.dir}), a}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("screen:\n%s", s.human.Screen())
		}
	})
	u.sees(ctx, "alice to be ready", func(e router.Event) bool {
		return e.Agent == "alice" && e.State == "ready"
	})
	return s
}

// types is what the human types, until the agent shows it.
func (s *seat) types(text string) {
	s.t.Helper()
	must(s.t, s.human.Type(text))
	must(s.t, s.human.WaitText(s.ctx, text))
}

// works has the human give the agent something to do, which it does until it is told to end.
func (s *seat) works() {
	s.t.Helper()
	s.types("work")
	must(s.t, s.human.Type("\r"))
	s.reads(1)
}

func (s *seat) ends() {
	s.t.Helper()
	_, err := s.agent.Do(s.ctx, agents.Command{Cmd: "idle"})
	must(s.t, err)
}

// reads waits until the agent was submitted so many texts, and returns those it was.
func (s *seat) reads(n int) (texts []string) {
	s.t.Helper()
	_, err := s.agent.WaitEvent(s.ctx, agents.KindSubmit, n)
	must(s.t, err)
	all, err := s.agent.EventLog()
	must(s.t, err)
	for _, e := range all {
		if e.Kind == agents.KindSubmit {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// becomes waits until a message has a status.
func (s *seat) becomes(id, status string) {
	s.t.Helper()
	s.sees(s.ctx, id+" to be "+status, func(e router.Event) bool {
		return e.ID == id && e.Status == status
	})
}

// inside runs a command as the agent itself would.
func (s *seat) inside(args ...string) string {
	s.t.Helper()
	token, err := s.agent.Token(s.ctx)
	must(s.t, err)
	as := *s.user
	as.env = append(slices.Clone(s.env), "RELAY_AGENT=alice", "RELAY_TOKEN="+token)
	return as.does(s.ctx, args...)
}

// read is a message as the agent reads it.
func read(id, from, body string) string {
	return parser.Envelope{ID: id, From: from, Body: body, Notice: from == router.Relay}.Text()
}

func (s *seat) equal(got []string, want ...string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("the agent was given %q\nwant %q", got, want)
	}
}

// TestAMessageWaitsForTheEndOfWork, and is delivered then.
func TestAMessageWaitsForTheEndOfWork(t *testing.T) {
	t.Parallel()
	s := sit(t, agents.Config{BusyMS: -1})
	s.works()
	got := s.does(s.ctx, "send", "alice", "test message", "--from", "ci", "--id", "m-1")
	if got != "m-1 queued\n" {
		t.Errorf("send said %q", got)
	}
	if got := s.does(s.ctx, "queue", "alice"); !strings.Contains(got, "m-1  ci") {
		t.Errorf("the queue is %q", got)
	}
	s.equal(s.reads(1), "work")
	s.ends()
	s.equal(s.reads(2), "work", read("m-1", "ci", "test message"))
	s.becomes("m-1", protocol.StatusDelivered)
}

// TestADraftIsPreserved: a message that comes while the human is away from a half-typed prompt is
// delivered, and the prompt is there again.
func TestADraftIsPreserved(t *testing.T) {
	t.Parallel()
	s := sit(t, agents.Config{BusyMS: 1}, "--draft-timeout", "1200")
	s.types("I am typing something")
	s.does(s.ctx, "send", "alice", "interrupting message", "--from", "ci", "--id", "m-1")
	s.equal(s.reads(1), read("m-1", "ci", "interrupting message"))
	s.becomes("m-1", protocol.StatusDelivered)
	must(s.t, s.human.WaitText(s.ctx, "I am typing something"))
	s.types(" else")
	must(s.t, s.human.Type("\r"))
	s.equal(s.reads(2), read("m-1", "ci", "interrupting message"), "I am typing something else")
}

// TestATimeoutDropsAMessage that the agent was too busy to take, for good.
func TestATimeoutDropsAMessage(t *testing.T) {
	t.Parallel()
	s := sit(t, agents.Config{BusyMS: -1})
	s.works()
	s.does(s.ctx, "send", "alice", "dropped", "--from", "ci", "--timeout", "300ms", "--id", "m-1")
	s.becomes("m-1", protocol.StatusExpired)
	s.does(s.ctx, "send", "alice", "kept", "--from", "ci", "--id", "m-2")
	s.ends()
	s.equal(s.reads(2), "work", read("m-2", "ci", "kept"))
	if got := s.does(s.ctx, "show", "m-1"); !strings.Contains(got, "ci → alice  expired") {
		t.Errorf("it is shown as %q", got)
	}
}

// TestAnAgentRemindsItself: it sets a reminder while it works, and gets it once it is idle.
func TestAnAgentRemindsItself(t *testing.T) {
	t.Parallel()
	s := sit(t, agents.Config{BusyMS: -1})
	s.works()
	got := s.inside("remind", "300ms", "test reminder", "--id", "r-1")
	if !strings.HasPrefix(got, "r-1 scheduled for ") {
		t.Errorf("remind said %q", got)
	}
	s.sees(s.ctx, "the reminder", func(e router.Event) bool {
		return e.Type == router.TypeMessage && e.ID == "r-1" && e.To == "alice"
	})
	s.equal(s.reads(1), "work")
	s.ends()
	s.equal(s.reads(2), "work", read("r-1", "relay", "[relay] Scheduled reminder: test reminder"))
	s.becomes("r-1", protocol.StatusDelivered)
}

// TestASenderIsToldOnce that its message was delivered, and that it was not answered, though
// routers are killed in between.
func TestASenderIsToldOnce(t *testing.T) {
	t.Parallel()
	s := sit(t, agents.Config{BusyMS: 1})
	s.wraps(s.ctx, "bob", "cat")
	s.inside("send", "bob", "do task X", "--id", "m-1",
		"--notify-on-delivery", "--notify-after", "700ms")
	want := []string{read("m-1:delivered", "relay", "[relay] Message m-1 delivered to bob.")}
	s.equal(s.reads(1), want...)
	s.killsRouter()
	want = append(want, read("m-1:reminder", "relay",
		`[relay] Reminder: 700ms since message m-1 was delivered to bob: "do task X" (relay screen bob)`))
	s.does(s.ctx, "ls") // which starts a router
	s.equal(s.reads(2), want...)
	s.killsRouter()
	s.does(s.ctx, "send", "alice", "the end", "--from", "ci", "--id", "m-2")
	s.equal(s.reads(3), append(want, read("m-2", "ci", "the end"))...)
}
