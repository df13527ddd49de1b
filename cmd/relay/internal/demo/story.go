package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// precious is a file beside alice that a message seems to be after.
const precious = "notes.txt"

// hostile are what a script sends while alice must not be typed at.
var hostile = []message{{"m1", "ci", "/clear"}, {"m2", "ci", "!rm -rf " + precious}}

// hold is how long messages are watched while they have to wait.
const hold = time.Second

// The human's second prompt, in two halves.
const (
	draftBegun = "tidy up the old"
	draftEnd   = " logs"
)

// play tells the story, act by act.
func (s *stage) play() error {
	s.introduce()
	err := s.startRouter()
	if err != nil {
		return err
	}
	if s.events, err = follow(s.relay("events", "--follow", "--after", "0", "--json")); err != nil {
		return err
	}
	for _, a := range s.actors {
		if err := s.sit(a); err != nil {
			return fmt.Errorf("start %s: %w", a.name, err)
		}
	}
	last := "The turn is over: both messages are typed in, as one turn"
	if s.alice().api == nil {
		last = "You answered: both messages are typed in"
	}
	var scripts []*script
	for i, act := range []struct {
		title string
		play  func() error
	}{
		{"You ask alice for something, and alice asks bob", s.talk},
		{"You are half way through a prompt: messages to alice wait", func() (err error) { scripts, err = s.draft(); return err }},
		{"You finish it, and alice asks you something: messages wait", s.dialog},
		{last, func() error { return s.both(scripts) }},
	} {
		fmt.Fprintf(s.o.Out, "%d. %s\n", i+1, act.title)
		if err := act.play(); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(s.o.Out, "\nShown: 6 messages arrived once, none ran; your draft and dialog stayed yours.\n"+
		"Yours: relay run alice -- claude; in another terminal, relay run bob -- codex.\n")
	return err
}

// talk is the first act.
func (s *stage) talk() error {
	for _, p := range s.seats {
		_, err := s.event(p.title+" to be ready", func(e router.Event) bool { return e.Agent == p.name && e.State == "ready" })
		if err != nil {
			return err
		}
	}
	s.tell("you → alice", "%s", wish)
	if err := s.types(s.alice(), wish, wish); err != nil {
		return err
	}
	if err := s.alice().session.Keys([]byte("\r")); err != nil {
		return err
	}
	for _, m := range []struct {
		from     *seat
		to, body string
	}{{s.alice(), "bob", request}, {s.bob(), "alice", review}} {
		id, err := s.said(m.from, m.to, "", m.body)
		if err != nil {
			return err
		}
		if err := s.delivered(id); err != nil {
			return err
		}
	}
	err := s.sees(s.alice(), "alice to tell what bob says", func(screen string) bool { return strings.Contains(screen, bobSays) })
	if err == nil {
		s.tell("alice → you", "%s%s", bobSays, review)
	}
	return err
}

// types types a text at an agent, whose composer then shows a line.
func (s *stage) types(p *seat, text, line string) error {
	if err := p.session.Keys([]byte(text)); err != nil {
		return err
	}
	return s.sees(p, fmt.Sprintf("%q in the composer", line), func(screen string) bool { return stands(p, screen, line) })
}

// stands is true for a screen on which a draft stands as it was typed.
func stands(p *seat, screen, draft string) bool {
	for row := range strings.Lines(screen) {
		if strings.TrimSpace(row) == p.prompt+draft {
			return true
		}
	}
	return false
}

// said waits until an agent has written that to somebody, word for word.
func (s *stage) said(p *seat, to, replyTo, body string) (id string, err error) {
	e, err := s.event(p.name+" to write to "+to, func(e router.Event) bool {
		return e.Type == router.TypeMessage && e.From == p.name && e.To == to && (replyTo == "" || e.ReplyTo == replyTo)
	})
	if err != nil {
		return "", err
	}
	if e.Body != body || e.Source != p.source {
		return "", fmt.Errorf("%s did not say that: %+v", p.name, e)
	}
	s.tell(p.name+" → "+to, "%s", body)
	return e.ID, nil
}

// delivered waits for the evidence that each message arrived.
func (s *stage) delivered(ids ...string) error {
	var evidence []string
	for _, id := range ids {
		e, err := s.event(id+" to be delivered", func(e router.Event) bool { return e.ID == id && e.Status == protocol.StatusDelivered })
		if err != nil {
			return err
		}
		evidence = append(evidence, e.Evidence)
	}
	s.tell("", "delivered, evidence: %s", strings.Join(slices.Compact(evidence), ", "))
	return nil
}

// script is a script that sends a message and waits for the answer.
type script struct {
	message
	said chan error // that of its command, once it ended
	out  string     // what it printed, then
}

// sends starts a script.
func (s *stage) sends(m message) (*script, error) {
	c := &script{message: m, said: make(chan error, 1)}
	cmd := s.relay("send", "alice", m.body, "--from", m.from, "--id", m.id, "--wait")
	s.tell(m.from+" → alice", "%s", m.body)
	go func() {
		out, err := output(cmd)
		c.out = out
		c.said <- err
	}()
	_, err := s.event(m.id+" to be accepted", func(e router.Event) bool { return e.Type == router.TypeMessage && e.ID == m.id })
	return c, err
}

// draft is the second act: the human types half a prompt, scripts send beside it, and the router
// dies.
func (s *stage) draft() (scripts []*script, err error) {
	s.tell("you", "%s", draftBegun)
	if err := s.types(s.alice(), draftBegun, draftBegun); err != nil {
		return nil, err
	}
	for _, m := range hostile {
		c, err := s.sends(m)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, c)
	}
	if err := s.held("draft"); err != nil {
		return nil, err
	}
	if !stands(s.alice(), s.alice().shows(), draftBegun) {
		return nil, errors.New("the draft does not stand as it was typed")
	}
	s.tell("", "both wait for: draft; after a second it stands as you left it")
	err = s.within("another router", func(ctx context.Context) error {
		if err := s.endRouter(ctx, syscall.SIGKILL); err != nil {
			return err
		}
		return s.startRouter()
	})
	s.tell("", "the router is killed (kill -9); another one starts and goes on")
	return scripts, err
}

// dialog is the third act: the human's prompt makes alice ask for a permission.
func (s *stage) dialog() error {
	alice := s.alice()
	s.tell("you", "%s, Enter", strings.TrimSpace(draftEnd))
	if err := s.types(alice, draftEnd, draftBegun+draftEnd); err != nil {
		return err
	}
	if err := alice.session.Keys([]byte("\r")); err != nil {
		return err
	}
	asked := func(screen string) bool { return strings.Contains(screen, alice.question) }
	if err := s.sees(alice, "alice's question", asked); err != nil {
		return err
	}
	s.tell("alice → you", "%s", alice.question)
	if err := s.held("dialog"); err != nil {
		return err
	}
	if screen := alice.shows(); alice.answered(screen) || !asked(screen) {
		return errors.New("the question is gone, and you did not answer it")
	}
	s.tell("", "both wait for: dialog; after a second it still waits for you")
	s.tell("you", "%s", alice.keyName)
	return s.presses(alice, "the end of the question", alice.key, alice.answered)
}

// held waits until it is known why the scripts' messages have to wait, and fails when one of them
// goes on before hold is over.
func (s *stage) held(why string) error {
	err := s.within("both messages to wait for: "+why, func(ctx context.Context) error {
		again := time.NewTicker(100 * time.Millisecond)
		defer again.Stop()
		for {
			if waits, err := s.waits(why); waits || err != nil {
				return err
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, hold, errLate)
	defer cancel()
	e, err := s.events.wait(ctx, func(e router.Event) bool {
		return lost(e) || e.Status == protocol.StatusInjecting && slices.ContainsFunc(hostile, func(m message) bool { return m.id == e.ID })
	})
	switch {
	case err == nil:
		return fmt.Errorf("a message did not wait for: %s: %+v", why, e)
	case errors.Is(err, errLate):
		return nil
	}
	return err
}

// waits says whether all messages of the scripts wait in alice's queue for that.
func (s *stage) waits(why string) (bool, error) {
	out, err := output(s.relay("queue", "alice", "--json"))
	if err != nil {
		return false, err
	}
	var queue api.Messages
	if err := json.Unmarshal([]byte(out), &queue); err != nil {
		return false, err
	}
	for _, m := range queue.Messages {
		if m.WaitingFor == nil || *m.WaitingFor != why {
			return false, nil
		}
	}
	return len(queue.Messages) == len(hostile), nil
}

// both is the last act.
func (s *stage) both(scripts []*script) error {
	var ids []string
	for _, m := range hostile {
		ids = append(ids, m.id)
	}
	if err := s.delivered(ids...); err != nil {
		return err
	}
	for _, c := range scripts {
		if _, err := s.said(s.alice(), c.from, c.id, answer(c.body)); err != nil {
			return err
		}
		if err := s.ended(c); err != nil {
			return err
		}
	}
	if err := s.received(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.alice().cwd, precious)); err != nil {
		return fmt.Errorf("a message ran: %w", err)
	}
	return nil
}

// ended waits for the end of a script, which has printed the answer.
func (s *stage) ended(c *script) error {
	return s.within("relay send of "+c.id+" to end", func(ctx context.Context) error {
		select {
		case err := <-c.said:
			var status *exec.ExitError
			if errors.As(err, &status) || err == nil && c.out != answer(c.body) {
				return fmt.Errorf("it printed %q: %w", c.out, err)
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// received checks what the models got: each message once, the scripts' in one turn, and the human's
// prompts whole.
func (s *stage) received() error {
	alice, err := reads(s.alice())
	if err != nil {
		return err
	}
	bob, err := reads(s.bob())
	if err != nil {
		return err
	}
	if alice != nil && (len(alice) != 4 || alice[0] != wish || !are(alice[1], message{from: "bob", body: review}) ||
		alice[2] != draftBegun+draftEnd || !are(alice[3], hostile...)) {
		return fmt.Errorf("alice's model got %q", alice)
	}
	if bob != nil && (len(bob) != 1 || !are(bob[0], message{from: "alice", body: request})) {
		return fmt.Errorf("bob's model got %q", bob)
	}
	return nil
}

// reads is what an agent's model got, turn by turn; nil where there is no model.
func reads(p *seat) (turns []string, err error) {
	if p.api == nil {
		return nil, nil
	}
	for _, t := range p.api.Turns() {
		if text := p.read(t); text != "" {
			turns = append(turns, text)
		}
	}
	if len(turns) == 0 {
		return nil, fmt.Errorf("%s's model got nothing", p.name)
	}
	return turns, nil
}

// are says whether a text is these messages and no other; an empty id stands for any.
func are(text string, want ...message) bool {
	got := messagesIn(text)
	for i := range min(len(got), len(want)) {
		if want[i].id == "" {
			got[i].id = ""
		}
	}
	return slices.Equal(got, want)
}
