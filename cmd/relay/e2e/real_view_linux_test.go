package e2e

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/pty/screen"
)

// Claude Code's agents view: the key for it, what it shows, and what leads back into the session.
const (
	viewKey   = "\x1b[D"
	viewShown = "describe a task for a new session"
	viewLeave = "\r" // which does nothing in an empty composer
)

// viewed are two wrapped Claudes of a user who has the agents view: the first one's moves its
// session into a daemon, which then has that one's token for the sessions of both.
type viewed struct {
	*user
	ctx  context.Context
	real realagent.Agent
	term map[string]*term.Term
}

func newViewed(t *testing.T) *viewed {
	claude := agentrig.Claude(agentrig.ClaudeNow)
	v := &viewed{user: newUser(t), ctx: testrig.Within(t, 4*time.Minute), real: realagent.SetUp(t, claude, testrig.Dir(t)), term: map[string]*term.Term{}}
	v.real.API.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		_, name, found := strings.Cut(claude.Received(turn), "say that you are ")
		if !found {
			return fakemodel.Say("Understood.")
		}
		return fakemodel.Say("->relay:human <<<I am " + strings.Fields(name)[0] + ">>>\n")
	})
	return v
}

// opens starts a Claude, and has its session moved and come back into the front.
func (v *viewed) opens(name string) {
	v.t.Helper()
	tm := v.attended(v.ctx, name, v.real, []string{"CLAUDE_CODE_DISABLE_AGENT_VIEW=0", "R=" + filepath.Join(v.bin, "relay")})
	v.term[name] = tm
	back := func(s *screen.Screen) bool { return strings.Contains(term.Dump(s), "manual mode on") }
	err := errors.Join(tm.Type(viewKey), tm.WaitText(v.ctx, viewShown), tm.PressUntil(v.ctx, viewLeave, 3*time.Second, back)) // at first it is "still starting"
	if err != nil {
		v.t.Fatalf("%v\n%s", err, tm.Screen())
	}
	v.becomes(v.ctx, name+" was not told to have moved", func() bool {
		status := v.does(v.ctx, "status", name)
		return strings.Contains(status, protocol.StateUnknown) && strings.Contains(status, "background session")
	})
}

// types types a line in the front of an agent's terminal; behind a ! it is a command.
func (v *viewed) types(name, line string) {
	v.t.Helper()
	tm, prompt := v.term[name], "❯\u00a0"
	line, command := strings.CutPrefix(line, "!")
	if command {
		prompt = "!\u00a0"
		must(v.t, errors.Join(tm.Type("!"), tm.WaitText(v.ctx, prompt)))
	}
	if err := errors.Join(tm.Type(line), tm.WaitText(v.ctx, prompt+line), tm.Type("\r")); err != nil {
		v.t.Fatalf("%v\n%s", err, tm.Screen())
	}
}

// TestProveSessionsInTheAgentsView: the sessions of two Claudes move into the daemon that the first
// one started. Each is heard as itself, a shell of the second does not speak as the first though it
// has that one's token, and no message is typed where another session may stand: an important one
// reaches the first by its hooks, and waits for the second, whose hooks have the first one's token.
func TestProveSessionsInTheAgentsView(t *testing.T) {
	v := newViewed(t)
	v.opens("alice")
	v.opens("bob")
	v.types("alice", "!$R send human shell-one")
	v.sees(v.ctx, "alice's shell", func(e router.Event) bool { return e.Body == "shell-one" && e.From == "alice" })
	v.types("bob", "!$R send human shell-two")
	if err := v.term["bob"].WaitText(v.ctx, "counts not here"); err != nil {
		t.Errorf("%v\n%s", err, v.term["bob"].Screen())
	}
	v.does(v.ctx, "send", "alice", "this is to be typed", "--id", "m-typed", "--until", "queued")
	for _, name := range []string{"bob", "alice"} {
		v.types(name, "say that you are "+name)
		v.sees(v.ctx, name+"'s words", func(e router.Event) bool { return e.Body == "I am "+name && e.From == name })
	}
	v.does(v.ctx, "send", "bob", "this is to be typed", "--important", "--id", "m-hooked", "--until", "queued")
	v.does(v.ctx, "send", "alice", "for alice alone", "--important", "--id", "m-alice")
	v.sees(v.ctx, "alice's message to be delivered", func(e router.Event) bool { return e.ID == "m-alice" && e.Status == "delivered" })
	for _, e := range v.log(v.ctx) {
		switch {
		case e.Body == "shell-two", e.Body == "I am alice" && e.From != "alice", e.Body == "I am bob" && e.From != "bob":
			t.Errorf("%s wrote %q", e.From, e.Body)
		case (e.ID == "m-typed" || e.ID == "m-hooked") && e.Status != "" && e.Status != "queued":
			t.Errorf("the message %s, that waits, is %s", e.ID, e.Status)
		}
	}
	for _, turn := range v.real.API.Turns() {
		if strings.Contains(turn.UserText(), "this is to be typed") {
			t.Errorf("a model read %q", turn.UserText())
		}
	}
}
