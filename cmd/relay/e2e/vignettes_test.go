package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// The vignettes of talking-stick's design, played by agents under real wrappers. Who holds the
// stick is an agent at work, in whose terminal nothing is typed until it has ended its turn; a
// hand-off is a message. None of them needs a second way besides messages and the log.

// room is one user's agents.
type room struct {
	*user
	ctx context.Context
}

// vignette plays one, beside the others.
func vignette(t *testing.T, play func(t *testing.T, r *room)) {
	t.Helper()
	t.Parallel()
	u := newUser(t)
	play(t, &room{u, testrig.Within(t, patience)})
}

// enter runs an agent that writes down what it reads. When it is told to take the stick it is at
// work until its file is gone; does is the shell code by which it acts on what it reads ($said, of
// $id, from $from) and by which it ends its work ($said is then done).
func (r *room) enter(name, does string) {
	r.t.Helper()
	r.wraps(r.ctx, name, "--prompt-pattern", "^> $", "--", "sh", "-c", `act() { :; `+does+`
		}
		while printf '> '; read -r x; do
			echo "$x" >>$RELAY_AGENT.got
			case "$x" in
			"[relay "*) set -- $x; id=$2 from=${4%]} said=${x#*] } ;;
			"[end "*) act
				if [ "$said" = "take the stick" ]; then
					echo at work; : >$RELAY_AGENT.works
					while [ -e $RELAY_AGENT.works ]; do sleep 0.02; done
					said=done; act
				fi ;;
			esac
		done`)
}

// holds gives an agent the stick, and waits until it is at work.
func (r *room) holds(name string) {
	r.t.Helper()
	r.does(r.ctx, "send", name, "take the stick", "--until", "delivered")
	r.works(name)
}

// works waits until an agent is at work.
func (r *room) works(name string) {
	r.t.Helper()
	r.becomes(r.ctx, name+" at work", func() bool { return r.has(name + ".works") })
}

// ends lets an agent that is at work, or about to be, end it.
func (r *room) ends(name string) {
	r.t.Helper()
	r.works(name)
	must(r.t, os.Remove(filepath.Join(r.dir, name+".works")))
}

func (r *room) has(file string) bool {
	_, err := os.Stat(filepath.Join(r.dir, file))
	return err == nil
}

// got is what was typed to an agent.
func (r *room) got(name string) string {
	b, _ := os.ReadFile(filepath.Join(r.dir, name+".got")) // nothing was
	return string(b)
}

// says waits for a message between two whose text holds words.
func (r *room) says(from, to, words string) (m router.Event) {
	r.t.Helper()
	r.sees(r.ctx, fmt.Sprintf("%s → %s: %s", from, to, words), func(e router.Event) bool {
		m = e
		return e.Type == router.TypeMessage && e.From == from && e.To == to && strings.Contains(e.Body, words)
	})
	return m
}

// arrives waits until a message was delivered.
func (r *room) arrives(id string) {
	r.t.Helper()
	r.sees(r.ctx, "the delivery of "+id, func(e router.Event) bool { return e.ID == id && e.Status == protocol.StatusDelivered })
}

// waiting is what a message waits for.
func (r *room) waiting(id string) string {
	r.t.Helper()
	var m struct {
		Status     string `json:"status"`
		WaitingFor string `json:"waiting_for"`
	}
	must(r.t, json.Unmarshal([]byte(r.does(r.ctx, "show", id, "--json")), &m))
	return m.Status + " " + m.WaitingFor
}

// TestVignetteA: a guardian sees the holder take a wrong turn, and tells. The holder's receive
// process shows it at once, the holder reads it before all else when its turn ends, and its
// hand-off says so.
func TestVignetteA(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("codex", `case "$said" in *token.ts*) echo "->relay:claude [re=$id] <<<handed over: token.ts is mended, as you said>>>" ;; esac`)
		r.enter("claude", `case "$said" in watch*) relay send codex --important "You are editing session.ts but the bug is in token.ts" ;; esac`)
		r.holds("codex")
		r.does(r.ctx, "send", "codex", "and the docs, later", "--id", "docs")
		r.does(r.ctx, "send", "claude", "watch codex")
		shown := r.does(r.ctx, "recv", "--as", "codex", "--from", "claude", "--after", "0", "--wait=1m")
		if !strings.Contains(shown, "the bug is in token.ts") {
			t.Errorf("codex's receive process shows %q", shown)
		}
		page := r.says("claude", "codex", "token.ts")
		if got := r.got("codex"); page.Mode != protocol.ModeImportant || strings.Contains(got, "token.ts") {
			t.Errorf("sent as %s; typed into codex at work: %q", page.Mode, got)
		}
		if got := r.waiting(page.ID); got != "accepted " && !strings.HasPrefix(got, "queued ") {
			t.Errorf("it does not wait, it is %q", got)
		}
		r.ends("codex")
		handoff := r.says("codex", "claude", "as you said")
		r.arrives("docs")
		got := r.got("codex")
		if handoff.ReplyTo != page.ID || strings.Index(got, "token.ts") > strings.Index(got, "the docs") {
			t.Errorf("it answers %s, want %s; codex read %q", handoff.ReplyTo, page.ID, got)
		}
	})
}

// TestVignetteB: somebody joins while the holder is at work. The holder's events have it, its
// terminal does not, and its hand-off tells.
func TestVignetteB(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("claude", `if [ "$said" = done ]; then
			who=$(relay events --event channel_joined --text | sed -n 's/.* \(.*\) joins #room/\1/p' | tail -n 1)
			echo "->relay:human <<<handed over; $who joined meanwhile>>>"; fi`)
		r.does(r.ctx, "join", "#room", "--as", "claude")
		r.holds("claude")
		r.does(r.ctx, "join", "#room", "--as", "wojtek")
		r.sees(r.ctx, "wojtek in the room", func(e router.Event) bool {
			return e.Type == router.TypeJoined && e.Agent == "wojtek" && e.To == "#room"
		})
		r.ends("claude")
		r.says("claude", "human", "wojtek joined meanwhile")
		if got := r.got("claude"); strings.Contains(got, "wojtek") {
			t.Errorf("it was typed: %q", got)
		}
	})
}

// TestVignetteC: the operator scopes the holder's work down. The whole text is there at once, and
// the holder answers it when it reads it.
func TestVignetteC(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("codex", `case "$said" in "Scope down"*) echo "->relay:human [re=$id] <<<stopped after the parser test>>>" ;; esac`)
		r.holds("codex")
		r.does(r.ctx, "send", "codex", "Scope down: stop after the parser test passes.", "--urgent", "--id", "scope")
		if shown := r.does(r.ctx, "recv", "--as", "codex", "--last", "1"); !strings.Contains(shown, "stop after the parser test passes.") {
			t.Errorf("codex's receive process shows %q", shown)
		}
		r.ends("codex")
		if answer := r.says("codex", "human", "stopped"); answer.ReplyTo != "scope" {
			t.Errorf("it answers %q", answer.ReplyTo)
		}
		r.arrives("scope")
		if got := r.waiting("scope"); got != "replied " {
			t.Errorf("it is %q", got)
		}
	})
}

// TestVignetteD: who was to get the stick has gone. The holder sees that before it hands over.
func TestVignetteD(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("claude", `if [ "$said" = done ]; then to=gemini
			relay ls --json | grep -q '"name":"gemini","running":true' || to=codex
			echo "->relay:$to <<<handed over>>>"; fi`)
		r.enter("codex", "")
		gemini, leave := context.WithCancel(r.ctx)
		defer leave()
		(&room{r.user, gemini}).enter("gemini", "")
		r.holds("claude")
		leave()
		r.sees(r.ctx, "gemini's end", func(e router.Event) bool { return e.Type == router.TypeDown && e.Agent == "gemini" })
		r.ends("claude")
		r.arrives(r.says("claude", "codex", "handed over").ID)
		if got := r.got("gemini"); got != "" {
			t.Errorf("gemini got %q", got)
		}
	})
}

// TestVignetteE: the holder pages who is next. That one reads it while it does not hold the stick,
// and gets the stick later, in the same conversation.
func TestVignetteE(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("codex", `if [ "$said" = "take the stick" ]; then
			relay send claude --important --thread next "When I pass, begin with tests/cli.test.ts: its expectation is stale."
		elif [ "$said" = done ]; then echo "->relay:claude [thread=next] <<<take the stick>>>"; fi`)
		r.enter("claude", "")
		r.holds("codex")
		page := r.says("codex", "claude", "begin with tests/cli.test.ts")
		r.arrives(page.ID)
		if r.has("claude.works") {
			t.Error("claude is at work without the stick")
		}
		r.ends("codex")
		pass := r.says("codex", "claude", "take the stick")
		if page.Thread != "next" || pass.Thread != page.Thread {
			t.Errorf("the page is of %q, the stick of %q", page.Thread, pass.Thread)
		}
		r.ends("claude")
	})
}

// TestVignetteF: a third one joins a pair. Both see it, neither is disturbed, and what the holder
// says to all from then on reaches it.
func TestVignetteF(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("codex", `if [ "$said" = done ]; then echo '->relay:#feature <<<handed over to claude; welcome, opencode>>>'; fi`)
		for _, name := range []string{"claude", "opencode"} {
			r.enter(name, "")
		}
		r.does(r.ctx, "join", "#feature", "--as", "codex")
		r.does(r.ctx, "join", "#feature", "--as", "claude")
		r.holds("codex")
		r.does(r.ctx, "send", "#feature", "the parser is next", "--from", "claude", "--id", "before")
		r.does(r.ctx, "join", "#feature", "--as", "opencode")
		if told := r.does(r.ctx, "events", "--target", "opencode", "--event", "channel_joined"); !strings.Contains(told, "opencode joins #feature") {
			t.Errorf("the events tell %q", told)
		}
		if got := r.got("claude"); got != "" {
			t.Errorf("claude was told %q", got)
		}
		r.ends("codex")
		m := r.says("codex", "#feature", "welcome, opencode")
		for _, name := range []string{"claude", "opencode"} {
			r.arrives(router.DeliveryID(m.ID, name))
		}
		if got := r.got("opencode"); strings.Contains(got, "the parser is next") || len(m.Recipients) != 2 {
			t.Errorf("opencode got %q, and %v got the last one", got, m.Recipients)
		}
	})
}

// TestVignetteH: two agents talk a question through while one of them holds the stick. Nothing is
// handed over, the holder's work goes on, and the log has all of it.
func TestVignetteH(t *testing.T) {
	vignette(t, func(t *testing.T, r *room) {
		r.enter("claude", `echo "->relay:$from [re=$id] <<<answer to: $said>>>"`)
		r.enter("codex", `if [ "$said" = "take the stick" ]; then
			for q in "canonical_path or room_id?" "and the index?" "so force_new is safe?"; do
				relay send claude "$q" --wait=1m >>answers
			done; fi`)
		r.does(r.ctx, "send", "codex", "take the stick", "--until", "delivered")
		r.says("claude", "codex", "so force_new is safe?")
		r.ends("codex")
		answers, err := os.ReadFile(filepath.Join(r.dir, "answers"))
		want := "answer to: canonical_path or room_id?\nanswer to: and the index?\nanswer to: so force_new is safe?\n"
		if err != nil || string(answers) != want {
			t.Errorf("codex read %q, %v, want %q", answers, err, want)
		}
		way := ""
		for _, e := range r.log(r.ctx) {
			if e.Type == router.TypeMessage && e.From != router.Human {
				way += e.From + ">" + e.To + " "
			}
		}
		if want := strings.Repeat("codex>claude claude>codex ", 3); way != want {
			t.Errorf("the way was %s, want %s", way, want)
		}
	})
}
