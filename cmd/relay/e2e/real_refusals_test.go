package e2e

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// refusals are ways in which a model's API takes no request, or does not answer one that it took,
// with the reason that people are told.
var refusals = []struct {
	kind, reason string
	reply        fakemodel.Reply
}{
	{"401", protocol.ReasonAuth, fakemodel.Reply{Refuse: 401}},
	{"403", protocol.ReasonAuth, fakemodel.Reply{Refuse: 403}},
	{"429", protocol.ReasonLimit, fakemodel.Reply{Refuse: limited}},
	{"529", protocol.ReasonOverloaded, fakemodel.Reply{Refuse: 529}},
	{"400", protocol.ReasonError, fakemodel.Reply{Refuse: 400}},
	{"connection reset", protocol.ReasonError, fakemodel.Reply{Fault: fakemodel.Reset}},
	{"reset in a sentence", protocol.ReasonError, fakemodel.Reply{Deltas: []string{halfSentence}, Fault: fakemodel.Reset}},
	{"time-out", protocol.ReasonError, fakemodel.Reply{Fault: fakemodel.Silent}},
}

// limited is HTTP's status of a limit.
const limited = 429

// nextMinute is in how long a limit ends: with the first minute that is long enough away for the
// limit to be seen before, since agents tell no more than its minute.
func nextMinute(now time.Time) time.Duration {
	d := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	if d < atMost {
		d += time.Minute
	}
	return d + time.Second
}

// What a model says before it calls a tool, and before its connection is reset.
const firstWords, halfSentence = "Let me look at it first.", "The half of it is"

// slowly are those for agents, by profile and kind, that only heed a time limit behind the first
// words of a reply.
var slowly = map[string]fakemodel.Reply{
	"codex time-out": {Deltas: []string{halfSentence}, Fault: fakemodel.Silent},
}

// tireless are the kinds, by profile, that an agent tries again by itself without end.
var tireless = map[string][]string{
	"opencode": {"429", "529"},
}

// asksFirst are dialogs, by profile and kind, in which an agent asks what to do, and the keys that
// have it give up.
var asksFirst = map[string]struct {
	row  string
	keys []string
}{
	"gemini 429": {"Usage limit reached for ", []string{"2"}},
	"gemini 529": {"experiencing high demand", []string{"2"}},
}

// atMost is how long it may take from when the agent gives up until people can know.
const atMost = 10 * time.Second

// refused is an agent whose model's API may refuse.
type refused struct {
	*user
	agent string // its profile
	api   *fakemodel.Server

	mu      sync.Mutex
	refuses *fakemodel.Reply // nil: it answers
	tool    bool             // first it calls a tool
	turns   []int            // that it refused since then
	asked   string           // the message that it read last …
	again   bool             // … which said that it is sent again
}

// headed is the header of a message to an agent, with its id.
var headed = regexp.MustCompile(`\[relay (\S+) from human( · redelivery)?\]`)

func (r *refused) model(t fakemodel.Turn) fakemodel.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range headed.FindAllStringSubmatch(t.UserText(), -1) {
		r.asked, r.again = m[1], m[2] != ""
	}
	switch {
	case r.refuses != nil && r.tool && len(t.Results) == 0:
		look := fakemodel.Bash("sleep 0")
		look.Deltas = []string{firstWords}
		return look
	case r.refuses != nil:
		r.turns = append(r.turns, t.N)
		return *r.refuses
	}
	return fakemodel.Say(answerTo(r.asked))
}

func answerTo(id string) string { return "The answer to " + id + "." }

// shut has the API refuse from now on, behind a call of a tool or at once; nil: no more.
func (r *refused) shut(reply *fakemodel.Reply, tool bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses, r.tool, r.turns = reply, tool, nil
}

// over is when a turn that was refused ended: of so many the first one, or the last.
func (r *refused) over(first bool) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	turns := r.api.Turns()
	if first {
		return turns[r.turns[0]].Ended
	}
	return turns[r.turns[len(r.turns)-1]].Ended
}

// TestProveRefusals: however the API of an agent's model refuses a turn, at its start or behind a
// call of a tool, the sender is told so within ten seconds, with the reason, and of no words as an
// answer. Once the API answers, the message is sent again, marked, and answered once. Where the
// agent tries again by itself without end, its status says so within ten seconds.
func TestProveRefusals(t *testing.T) {
	for _, a := range realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex(), agentrig.Gemini(), agentrig.OpenCode()) {
		t.Run(a.Name(), func(t *testing.T) { refusedInEachWay(t, a) })
	}
}

func refusedInEachWay(t *testing.T, a agentrig.Agent) {
	r := &refused{user: newUser(t), agent: a.Profile}
	r.env = append(r.env, "RELAY_PAIR_LIMIT=0") // Claude Code gives up so fast that more than 30 come within a minute
	real := realagent.SetUp(t, a, testrig.Dir(t), a.Hasty)
	r.api = real.API
	r.api.Respond(r.model)
	line := append([]string{"--agent", a.Profile, "--allow-command", "--"}, real.Argv...)
	r.runs(testrig.Within(t, 20*time.Minute), "bob", real.Dir, real.Env, line...)
	defer func() {
		if t.Failed() {
			t.Logf("at the end:\n%s\n%s", r.does(t.Context(), "screen", "bob"), r.does(t.Context(), "events", "--json"))
		}
	}()
	r.sees(testrig.Within(t, 4*time.Minute), "bob to be ready", func(e router.Event) bool { return e.State == protocol.StateReady })
	var slowest time.Duration
	for n, kind := range refusals {
		for m, moment := range []string{"at the start", "behind a tool"} {
			id := fmt.Sprintf("m%d-%d", n, m)
			took := r.meets(id, n, m > 0)
			t.Logf("%s, %s: told after %v", kind.kind, moment, took)
			slowest = max(slowest, took)
		}
	}
	r.said()
	all := 2 * len(refusals)
	shows(t, "%s, its API refuses in %d ways, at the start of a turn and behind a tool => %d of %d told with the reason, "+
		"the last after %.1f s; answered once when it answers", a.Name(), len(refusals), all, all, slowest.Seconds())
}

// meets sends a message that the API refuses in the nth way, and has the API answer once people can
// know. It returns how long that took from when the agent gave up, or had to try again.
func (r *refused) meets(id string, n int, tool bool) (took time.Duration) {
	r.t.Helper()
	ctx, kind := testrig.Within(r.t, 4*time.Minute), refusals[n]
	endless := slices.Contains(tireless[r.agent], kind.kind)
	reply := kind.reply
	if other, has := slowly[r.agent+" "+kind.kind]; has {
		reply = other
	}
	if reply.Refuse == limited {
		reply.Resets = nextMinute(time.Now())
	}
	r.shut(&reply, tool)
	cmd := r.command(ctx, "send", "bob", "how is it?", "--retry", "--wait=4m", "--id", id)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now().UnixMilli()
	must(r.t, cmd.Start())
	why := fmt.Sprintf("refused a turn (%s): ", kind.reason)
	want, says := answerTo(id+":r1")+"\n", fmt.Sprintf("relay: %s: the API of bob refused its turn (%s): ", id, kind.reason)
	var gaveUp time.Time
	if endless {
		want, says, why = answerTo(id)+"\n", "", "its API refuses, and it tries again by itself"
	} else {
		gaveUp = r.givesUp(ctx, r.agent+" "+kind.kind, began)
		r.sees(ctx, id+" to be refused", func(e router.Event) bool { return e.Type == protocol.TypeTurnEnd && slices.Contains(e.IDs, id) })
	}
	var at int64
	r.sees(ctx, "a state with "+why, func(e router.Event) bool {
		at = e.Timestamp
		return e.Type == protocol.TypeState && at >= began && strings.Contains(e.BlockedBy, why)
	})
	if gaveUp.IsZero() {
		gaveUp = r.over(endless)
	}
	took = time.UnixMilli(at).Sub(gaveUp)
	if took > atMost {
		r.t.Errorf("%s: a state with %q after %v, want %v at most", id, why, took, atMost)
	}
	if status := r.does(ctx, "status", "bob"); !strings.Contains(status, why) {
		r.t.Errorf("%s: %q is not in\n%s", id, why, status)
	}
	r.shut(nil, false)
	r.does(ctx, "resume", "bob")
	err := cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again == endless {
		r.t.Errorf("%s was read as one that is sent again: %t", r.asked, r.again)
	}
	if err != nil || out.String() != want || !strings.Contains(errs.String(), says) {
		r.t.Errorf("%s: %v, said %q and %q, want %q and %q", id, err, &out, &errs, want, says)
	}
	return took
}

// givesUp has the agent give up where it asks what to do first, and returns when; zero: it does not
// ask. Its status says that it asks.
func (r *refused) givesUp(ctx context.Context, kind string, after int64) (at time.Time) {
	r.t.Helper()
	asks, has := asksFirst[kind]
	if !has {
		return at
	}
	r.sees(ctx, "a dialog with "+asks.row, func(e router.Event) bool {
		return e.State == protocol.StateBlocked && e.Timestamp >= after && strings.Contains(e.BlockedBy, asks.row)
	})
	r.does(ctx, append([]string{"keys", "bob"}, asks.keys...)...)
	return time.Now()
}

// said checks that the agent said nothing but answers, each once, and each to its message.
func (r *refused) said() {
	r.t.Helper()
	answers := map[string]int{}
	for _, e := range r.log(r.t.Context()) {
		switch {
		case e.Type == router.TypeMessage && e.From == "bob":
			r.t.Errorf("bob wrote %q", e.Body)
		case e.Type == protocol.TypeTurnEnd && r.agent == "gemini" && len(e.IDs) == 0 && e.Body == firstWords:
			// Behind a tool whose answer its API refused it goes on by a prompt of its own:
			// "[System: You successfully executed a tool but returned an empty response. …"
		case e.Type == protocol.TypeTurnEnd && e.Result.Outcome == protocol.OutcomeAnswered:
			if len(e.IDs) != 1 || e.Body != answerTo(e.IDs[0]) {
				r.t.Errorf("of %q was said %q", e.IDs, e.Body)
			}
			answers[e.Body]++
		}
	}
	for says, n := range answers {
		if n != 1 {
			r.t.Errorf("%q was said %d times", says, n)
		}
	}
	if len(answers) != 2*len(refusals) {
		r.t.Errorf("%d answers to %d messages", len(answers), 2*len(refusals))
	}
}
