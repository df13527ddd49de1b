package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/protocol"
)

// TestWhatIsToldIsChecked: a message that is missing, not exact or from somebody else, or that has
// no evidence, is not told.
func TestWhatIsToldIsChecked(t *testing.T) {
	says, delivered := line{"alice → ci", answer(slash), says}, line{"", "delivered: ", delivered}
	good := api.Message{From: "alice", Body: answer(slash)}
	good.To = "ci"
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

// TestHeldIsNotToldOfWhatWasNot: messages that are typed, wait for something else or are one too
// few, within the second or before it, and a draft that is gone behind it, fail the line.
func TestHeldIsNotToldOfWhatWasNot(t *testing.T) {
	draft, dialog := protocol.WaitsForDraft, protocol.WaitsForDialog
	waitsFor := func(by *string) (m api.Message) { m.WaitingFor = by; return m }
	waits := []api.Message{waitsFor(&draft), waitsFor(&draft)}
	const vain, short = "waited 1m0s in vain", "it did not last a second"
	for name, c := range map[string]struct {
		before, after []api.Message // before and behind the second
		err           error         // behind it
		screen        string
		want          string
	}{
		"held":                   {before: waits, after: waits, screen: "> " + tidy, want: "<nil>"},
		"one is typed meanwhile": {before: waits, after: []api.Message{waitsFor(&draft), {Standing: waitsFor(&draft).Standing, Attempt: 1}}, screen: "> " + tidy, want: short},
		"one waits no more":      {before: waits, after: []api.Message{waitsFor(&draft), {}}, screen: "> " + tidy, want: short},
		"another reason":         {before: waits, after: []api.Message{waitsFor(&draft), waitsFor(&dialog)}, screen: "> " + tidy, want: short},
		"one is gone":            {before: waits, after: waits[:1], screen: "> " + tidy, want: short},
		"nobody answers":         {before: waits, after: waits, err: api.ErrLost, screen: "> " + tidy, want: short},
		"the draft is gone":      {before: waits, after: waits, screen: "> ", want: short},
		"the draft is another":   {before: waits, after: waits, screen: "> " + tidy + " x", want: short},
		"typed from the start":   {before: []api.Message{waitsFor(&draft), {Attempt: 1}}, screen: "> " + tidy, want: vain},
		"one from the start":     {before: waits[:1], screen: "> " + tidy, want: vain},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := &stage{said: 5, proved: 3, Options: Options{Out: io.Discard}, screen: func() string { return c.screen }}
				s.queue = func(context.Context) ([]api.Message, error) {
					if time.Since(began) >= time.Second && c.want != vain {
						return c.after, c.err
					}
					return c.before, nil
				}
				err := s.tell(t.Context(), line{"", "both wait", held(draft, drafted(tidy))})
				if fmt.Sprint(err) != c.want {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

// TestADemoThatFailsEarly tells why and the way out, and asks no router but its own: where it has
// none yet, nobody.
func TestADemoThatFailsEarly(t *testing.T) {
	dir := testrig.Dir(t)
	asked := filepath.Join(dir, "asked")
	fails := filepath.Join(dir, "relay")
	script := "#!/bin/sh\necho \"$1 $XDG_RUNTIME_DIR\" >>" + asked + "\necho 'relay: run: is open to others' >&2\nexit 1\n"
	if err := os.WriteFile(fails, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", "theirs")
	o := Options{Relay: fails, Builtin: true, Log: filepath.Join(dir, "log", "demo.log"), Out: io.Discard}
	err := Run(t.Context(), o)
	for _, part := range []string{"relay ls: exit status 1: relay: run: is open to others", o.Log, "hint: say another directory, with room, and for you alone: TMPDIR=DIR relay demo"} {
		if !strings.Contains(fmt.Sprint(err), part) {
			t.Errorf("it says %v, want %q", err, part)
		}
	}
	calls, _ := os.ReadFile(asked) // none shows
	if n := strings.Count(string(calls), "\n"); n != 2 || strings.Contains(string(calls), "theirs") || !strings.HasPrefix(string(calls), "ls ") {
		t.Errorf("it asked %q", calls)
	}
	s := &stage{Options: o}
	if said := s.keep(t.Context(), errors.New("mkdir: no space left on device")); !strings.Contains(said, o.Log) {
		t.Errorf("it says %s", said)
	}
	if again, _ := os.ReadFile(asked); len(again) != len(calls) {
		t.Errorf("without a place of its own it asked somebody: %s", again)
	}
	if kept, err := os.ReadFile(o.Log); err != nil || !strings.Contains(string(kept), "no space left on device") {
		t.Errorf("it kept %q, %v", kept, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "relay-demo*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
