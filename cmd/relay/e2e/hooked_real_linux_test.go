package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/pty/screen"
)

// hookedClaude is the real Claude Code with our hooks, on a terminal.
type hookedClaude struct {
	*user
	*term.Term
	agentrig.Agent
	ctx  context.Context
	api  *fakemodel.Server
	cwd  string
	home string
}

func startHooked(ctx context.Context, t *testing.T, a agentrig.Agent) *hookedClaude {
	t.Helper()
	u := newUser(t)
	home := testrig.Dir(t)
	real := realagent.SetUp(t, a, home)
	api := real.API
	api.KeepRaw()
	home = filepath.Join(home, "home")
	usersOwn(t, home, filepath.Join(u.bin, "relay"))
	real.Argv = slices.Concat(real.Argv, claudeCalls(a).flags)
	api.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if strings.HasSuffix(turn.UserText(), callMine) {
			return fakemodel.Call("", mine, map[string]any{})
		}
		return api.Script(turn)
	})
	tm := u.attended(ctx, "alice", real, nil, "--draft-timeout", "0")
	return &hookedClaude{u, tm, a, ctx, api, real.Dir, home}
}

// waits waits until a hook waits for messages: the one that the session's start, or the last turn,
// began.
func (h *hookedClaude) waits(event string) {
	h.t.Helper()
	h.becomes(h.ctx, "a hook that waits", func() bool { return len(running(h.dir, "\x00hook\x00claude\x00"+event+"\x00wait\x00")) > 0 })
}

// from is who sends a message: one sender of all would send more than 30 within a minute.
func from(id string) string { return "from-" + id }

// sends sends an important message.
func (h *hookedClaude) sends(id, text string) {
	h.t.Helper()
	h.does(h.ctx, "send", "alice", text, "--important", "--id", id, "--from", from(id))
}

// gets waits until the model gets a request with the message in it.
func (h *hookedClaude) gets(id string) fakemodel.Turn {
	h.t.Helper()
	turn, err := h.api.WaitTurn(h.ctx, func(t fakemodel.Turn) bool { return bytes.Contains(t.Raw, []byte("[relay "+id+" from "+from(id)+"]")) })
	if err != nil {
		h.t.Fatalf("a request with %s: %v\n%s\n%s", id, err, h.Screen(), h.does(h.t.Context(), "events"))
	}
	return turn
}

// delivered waits for the message's end, which the agent's log proves, or other evidence that is
// given.
func (h *hookedClaude) delivered(id string, or ...string) {
	h.t.Helper()
	var end router.Event
	h.sees(h.ctx, id+" to be delivered", func(e router.Event) bool {
		end = e
		return e.ID == id && (e.Status == "delivered" || e.Status == "unknown" || e.Status == "failed")
	})
	if end.Status != "delivered" || !slices.Contains(append(or, "turn"), end.Evidence) || end.Attempt != 1 {
		h.t.Errorf("%s ended as %s (%s), attempt %d", id, end.Status, end.Evidence, end.Attempt)
	}
}

func (h *hookedClaude) types(keys string) {
	h.t.Helper()
	must(h.t, h.Type(keys))
}

func (h *hookedClaude) shows(text string) {
	h.t.Helper()
	if err := h.WaitText(h.ctx, text); err != nil {
		h.t.Fatalf("%v\n%s", err, h.Screen())
	}
}

// asks types a prompt of the human's and sends it.
func (h *hookedClaude) asks(prompt string) {
	h.t.Helper()
	h.types(prompt)
	h.shows("❯\u00a0" + prompt)
	h.types("\r")
}

// rests waits until the model has no open request and the agent is ready.
func (h *hookedClaude) rests() {
	h.t.Helper()
	n := len(h.api.Turns()) - 1
	if _, err := h.api.WaitTurn(h.ctx, func(t fakemodel.Turn) bool { return t.N == n && !t.Open() }); err != nil {
		h.t.Fatal(err)
	}
	h.becomes(h.ctx, "the end of the turn", func() bool {
		alice, err := h.client().Agent(h.ctx, "alice")
		return err == nil && alice.State == "ready"
	})
}

// draft is what the human has begun to write.
const draft = "half a prompt"

// idle: a session at rest is woken. The first is waited for since the session's start.
func (h *hookedClaude) idle(event, id string) {
	h.t.Helper()
	h.waits(event)
	h.sends(id, "wake up")
	h.gets(id)
	h.delivered(id, "submitted") // it is typed if the hook is slower to ask for it
	h.rests()
}

// besideDraft: a message reaches the agent, and the draft stays.
func (h *hookedClaude) besideDraft(id string, lines int) {
	h.t.Helper()
	h.waits("Stop")
	h.types(draft)
	h.shows("❯\u00a0" + draft)
	h.sends(id, strings.Repeat("beside a draft\n", lines))
	h.gets(id)
	h.delivered(id)
	h.rests()
	h.shows("❯\u00a0" + draft)
	h.types(strings.Repeat("\x7f", len(draft)))
}

// atWork: two messages come with the result of the tool that runs.
func (h *hookedClaude) atWork(first, second string, lines int) {
	h.t.Helper()
	h.waits("Stop")
	h.asks("please TOOL 4")
	h.shows("esc to interrupt")
	h.sends(first, "for the one who waits")
	h.sees(h.ctx, first+" to be pulled", func(e router.Event) bool { return e.ID == first && e.Status == "injecting" })
	h.types(draft) // so that it cannot be typed
	h.sends(second, strings.Repeat("with the tool's result\n", lines))
	one, two := h.gets(first), h.gets(second)
	h.delivered(first)
	h.delivered(second)
	if len(two.Results) == 0 || one.N != two.N {
		h.t.Errorf("they came with turns %d and %d, results %q", one.N, two.N, two.Results)
	}
	h.rests()
	h.shows("❯\u00a0" + draft)
	h.types(strings.Repeat("\x7f", len(draft)))
}

// besideQuestion: a message waits behind an open question, which only the human answers.
func (h *hookedClaude) besideQuestion(id string) {
	h.t.Helper()
	h.waits("Stop")
	made := filepath.Join(h.cwd, id+".txt")
	h.asks("please TOUCH " + id + ".txt")
	h.shows(h.Question)
	h.sends(id, "beside a question")
	h.sees(h.ctx, id+" to be pulled", func(e router.Event) bool { return e.ID == id && e.Status == "injecting" })
	h.shows(h.Question)
	if _, err := os.Stat(made); err == nil {
		h.t.Errorf("the question beside %s was answered", id)
	}
	answered := func(s *screen.Screen) bool { return !strings.Contains(term.Dump(s), h.Question) }
	must(h.t, h.PressUntil(h.ctx, "1", time.Second, answered))
	h.gets(id)
	h.delivered(id)
	h.rests()
	if _, err := os.Stat(made); err != nil {
		h.t.Errorf("the human's answer beside %s did not count", id)
	}
	h.types(strings.Repeat("\x7f", 9)) // what was pressed after the answer that counted
}

// typed is what besideDraft and idle are compared to: a message that is typed.
func (h *hookedClaude) typed(id string) {
	h.t.Helper()
	h.waits("Stop")
	h.does(h.ctx, "send", "alice", "wake up", "--id", id, "--from", from(id))
	h.gets(id)
	h.delivered(id, "submitted")
	h.rests()
}

// once checks that the model got each message once and whole: its last request holds all of the
// conversation.
func (h *hookedClaude) once(ids []string) {
	h.t.Helper()
	turns := h.api.Turns()
	whole := turns[len(turns)-1].Raw
	for _, id := range ids {
		if n := bytes.Count(whole, fmt.Appendf(nil, "[relay %s from %s]", id, from(id))); n != 1 {
			h.t.Errorf("the model got %s %d times", id, n)
		}
		if n := bytes.Count(whole, fmt.Appendf(nil, "[end %s ", id)); n != 1 {
			h.t.Errorf("the model got the end of %s %d times", id, n)
		}
	}
}

// took is how long it took from a message's acceptance to the model's request with it, by the
// beginning of the ids, the middle of each; inBand says of how many that was not typed.
func (h *hookedClaude) took(kind string) (middle time.Duration, inBand int) {
	h.t.Helper()
	accepted := map[string]time.Time{}
	for _, e := range h.log(h.ctx) {
		if e.Type == router.TypeMessage && strings.HasPrefix(e.ID, kind+"-") {
			accepted[e.ID] = time.UnixMilli(e.Timestamp)
		}
	}
	var all []time.Duration
	for id, at := range accepted {
		turn := h.gets(id)
		all = append(all, turn.At.Sub(at))
		if !slices.ContainsFunc(turn.Text, func(text string) bool { return strings.HasPrefix(text, "[relay "+id+" ") }) {
			inBand++
		}
	}
	if len(all) == 0 {
		h.t.Fatalf("no message is called %s-…", kind)
	}
	slices.Sort(all)
	h.t.Logf("%s: %v", kind, all)
	return all[len(all)/2].Round(time.Millisecond), inBand
}

// TestRealHooks: important messages reach Claude Code beside a draft, a dialog and its work, each
// once, and neither is touched; the user's settings, hooks and MCP servers stay as they are, and
// work, and so do relay's tools beside them.
func TestRealHooks(t *testing.T) {
	t.Parallel()
	rounds := testrig.Runs(1, 50)
	for _, a := range hookedReleases(t) {
		t.Run(a.Version, func(t *testing.T) {
			t.Parallel()
			limit := time.Duration(2+rounds) * time.Minute
			ctx := testrig.Within(t, limit)
			h := startHooked(ctx, t, a)
			before := h.own()
			var ids []string
			id := func(kind string, n int) string {
				ids = append(ids, fmt.Sprintf("%s-%d", kind, n))
				return ids[len(ids)-1]
			}
			h.idle("SessionStart", id("idle", 0))
			h.besideDraft(id("draft", 0), testrig.Runs(300, 2000))
			h.atWork(id("busy", 0), id("result", 0), 300)
			h.besideQuestion(id("dialog", 0))
			for n := 1; n < rounds; n++ { // of short messages, else the agent makes room in its context
				h.typed(id("typed", n))
				h.idle("Stop", id("idle", n))
				h.besideDraft(id("draft", n), 2)
				h.atWork(id("busy", n), id("result", n), 2)
				h.besideQuestion(id("dialog", n))
			}
			h.works()
			h.once(ids)
			claudeCalls(a).callsAll(ctx, h.user, h.api)
			if after := h.own(); after != before {
				t.Errorf("the user's own settings are\n%s\nwere\n%s", after, before)
			}
			idle, woken := h.took("idle")
			beside, handed := h.took("draft")
			shows(t, "Claude Code %s at rest asks its model %v after a message for its hook (median; %d of %d not typed), %v beside a draft => the message once, the draft untouched",
				a.Version, idle, woken, rounds, beside)
			if handed != rounds {
				t.Errorf("%d of %d messages were handed over beside a draft", handed, rounds)
			}
			if rounds > 1 {
				typed, _ := h.took("typed")
				load, _ := os.ReadFile("/proc/loadavg") // it is told, no more
				shows(t, "Claude Code %s, the same message typed (median) => %v; the load is %.14s", a.Version, typed, load)
			}
		})
	}
}
