package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
)

// envelope is what the model reads of a message that holds a number.
var envelope = regexp.MustCompile(`\[relay (\S+) from ([^\s\]]+)[^\]]*\]\s*(\d+)`)

// shortID is an id as agents read it, whatever the message's own is.
var shortID = regexp.MustCompile(`^m-[0-9a-z]{8}$`)

// counting is a model that sends the number that it was sent, plus one, to the other agent. At last
// it answers the human, who began.
func counting(a agentrig.Agent, other string, last int) fakemodel.Responder {
	var asked string
	return func(t fakemodel.Turn) fakemodel.Reply {
		got := envelope.FindStringSubmatch(a.Received(t))
		if got == nil {
			return fakemodel.Say("There was no number.")
		}
		if got[2] == router.Human {
			asked = got[1]
		}
		n, err := strconv.Atoi(got[3])
		switch {
		case err != nil:
			return fakemodel.Say(err.Error())
		case n == last:
			return fakemodel.Say(fmt.Sprintf("That was the last.\n->relay:human [re=%s] <<<counted to %d>>>\n", asked, n))
		}
		return fakemodel.Say(fmt.Sprintf("I count on.\n->relay:%s <<<%d>>>\n", other, n+1))
	}
}

// runsReal runs a real agent with that model, in a home of its own.
func (u *user) runsReal(ctx context.Context, name string, a agentrig.Agent, model fakemodel.Responder) (api *fakemodel.Server, home string) {
	u.t.Helper()
	home = testrig.Dir(u.t)
	real := realagent.SetUp(u.t, a, home)
	real.API.Respond(model)
	u.runs(ctx, name, real.Dir, real.Env, append([]string{"--agent", a.Profile, "--"}, real.Argv...)...)
	return real.API, home
}

// TestRealAgentsTalk: Claude Code and Codex count together, by messages to each other. Each number
// is sent once, delivered, and read by the other's model once, in order.
func TestRealAgentsTalk(t *testing.T) {
	t.Parallel()
	talk(t)
}

// TestProveQuickTalk: a marker that the one writes is at the other's terminal soon after its log
// has it. A machine with other work takes longer.
func TestProveQuickTalk(t *testing.T) {
	if took := talk(t); took > 20 {
		t.Errorf("a marker is at the other agent %d ms after the log has it, want at most 20", took)
	}
}

// talk returns how long a marker takes from the one's log to the other's terminal, in milliseconds.
func talk(t *testing.T) (took int64) {
	t.Helper()
	last := testrig.Runs(4, 40)
	const limit = 2 * time.Minute
	u := newUser(t)
	u.env = append(u.env, "RELAY_MAX_HOPS=100") // for all of it is talk
	ctx := testrig.Within(t, limit)
	began, claude, codex := time.Now(), agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()
	alice, one := u.runsReal(ctx, "alice", claude, counting(claude, "bob", last))
	bob, other := u.runsReal(ctx, "bob", codex, counting(codex, "alice", last))
	logs := rows{dirs: []string{one, other}, at: map[int]int64{}}
	stop := logs.follow(ctx)
	if got, want := u.does(ctx, "send", "alice", "0", "--wait=3m"), fmt.Sprintf("counted to %d\n", last); got != want {
		t.Errorf("got %q, want %q\n%s", got, want, u.does(t.Context(), "events"))
	}
	t.Logf("%d messages between real agents after %v", last, time.Since(began))
	stop()
	events := u.log(ctx)
	took = logs.quick(t, events)
	next, delivered := 0, 0
	for _, e := range events {
		switch {
		case e.Type == router.TypeMessage && e.To != router.Human:
			if to := []string{"alice", "bob"}[next%2]; e.To != to || e.Body != strconv.Itoa(next) {
				t.Errorf("message %d is %q to %s", next, e.Body, e.To)
			}
			next++
		case e.Status == "delivered":
			delivered++
		}
	}
	if next != last+1 || delivered != last+1 {
		t.Errorf("%d messages, %d delivered; want %d", next, delivered, last+1)
	}
	for i, api := range []*fakemodel.Server{alice, bob} {
		read := i
		for _, turn := range api.Turns() {
			got := envelope.FindStringSubmatch(turn.UserText())
			if got == nil || got[3] != strconv.Itoa(read) {
				t.Errorf("a model read %q, want %d", turn.UserText(), read)
			} else if !shortID.MatchString(got[1]) {
				t.Errorf("a model read the id %q", got[1])
			}
			read += 2
		}
	}
	return took
}

// TestProveAnswersWithoutMarkers: an agent that just says its answer is understood, and what it
// said is not taken for a message. What it is to be reminded of it reads as it was set.
func TestProveAnswersWithoutMarkers(t *testing.T) {
	for _, a := range realagent.Tried(agentrig.All()...) {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			ctx := testrig.Within(t, 2*time.Minute)
			const words, long = "It is *4*,  as always.", "2f6f0d9c-5b1e-4f0e-9a53-3f3c8f0f6c11"
			api, _ := u.runsReal(ctx, "bob", a, func(fakemodel.Turn) fakemodel.Reply { return fakemodel.Say(words) })
			if got := u.does(ctx, "send", "bob", "what is two and two?", "--id", long, "--wait=90s"); got != words+"\n" {
				t.Errorf("got %q, want %q\n%s", got, words, u.does(t.Context(), "events"))
			}
			if got := a.Received(api.Turns()[0]); !strings.HasPrefix(got, "[relay m-") || strings.Contains(got, long) {
				t.Errorf("the model read %q", got)
			}
			t.Log(u.does(ctx, "events"), u.does(ctx, "show", long))
			if got, want := u.does(ctx, "show", long), "bob ended its turn: "+words; !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
			if got := u.does(ctx, "show", long, "--json"); !strings.Contains(got, `"inferred":true`) {
				t.Errorf("the answer is not marked: %s", got)
			}
			for _, e := range u.log(ctx) {
				if e.Type == router.TypeMessage && e.From == "bob" {
					t.Errorf("bob wrote %q", e.Body)
				}
			}
			u.does(ctx, "remind", "100ms", "look at it", "--as", "bob", "--id", "r-1")
			want := "[relay r-1 from relay] [relay] Scheduled reminder: look at it\n[end r-1]"
			if _, err := api.WaitTurn(ctx, func(t fakemodel.Turn) bool { return a.Received(t) == want }); err != nil {
				t.Errorf("no turn with %q: %v\n%s", want, err, u.does(t.Context(), "events"))
			}
			u.sees(ctx, "the reminder to be delivered", func(e router.Event) bool { return e.ID == "r-1" && e.Status == "delivered" })
		})
	}
}

// TestProveDraftIsKept: who is half way through a prompt, and gone, finds it as it was; the message
// that was sent meanwhile is answered.
func TestProveDraftIsKept(t *testing.T) {
	ctx := testrig.Within(t, 2*time.Minute)
	u, claude := newUser(t), agentrig.Claude(agentrig.ClaudeNow)
	real := realagent.SetUp(t, claude, testrig.Dir(t))
	real.API.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if strings.HasPrefix(claude.Received(turn), "[relay ") {
			return fakemodel.Say("Understood.")
		}
		return fakemodel.Say("You said more.")
	})
	tm := u.attended(ctx, "alice", real, nil, "--draft-timeout", "2s")
	const draft = "I am typing something"
	must(t, errors.Join(tm.Type(draft), tm.WaitText(ctx, "❯\u00a0"+draft)))
	if got := u.does(ctx, "send", "alice", "interrupting message", "--id", "m-1", "--wait=90s"); got != "Understood.\n" {
		t.Errorf("got %q\n%s", got, tm.Screen())
	}
	if err := errors.Join(tm.WaitText(ctx, "❯\u00a0"+draft), tm.Type(" else\r")); err != nil {
		t.Fatalf("%v\n%s", err, tm.Screen())
	}
	if err := tm.WaitText(ctx, "You said more."); err != nil {
		t.Fatalf("%v\n%s", err, tm.Screen())
	}
	if got := claude.Received(real.API.Turns()[1]); got != draft+" else" {
		t.Errorf("the human's turn was %q", got)
	}
}
