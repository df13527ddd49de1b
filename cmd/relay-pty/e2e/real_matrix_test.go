package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/inject/turn"
)

func everyMessageOnce(t *testing.T, r *realAgent) {
	bodies := slices.DeleteFunc(shapes(r.canary), func(body string) bool { return r.Longest > 0 && turn.Longest(body) > r.Longest })
	n, before := runs(2, 50), len(r.api.Turns())
	var ids []string
	var took []time.Duration
	for i := range n {
		id, body := fmt.Sprintf("m%d", i), bodies[(i*7+len(r.Name()))%len(bodies)] // in a short run, other shapes for others
		began := time.Now()
		r.inject(id, body)
		r.outcome(id, 4*time.Minute) // Gemini CLI needs most of a minute for 64 KB in one line
		end := r.delivers(id, "submitted", "turn")
		took = append(took, time.Since(began))
		r.turn(id, body)
		r.rests(end)
		ids = append(ids, id)
	}
	r.once(ids)
	checkTurns(t, r.api.Turns()[before:], n)
	cell(t, r.Name(), "idle", n, n)
	shown(t, r.Name()+", idle: messages of "+fmt.Sprint(len(bodies))+" shapes, each in a turn of its own, intact, no command run",
		"%d of %d; socket to delivered %s", n, n, spread(took))
}

func repliesAreFinished(t *testing.T, r *realAgent) {
	n := runs(2, 20)
	var ids []string
	for i := range n {
		long, id, body := fmt.Sprintf("long%d", i), fmt.Sprintf("after%d", i), fmt.Sprintf("sent\nwhile %d ran", i)
		r.inject(long, []string{"SLOW 1", "THINK 1", "TOOL 1"}[(i+len(r.Name()))%3]) // as above
		reply := r.turnWith("[relay " + long + " from bob]")
		r.inject(id, body)
		end := r.delivers(id, "submitted", "turn")
		turn := r.turn(id, body)
		if reply = r.ended(reply.N); reply.Aborted || turn.At.Before(reply.Ended) {
			t.Fatalf("%s: the reply before it was cut short (aborted: %v)", id, reply.Aborted)
		}
		r.rests(end)
		ids = append(ids, long, id)
	}
	r.once(ids)
	cell(t, r.Name(), "busy", n, n)
	shown(t, r.Name()+", busy: message sent during a reply, delivered after it, the reply whole", "%d of %d", n, n)
}

// theSameBody comes in messages together while the agent is busy. Claude takes the second paste of
// a text for the wish to see the first one in full, and Codex numbers the chips of bodies that are
// equally long.
func theSameBody(t *testing.T, r *realAgent) {
	r.inject("busy", "SLOW 1")
	r.turnWith("[relay busy from bob]")
	bodies := []string{strings.Repeat("many lines\n", 30) + "end", strings.Repeat("long ", 300) + "end", "y", strings.Repeat("same ", 300) + "end"}
	ids := []string{"busy", "s0", "s1", "s2", "s3", "s4", "s5"}
	for i, id := range ids[1:] {
		r.inject(id, bodies[i%4])
	}
	for i, id := range ids[1:] {
		if n := r.delivers(id, "submitted", "turn").Num("attempt"); n != 1 {
			t.Errorf("%s took %v attempts", id, n)
		}
		turn := r.turnWith("[relay " + id + " from bob]")
		if got := r.Received(turn); !strings.Contains(got, r.Unwrap(text(id, bodies[i%4]))) {
			t.Errorf("%s is not whole in %q", id, clip(got))
		}
	}
	r.once(ids)
}

func dialogsStayUnanswered(t *testing.T, r *realAgent) {
	n := runs(1, 10)
	var ids []string
	for i := range n {
		id, touched := fmt.Sprintf("d%d", i), fmt.Sprintf("touched%d", i)
		must(t, r.Paste("TOUCH "+touched))
		r.shows("TOUCH " + touched)
		r.enter()
		r.turnWith(touched)
		r.state("blocked")
		must(t, r.WaitText(patience(t), r.Question))
		dialog := r.drawn()
		r.inject(id, "hello\ny\n1\nthere")
		r.held(id, "dialog", 600*time.Millisecond)
		if now := r.asks(); now != dialog {
			t.Fatalf("the dialog changed, and no human answered it; before:\n%s\nnow:\n%s", dialog, now)
		}
		must(t, r.Type("\x1b"))
		end := r.delivers(id, "submitted", "turn")
		r.turn(id, "hello\ny\n1\nthere")
		if _, err := os.Stat(filepath.Join(r.cwd, touched)); err == nil {
			t.Fatalf("%s: the dialog was answered with yes", id)
		}
		r.rests(end)
		ids = append(ids, id)
	}
	r.once(ids)
	cell(t, r.Name(), "dialog", n, n)
	shown(t, r.Name()+", dialog open: message held until the human answered, then delivered", "%d of %d", n, n)
}

// questionsStayUnanswered: the same with a question of the model's, which asks by a tool.
func questionsStayUnanswered(t *testing.T, r *realAgent) {
	if r.Ask == "" {
		return
	}
	script := r.api.Responder()
	defer r.api.Respond(script)
	r.api.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if !strings.HasSuffix(turn.UserText(), "ask me") {
			return script(turn)
		}
		option := func(label string) map[string]any { return map[string]any{"label": label, "description": "as " + label} }
		return fakemodel.Call("", r.Ask, map[string]any{"questions": []any{map[string]any{
			"question": "Which colour do you want?", "header": "Colour", "options": []any{option("Red"), option("Blue")},
		}}})
	})
	must(t, r.Paste("ask me"))
	r.shows("ask me")
	r.enter()
	r.state("blocked")
	must(t, r.WaitText(patience(t), "Which colour do you want?"))
	r.inject("asked", "1\ny\nhello")
	r.held("asked", "dialog", 600*time.Millisecond)
	r.blockedBy("Which colour do you want?")
	must(t, r.Type("\x1b"))
	end := r.delivers("asked", "submitted", "turn")
	r.turn("asked", "1\ny\nhello")
	r.rests(end)
	r.once([]string{"asked"})
}

// drawn waits until the question stands still, as it is drawn row by row, on a loaded machine with
// long pauses.
func (r *realAgent) drawn() string {
	r.t.Helper()
	ctx, before, still := patience(r.t, "a question that stands still"), "", 0
	for ; ctx.Err() == nil; pause(r.t, humanPause) {
		now := r.asks()
		if now != before {
			before, still = now, 0
			continue
		}
		if still++; still == 3 {
			return now
		}
	}
	r.t.Fatalf("%v:\n%s", context.Cause(ctx), before)
	return ""
}

// asks is the screen from the question on; what stands above it may move.
func (r *realAgent) asks() string {
	screen := r.Screen()
	return screen[max(0, strings.LastIndex(screen, r.Question)):]
}

// begun is what a human has written and not sent.
type begun struct {
	name  string
	text  string // as it is to reach the model
	shown string // a part that the composer shows in the end
	paste bool
}

func drafts(i int) []begun {
	mark := fmt.Sprintf("draft-%d", i)
	long := mark + strings.Repeat(" and ten kilobytes of it", 440)
	return []begun{
		{"one line", mark + " half a line", "half a line", false},
		{"three lines", mark + "\nsecond line\nthird", "third", false},
		{"CJK", mark + " 数行の日本語 🎉 ünï", "数行の日本語", false},
		{"paste chip", mark + strings.Repeat("\npasted line", 40), "asted", true},
		{"10 KB", long, "", true},
	}
}

// begins has the human write the draft, line by line, or paste it.
func (r *realAgent) begins(d begun) {
	r.t.Helper()
	if d.paste {
		must(r.t, r.Paste(d.text))
		r.shows(d.shown)
		return
	}
	for i, line := range strings.Split(d.text, "\n") {
		if i > 0 {
			must(r.t, r.Type("\n"))
		}
		must(r.t, r.Type(line[:4]))
		must(r.t, r.Type(line[4:]))
		r.shows(line[strings.LastIndex(line, " ")+1:])
	}
}

// draftsSurvive: a draft is whole when the human sends it, and the message behind it is delivered.
func draftsSurvive(t *testing.T, r *realAgent) {
	n := runs(1, 10)
	var ids []string
	aside := 0
	for i := range n {
		id, d := fmt.Sprintf("beside%d", i), drafts(i)[(i+1)%5]
		r.begins(d)
		r.inject(id, "hello")
		while := 4 * time.Second
		if r.look.Typing.Stash != "" { // it is set aside, on a loaded machine late
			while = 30 * time.Second
		}
		status := r.outcome(id, while)
		if status == "" && r.waitingFor(id) != "draft" { // it is being typed
			if status = r.outcome(id, 2*time.Minute); status == "" {
				t.Fatalf("%s: not within 2m0s: the end of %s, which waits for %q", d.name, id, r.waitingFor(id))
			}
		}
		if status == "" {
			r.submits(d)
			status = r.delivers(id, "submitted", "turn").Str("status")
		} else {
			aside++
			r.restored(aside)
			r.submits(d)
		}
		if status != "delivered" {
			t.Fatalf("%s: %s ended as %s", d.name, id, status)
		}
		r.turn(id, "hello")
		r.state("ready")
		ids = append(ids, id)
	}
	r.once(ids)
	if a := r.look.Typing; a.Stash != "" && aside == 0 {
		t.Error("no draft was set aside, though the agent has a way")
	}
	cell(t, r.Name(), "draft", n, n)
	shown(t, r.Name()+", draft (one line, three, CJK, paste chip, 10 KB): intact when the human sent it, message delivered", "%d of %d, %d of them set aside and brought back", n, n, aside)
}

// restored waits until the n-th draft that was set aside is back.
func (r *realAgent) restored(n int) {
	r.t.Helper()
	seen, ctx := 0, patience(r.t)
	for range n {
		f, err := r.client.Wait(ctx, func(f testrig.Frame) bool { return f.Type() == "draft_restored" && int(f.Num("seq")) > seen })
		if err != nil {
			r.t.Fatalf("a message was delivered beside a draft, which did not come back: %v", err)
		}
		seen = int(f.Num("seq"))
	}
	r.state("ready")
}

// submits has the human send the draft, and checks what the model gets.
func (r *realAgent) submits(d begun) {
	r.t.Helper()
	mark, _, _ := strings.Cut(d.text, "\n")
	mark, _, _ = strings.Cut(mark, " ")
	r.enter()
	turn := r.turnWith(mark)
	if got := r.Received(turn); got != d.text {
		r.t.Fatalf("%s: the draft was sent as\n%q\nwant\n%q", d.name, clip(got), clip(d.text))
	}
}
