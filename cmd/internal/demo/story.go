package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

// precious is a file beside the agent that a message seems to be after.
const precious = "notes.txt"

var (
	first   = message{"m1", "bob", "please review parser.go"}
	hostile = []message{{"m2", "bob", "/clear"}, {"m3", "bob", "!rm -rf " + precious}}
)

// hold is how long a message is watched while it has to wait.
const hold = time.Second

// The human's prompt, in two halves.
const (
	draftBegun = "tidy up the old"
	draftEnd   = " logs"
)

// play tells the story, act by act.
func (s *stage) play() error {
	if err := s.subscribe(); err != nil {
		return err
	}
	last := "The turn is over: both messages are typed in, as one turn"
	if s.api == nil {
		last = "You answered: both messages are typed in"
	}
	for i, act := range []struct {
		title string
		play  func() error
	}{
		{"alice is idle: a message is typed in and submitted", s.idle},
		{"You are half way through a prompt: messages wait", s.draft},
		{"You finish it, and alice asks you something: messages wait", s.dialog},
		{last, s.both},
	} {
		fmt.Fprintf(s.out, "%d. %s\n", i+1, act.title)
		if err := act.play(); err != nil {
			return err
		}
	}
	fmt.Fprint(s.out, "\nShown: 3 messages arrived once, none ran; your draft and dialog stayed yours.\n")
	return nil
}

// idle is the first act.
func (s *stage) idle() error {
	ready := func(f testrig.Frame) bool { return f.Str("state") == "ready" }
	_, err := s.event(s.name+" to be ready", ready)
	if err != nil {
		return err
	}
	wait, err := s.sends(first)
	if err != nil {
		return err
	}
	if err := s.delivers(first); err != nil {
		return err
	}
	if err := s.answers(first); err != nil {
		return err
	}
	return wait()
}

// draft is the second act: the human types half a prompt, and bob sends beside it.
func (s *stage) draft() error {
	s.tell("you", "type", "%s", draftBegun)
	if err := s.term.Type(draftBegun); err != nil {
		return err
	}
	if err := s.sees("the draft in the composer", s.stands); err != nil {
		return err
	}
	wait, err := s.sends(hostile...)
	if err != nil {
		return err
	}
	s.bob = wait
	known := func(status testrig.Frame) bool { return status.Fields["draft"] == true }
	if err := s.held("draft", known); err != nil {
		return err
	}
	if !s.stands(s.term.Screen()) {
		return errors.New("the draft does not stand as it was typed")
	}
	s.tell("relay", "m2, m3 wait", "for: draft; after a second it stands as you left it")
	return nil
}

// dialog is the third act: the human's prompt makes the agent ask for a permission.
func (s *stage) dialog() error {
	s.tell("you", "type", "%s, Enter", strings.TrimSpace(draftEnd))
	if err := s.term.Type(draftEnd); err != nil {
		return err
	}
	whole := func(screen string) bool { return strings.Contains(screen, s.prompt+draftBegun+draftEnd) }
	if err := s.sees("the whole prompt in the composer", whole); err != nil {
		return err
	}
	if err := s.term.Type("\r"); err != nil {
		return err
	}
	asked := func(screen string) bool { return strings.Contains(screen, s.question) }
	if err := s.sees("the agent's question", asked); err != nil {
		return err
	}
	s.tell("alice", "asks", "%s", s.question)
	known := func(status testrig.Frame) bool { return status.Str("state") == "blocked" }
	if err := s.held("dialog", known); err != nil {
		return err
	}
	if screen := s.term.Screen(); s.answered(screen) || !asked(screen) {
		return errors.New("the question is gone, and you did not answer it")
	}
	s.tell("relay", "m2, m3 wait", "for: dialog; after a second it still waits for you")
	s.tell("you", "press", "%s", s.keyName)
	return s.within("the end of the question", func(ctx context.Context) error {
		gone := func(scr *screen.Screen) bool { return s.answered(term.Dump(scr)) }
		return s.term.PressUntil(ctx, s.key, 2*time.Second, gone)
	})
}

// both is the last act.
func (s *stage) both() error {
	if err := s.delivers(hostile...); err != nil {
		return err
	}
	if err := s.answers(hostile...); err != nil {
		return err
	}
	if err := s.bob(); err != nil {
		return err
	}
	if err := s.received(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.cwd, precious)); err != nil {
		return fmt.Errorf("a message ran: %w", err)
	}
	return nil
}

// stands is true for a screen on which the draft stands as it was typed.
func (s *stage) stands(screen string) bool {
	for row := range strings.Lines(screen) {
		if strings.TrimSpace(row) == s.prompt+draftBegun {
			return true
		}
	}
	return false
}

// held waits until the wrapper knows why bob's messages have to wait, and fails
// when one of them goes on before hold is over.
func (s *stage) held(why string, known func(status testrig.Frame) bool) error {
	err := s.within("m2 and m3 to wait for: "+why, func(ctx context.Context) error {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for {
			f, err := s.client.Request(ctx, map[string]any{"type": "status"})
			if err != nil {
				return err
			}
			if known(f) && f.Num("queue_length") == int64(len(hostile)) {
				return nil
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
	f, err := s.client.Wait(ctx, func(f testrig.Frame) bool {
		return f.Str("status") == "injecting" && f.Str("id") != first.id || lost(f)
	})
	if err == nil {
		return fmt.Errorf("a message did not wait for: %s: %s", why, strings.TrimSpace(f.Raw))
	}
	if !errors.Is(err, errLate) {
		return err
	}
	return nil
}

// delivers waits for the evidence of each message.
func (s *stage) delivers(all ...message) error {
	var ids, evidence []string
	for _, m := range all {
		f, err := s.event(m.id+" to be delivered", func(f testrig.Frame) bool {
			return f.Str("id") == m.id && f.Str("status") == "delivered"
		})
		if err != nil {
			return err
		}
		ids, evidence = append(ids, m.id), append(evidence, f.Str("evidence"))
	}
	s.tell("relay", strings.Join(ids, ", ")+" delivered", "evidence: %s",
		strings.Join(slices.Compact(evidence), ", "))
	return nil
}

// answers waits for the answer to each message, which must be exact.
func (s *stage) answers(all ...message) error {
	for _, m := range all {
		f, err := s.event("the answer to "+m.id, func(f testrig.Frame) bool {
			return f.Type() == "relay_command" && f.Str("reply_to") == m.id
		})
		if err != nil {
			return err
		}
		if f.Str("body") != answer(m) || f.Str("to") != m.from || f.Str("source") != s.source {
			raw := strings.TrimSpace(f.Raw)
			return fmt.Errorf("the answer to %s is not what the agent said: %s", m.id, raw)
		}
		s.tell("alice", "answers "+m.id, "%s", f.Str("body"))
	}
	return nil
}

// received checks what the model got: each message once, bob's last two in one
// turn, the human's prompt whole, and at the end all of it in one conversation.
func (s *stage) received() error {
	if s.api == nil {
		return nil
	}
	var turns []string
	var last string
	for _, t := range s.api.Turns() {
		last = string(t.Raw)
		if text := fakemodel.Received(t); text != "" {
			turns = append(turns, text)
		}
	}
	if len(turns) != 3 || turns[1] != draftBegun+draftEnd {
		return fmt.Errorf("the model got %q, want m1, the prompt, and then m2 with m3", turns)
	}
	if got := messagesIn(turns[0]); !slices.Equal(got, []message{first}) {
		return fmt.Errorf("the model got %q, want %q", got, first)
	}
	if got := messagesIn(turns[2]); !slices.Equal(got, hostile) {
		return fmt.Errorf("the model got %q, want %q", got, hostile)
	}
	if n := strings.Count(last, "[relay "+first.id+" from "); n != 1 {
		return fmt.Errorf("m1 is %d times in the conversation, want once", n)
	}
	return nil
}
