package e2e

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/inject/agents/rig"
	"relay-pty/pty/screen"
)

// terminals are those in which each agent draws otherwise.
var terminals = []rig.Look{
	{Name: "plain"},
	{Name: "no colours", Env: []string{"NO_COLOR=1"}},
	{Name: "no colours by force", Env: []string{"FORCE_COLOR=0"}},
	{Name: "no UTF-8", Env: []string{"LANG=C"}},
	{Name: "no COLORTERM", Env: []string{"COLORTERM="}},
	{Name: "all colours", Env: []string{"COLORTERM=truecolor"}},
	{Name: "TERM=vt100", Env: []string{"TERM=vt100"}},
	{Name: "TERM=screen", Env: []string{"TERM=screen"}},
	{Name: "TERM=linux", Env: []string{"TERM=linux"}},
	{Name: "TERM=dumb", Env: []string{"TERM=dumb"}},
	{Name: "TERM=xterm-mono", Env: []string{"TERM=xterm-mono"}},
	{Name: "40 columns", Rows: 24, Cols: 40},
	{Name: "60 columns, 20 rows", Rows: 20, Cols: 60},
	{Name: "200 columns, 60 rows", Rows: 60, Cols: 200},
	{Name: "12 rows", Rows: 12, Cols: 80},
}

// TestRealAgentsLookOtherwise: names, modes and terminals change the frame, the prompt and the
// colours of composers. Each agent is ready all the same, gets a message, and keeps a draft; in a
// shell mode, where messages wait, people are told so.
func TestRealAgentsLookOtherwise(t *testing.T) {
	tried := map[string][]string{
		"claude": {"name with TERM=linux"},
		"codex":  {"shell mode"},
		"gemini": {"yolo without colours", "no footer"},
	}
	each(t, realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex(), agentrig.Gemini()), func(t *testing.T, a agentrig.Agent) {
		for _, l := range a.Looks {
			if slices.Contains(tried[a.Profile], l.Name) {
				t.Run(l.Name, func(t *testing.T) { look{l, a}.holds(t) })
			}
		}
	})
}

// TestProveLooks: in every one of its looks an agent gets messages, or people are told why not.
func TestProveLooks(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		var gets, told int
		frames := map[[2]uint64]string{}
		own := func(l rig.Look) bool {
			return slices.ContainsFunc(a.Looks, func(o rig.Look) bool { return o.Name == l.Name })
		}
		looks := append(slices.DeleteFunc(slices.Clone(terminals), own), a.Looks...)
		for _, l := range looks {
			t.Run(l.Name, func(t *testing.T) {
				frame := look{l, a}.holds(t)
				if same, before := frames[frame]; before {
					t.Logf("it draws what it does with %q", same)
				}
				frames[frame] = l.Name
				if l.Told == "" {
					gets++
				} else {
					told++
				}
			})
		}
		shown(t, a.Name()+": looks in which it gets messages and is heard, or people are told why it gets none",
			"%d + %d of %d, of which %d draw what no other does", gets, told, len(looks), len(frames))
	})
}

// look is an agent in one of its looks.
type look struct {
	rig.Look
	agent agentrig.Agent
}

// holds checks that the agent, with this look, is one that messages can be sent to and that is
// heard, or that people are told why not. It returns what it drew, at its start and with a turn.
func (l look) holds(t *testing.T) (frames [2]uint64) {
	l.agent.Args = append(slices.Clone(l.agent.Args), l.Args...)
	set := func(_ rig.Home, env []string) ([]string, error) { return append(env, l.Env...), nil }
	changes := []agentrig.Change{set}
	if l.Change != nil {
		changes = append(changes, l.Change)
	}
	r := beginSized(t, l.agent, l.Rows, l.Cols, changes)
	r.api.SetMark("heard", "->relay:bob heard")
	ids := []string{"m1", "m2"}
	if l.Told == "" || len(l.Keys) > 0 {
		r.stateBy(bounded(t, 5*time.Minute, "its start"), "ready")
	}
	if len(l.Keys) > 0 { // which an agent may take for text until it has started
		ids = append(ids, "m0")
		r.inject("m0", "MARK heard")
		r.answers("m0", 1)
		r.keys(l.Keys)
	}
	if l.Told != "" {
		r.told(l.Told)
	}
	frames[0] = r.painted()
	turns := len(r.api.Turns())
	r.inject("m1", "MARK heard")
	if l.Told != "" {
		r.told(l.Told)
		if n := len(r.api.Turns()); n != turns {
			t.Errorf("%d turns, want %d: something was typed", n, turns)
		}
		if len(l.Back) == 0 {
			return frames
		}
		r.keys(l.Back)
	}
	r.answers("m1", len(ids)-1)
	frames[1] = r.painted()
	must(t, r.Type("half a draft"))
	r.shows("half a draft")
	r.inject("m2", strings.Repeat("many lines\n", 10))
	r.held("m2", "draft", 2*humanPause)
	r.enter()
	r.turnWith("half a draft")
	end := r.delivers("m2", "submitted", "turn")
	r.turnWith("[relay m2 from bob]")
	r.rests(end)
	r.once(ids)
	return frames
}

// answers waits until the message is in the model's conversation, and n answers were heard.
func (r *realAgent) answers(id string, n int) {
	r.t.Helper()
	end := r.delivers(id, "turn", "submitted")
	r.turn(id, "MARK heard")
	if got := r.waitCommands(n); len(got) != n || got[n-1] != "bob||heard" {
		r.t.Errorf("heard %q", got)
	}
	r.rests(end)
}

// keys has the human press keys one after another, each when what the one before did has shown.
func (r *realAgent) keys(keys []string) {
	r.t.Helper()
	for _, key := range keys {
		pause(r.t, humanPause)
		before, ctx := r.painted(), patience(r.t, fmt.Sprintf("what the key %q does", key))
		for must(r.t, r.Type(key)); r.painted() == before; pause(r.t, 10*time.Millisecond) {
			must(r.t, context.Cause(ctx))
		}
	}
}

// told waits until people are told why the agent gets no message.
func (r *realAgent) told(part string) {
	r.t.Helper()
	ctx := patience(r.t, fmt.Sprintf("a reason with %q", part))
	for {
		f := r.status()
		if why := f.Str("blocked_by"); strings.Contains(why, part) && slices.Contains([]string{"unknown", "blocked"}, f.Str("state")) {
			return
		}
		if ctx.Err() != nil {
			r.t.Fatalf("%v: %s", context.Cause(ctx), f.Raw)
		}
		pause(r.t, 50*time.Millisecond)
	}
}

var frameSeed = maphash.MakeSeed()

// painted tells frames apart by shapes and colours; names of files and numbers do not matter.
func (r *realAgent) painted() (sum uint64) {
	r.t.Helper()
	must(r.t, r.WaitScreen(r.t.Context(), func(s *screen.Screen) bool {
		var h maphash.Hash
		h.SetSeed(frameSeed)
		rows, cols := s.Size()
		for row := range rows {
			for col := range cols {
				c := s.Cell(row, col)
				fmt.Fprint(&h, strings.Map(shape, c.Text), c.Style)
			}
		}
		sum = h.Sum64()
		return true
	}))
	return sum
}

func shape(r rune) rune {
	switch {
	case r < 128 && unicode.IsLetter(r):
		return 'a'
	case unicode.IsDigit(r):
		return '0'
	}
	return r
}
