package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestRealTurnThatIsRefusedIsNoAnswer: the model says what it is about to do and calls a tool, and
// the API refuses the next request. The wait ends with that, in one line, and what was said is no
// answer; the next turn's words are one. With --retry the message is sent again, marked, once the
// API takes requests again, and the wait goes on until that is answered.
func TestRealTurnThatIsRefusedIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, a := range quickAgents() {
		t.Run(a.Name(), func(t *testing.T) { refusedBehindATool(t, a) })
	}
}

func refusedBehindATool(t *testing.T, a agentrig.Agent) {
	t.Parallel()
	ctx := testrig.Within(t, 3*time.Minute)
	u := newUser(t)
	u.runsReal(ctx, "bob", a, func(turn fakemodel.Turn) fakemodel.Reply {
		switch {
		case strings.Contains(turn.UserText(), "again"), strings.Contains(turn.UserText(), "[relay m3:r1 from human · redelivery]"):
			return fakemodel.Say("All is well.")
		case len(turn.Results) > 0:
			return fakemodel.Reply{Refuse: 400}
		}
		look := fakemodel.Bash("sleep 1")
		look.Deltas = []string{"Let me look at it first."}
		return look
	})
	cmd := u.command(ctx, "send", "bob", "how is it?", "--wait=2m", "--id", "m1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || out.String() != "m1 delivered\n" ||
		!strings.HasPrefix(errs.String(), "relay: m1: the API of bob refused its turn (error): ") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%v, said %q and %q", err, out.String(), errs.String())
	}
	u.does(ctx, "resume", "bob")
	if got, want := u.does(ctx, "send", "bob", "and again?", "--wait=2m"), "All is well.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	retried := make(chan string, 1)
	go func() { retried <- u.does(ctx, "send", "bob", "how is it?", "--retry", "--wait=2m", "--id", "m3") }()
	u.sees(ctx, "m3, refused", func(e router.Event) bool { return e.Type == protocol.TypeTurnEnd && slices.Contains(e.IDs, "m3") })
	u.does(ctx, "resume", "bob")
	if got, want := <-retried, "All is well.\n"; got != want {
		t.Errorf("sent again, it was answered with %q, want %q", got, want)
	}
	if life := u.does(ctx, "show", "m3"); !strings.Contains(life, "sent again as m3:r1") {
		t.Errorf("m3 was not sent again once:\n%s", life)
	}
}
