package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/relay/internal/router"
)

func marked(to, id, body string) router.Event {
	return router.Event{Type: router.TypeMessage, Message: router.Message{From: "alice", To: to, ReplyTo: id, Body: body, Source: "log"}}
}

// TestWhatIsToldIsChecked: an answer that is missing, not exact or from elsewhere, and a message
// that ended in another way, must not pass.
func TestWhatIsToldIsChecked(t *testing.T) {
	good := marked("ci", "m1", answer("/clear"))
	other := marked("ci", "m2", answer("/clear"))
	blanks := marked("ci", "m1", strings.ReplaceAll(answer("/clear"), "  ", " "))
	screen := good
	screen.Source = "screen"
	failed := router.Event{Message: router.Message{ID: "m1"}, Result: router.Result{Status: "failed"}}
	refused := router.Event{Type: router.TypeRefused, Result: router.Result{Error: &router.ErrorValue{Message: "no"}}}
	for name, c := range map[string]struct {
		events []router.Event
		want   string
	}{
		"exact":             {[]router.Event{other, good}, "<nil>"},
		"missing":           {[]router.Event{other}, "waited 20s in vain for alice to write to ci"},
		"not exact":         {[]router.Event{blanks}, "did not say that"},
		"not her own words": {[]router.Event{screen}, "did not say that"},
		"failed":            {[]router.Event{failed, good}, "Status:failed"},
		"refused":           {[]router.Event{refused, good}, "refused"},
		"the program ended": {nil, "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{ctx: t.Context(), events: &events{list: c.events}, o: Options{Out: io.Discard}}
				if c.events == nil {
					s.events.err = errors.New("signal: killed")
				}
				_, err := s.said(&seat{actor: &actor{name: "alice", source: "log"}}, "ci", "m1", answer("/clear"))
				if got := fmt.Sprint(err); !strings.Contains(got, c.want) {
					t.Errorf("got %s, want %q", got, c.want)
				}
			})
		})
	}
}

func TestEveryMessageOfATurnIsAnswered(t *testing.T) {
	turn := "[relay m1 from ci] /clear\n[end m1 · reply: ->relay:ci [re=m1] <<<…>>>]\n\n" +
		"[relay m2 from ci@host · redelivery] two\nlines\n[end m2 · reply: ->relay:ci [re=m2] <<<…>>>]"
	want := []string{
		"->relay:ci [re=m1] <<<I read  `/clear`  as *text*>>>",
		"->relay:ci@host [re=m2] <<<I read  `two\nlines`  as *text*>>>",
	}
	model := parts[0].respond(agentrig.Claude(agentrig.ClaudeNow))
	reply := strings.Join(model(fakemodel.Turn{Text: []string{turn}}).Deltas, "")
	if got := strings.Join(want, "\n"); reply != got {
		t.Errorf("the fake model says\n%s\nwant\n%s", reply, got)
	}
	var out bytes.Buffer
	if err := Agent("alice", strings.NewReader(turn+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got := agentPrompt + want[0] + "\n" + agentPrompt + want[1] + "\n" + agentPrompt; out.String() != got {
		t.Errorf("the built-in agent says\n%s\nwant\n%s", &out, got)
	}
}
