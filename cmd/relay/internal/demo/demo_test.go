package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"relay-pty/cmd/relay/internal/api"
)

// TestWhatIsToldIsChecked: a message that is missing, not exact or from somebody else, or that has
// no evidence, is not told.
func TestWhatIsToldIsChecked(t *testing.T) {
	says, delivered := line{"alice → ci", answer(slash), says}, line{"", "delivered: ", delivered}
	good := api.Message{From: "alice", To: "ci", Body: answer(slash)}
	blanks, other, proved := good, good, good
	blanks.Body, other.From, proved.Evidence = strings.ReplaceAll(good.Body, "  ", " "), "bob", "turn"
	ended := errors.New("alice ended by itself")
	for name, c := range map[string]struct {
		line line
		said int
		mail []api.Message
		ends error
		want string
	}{
		"exact":             {says, 0, []api.Message{good}, nil, "<nil>   alice → ci    " + answer(slash) + "\n"},
		"missing":           {says, 1, []api.Message{good}, nil, "waited 1m0s in vain"},
		"the program ended": {says, 0, nil, ended, ended.Error()},
		"not exact":         {says, 0, []api.Message{blanks}, nil, "alice → ci says"},
		"of somebody else":  {says, 0, []api.Message{other, good}, nil, "bob → ci says"},
		"proved":            {delivered, 2, []api.Message{proved, proved}, nil, "<nil>                 delivered: turn\n"},
		"one is not proved": {delivered, 2, []api.Message{proved, good}, nil, "waited 1m0s in vain"},
		"a third is proved": {delivered, 2, []api.Message{proved, good, proved}, nil, "waited 1m0s in vain"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				s := &stage{said: c.said, Options: Options{Out: &out}}
				s.mail = func(context.Context) []api.Message { return c.mail }
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.ends != nil {
					cancel(c.ends)
				}
				err := s.tell(ctx, c.line)
				if got := fmt.Sprint(err) + out.String(); !strings.HasPrefix(got, c.want) || err != nil && out.Len() > 0 {
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
	if got := think(turn); got != strings.Join(want, "\n") {
		t.Errorf("the fake model says\n%s\nwant\n%s", got, want)
	}
	var out bytes.Buffer
	if err := Agent(strings.NewReader(turn+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got := "> " + want[0] + "\n> " + want[1] + "\n> "; out.String() != got {
		t.Errorf("the built-in agent says\n%s\nwant\n%s", &out, got)
	}
}
