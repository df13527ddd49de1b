package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
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
)

// manner is how a model comes to its answer.
type manner int

const (
	inWords    manner = iota
	byMarker          // to the sender
	behindTool        // in words
	background        // in words, when a shell in the background is over
	ways
)

// backgrounds are calls of agents' shell tools, by profile, that go on in the background. Gemini
// CLI and OpenCode have none of that.
var backgrounds = map[string]map[string]any{
	"claude": {"command": "sleep 1", "description": "Wait", "run_in_background": true},
	"codex":  {"command": "sleep 1", "yield_time_ms": 250},
}

// question is one that a model was asked, by its id.
type question struct {
	id, from string
	way      manner
}

// oracle is a model that answers each question in the way that is planned for it, by naming it.
type oracle struct {
	agent string // its profile

	mu     sync.Mutex
	plan   map[string]manner
	asked  []question          // in this turn
	begins []*fakemodel.Tool   // that it is to call yet before it answers those
	later  []question          // which it answers when it hears that work is over
	shared map[string][]string // by a question, what it was asked in the same turns
}

var whichOne = regexp.MustCompile(`\[relay (\S+) from (\w+)[^\]]*\] which one\?`)

// over is what Claude Code tells its model when a shell in the background is over.
var over = regexp.MustCompile(`<task-id>[\w-]+</task-id>`)

func (o *oracle) model(t fakemodel.Turn) fakemodel.Reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := whichOne.FindAllStringSubmatch(t.UserText(), -1)
	if len(all) > 0 {
		o.asked, o.begins = nil, nil
	}
	for _, m := range all {
		q := question{m[1], m[2], o.plan[m[1]]}
		o.asked = append(o.asked, q)
		switch q.way {
		case behindTool:
			o.begins = append(o.begins, fakemodel.Bash("sleep 1").Tool)
		case background:
			o.begins = append(o.begins, &fakemodel.Tool{Arguments: backgrounds[o.agent]})
			if o.agent == "codex" { // nothing tells it of the end, so it looks at something else until then
				o.begins = append(o.begins, fakemodel.Bash("sleep 2").Tool)
			}
		}
	}
	if over.Match(t.Raw[bytes.LastIndex(t.Raw, []byte(`"role":"assistant"`))+1:]) {
		o.asked, o.later = append(o.asked, o.later...), nil
	}
	if len(o.begins) > 0 {
		tool := o.begins[0]
		o.begins = o.begins[1:]
		return fakemodel.Reply{Deltas: []string{"Let me look at it first."}, Tool: tool}
	}
	return fakemodel.Say(strings.TrimSpace(o.answers()))
}

// answers is what it says of all that it was asked in this turn. If it writes to one, it writes to
// each: else who is to have an answer in words waits on for a message.
func (o *oracle) answers() (says string) {
	writes := slices.ContainsFunc(o.asked, func(q question) bool { return q.way == byMarker })
	var now []string
	for _, q := range o.asked {
		now = append(now, q.id)
		switch {
		case q.way == background && o.agent == "claude" && !slices.Contains(o.later, q) && o.plan[q.id] == background:
			o.later, o.plan[q.id] = append(o.later, q), inWords
			says += "It runs in the background.\n"
		case writes:
			says += fmt.Sprintf("->relay:%s [re=%s] <<<%s>>>\n", q.from, q.id, answerTo(q.id))
		default:
			says += answerTo(q.id) + "\n"
		}
	}
	for _, id := range now {
		o.shared[id] = append(o.shared[id], slices.DeleteFunc(slices.Clone(now), func(s string) bool { return s == id })...)
	}
	o.asked = nil
	return says
}

// TestProveAnswersOfPairs: two senders ask an agent in short order, again and again. Each has its
// own answer, or is told that there is none, however the model comes to it.
func TestProveAnswersOfPairs(t *testing.T) {
	const sessions, pairs = 2, 25
	seed := testrig.Seed(t)
	for _, a := range realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex(), agentrig.Gemini(), agentrig.OpenCode()) {
		t.Run(a.Name(), func(t *testing.T) {
			var asking sync.WaitGroup
			var all [sessions]pairing
			for n := range all {
				p := &all[n]
				p.random = rand.New(rand.NewPCG(seed, uint64(n)))
				p.begin(t, a)
				asking.Go(func() { p.ask(pairs) })
			}
			asking.Wait()
			answered, none := all[0].answered+all[1].answered, all[0].none+all[1].none
			besides := ""
			if backgrounds[a.Profile] != nil {
				besides = ", behind work in the background"
			}
			shows(t, "%s, %d pairs of questions of two senders, 0 to 5 s apart, answered in words, by a marker, behind a tool%s "+
				"=> %d have their own answer, %d are told that there is none, 0 are mixed up",
				a.Name(), sessions*pairs, besides, answered, none)
		})
	}
}

// pairing is a session of an agent that two senders ask.
type pairing struct {
	*user
	ctx    context.Context
	oracle *oracle
	random *rand.Rand

	mu             sync.Mutex
	answered, none int
}

func (p *pairing) begin(t *testing.T, a agentrig.Agent) {
	p.user, p.ctx = newUser(t), testrig.Within(t, 15*time.Minute)
	p.oracle = &oracle{agent: a.Profile, plan: map[string]manner{}, shared: map[string][]string{}}
	api, _ := p.runsReal(p.ctx, "bob", a, p.oracle.model)
	api.KeepRaw()
}

// ask asks so many pairs of questions, each pair when the last one was answered.
func (p *pairing) ask(pairs int) {
	for n := range pairs {
		var asking sync.WaitGroup
		for m, from := range []string{"amy", "ben"} {
			id, way := fmt.Sprintf("q%d-%s", n, from), manner(p.random.IntN(int(ways)))
			if way == background && backgrounds[p.oracle.agent] == nil {
				way = behindTool
			}
			p.oracle.mu.Lock()
			p.oracle.plan[id] = way
			p.oracle.mu.Unlock()
			if m > 0 {
				select {
				case <-time.After(time.Duration(p.random.IntN(5001)) * time.Millisecond):
				case <-p.ctx.Done():
				}
			}
			asking.Go(func() { p.asks(id, from, way) })
		}
		if asking.Wait(); p.t.Failed() {
			p.t.Logf("%s", p.does(p.ctx, "events", "--json"))
			return
		}
	}
}

// asks sends a question, and checks its answer: it is the question's own, with others where the
// model has answered these in the same words. Where the model wrote a message to the other sender
// beside it, the words are none.
func (p *pairing) asks(id, from string, way manner) {
	cmd := p.command(p.ctx, "send", "bob", "which one?", "--from", from, "--wait=1m", "--id", id)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	p.oracle.mu.Lock()
	beside := p.oracle.shared[id]
	p.oracle.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	exit := (*exec.ExitError)(nil)
	switch lines := strings.Split(strings.TrimSpace(out.String()), "\n"); {
	case err == nil && out.String() == answerTo(id)+"\n",
		err == nil && len(beside) > 0 && slices.Contains(lines, answerTo(id)):
		p.answered++
	case errors.As(err, &exit) && exit.ExitCode() == 1 && len(beside) > 0 && way != byMarker:
		p.none++
	default:
		p.t.Errorf("%s (%d), answered with %q: %v, said %q and %q", id, way, beside, err, &out, &errs)
	}
}
