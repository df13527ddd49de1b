package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relay-pty/inject/profile/keys"
	"relay-pty/pty"
	"relay-pty/pty/screen"
)

const (
	// readWithin is how long an agent may take to read a key, and readLook how often that is looked
	// at.
	readWithin, readLook = 3 * time.Second, 2 * time.Millisecond
	// keyRest is how long after a key, an Esc above all, the next one is a key of its own.
	keyRest = 60 * time.Millisecond
)

// IsKey says why a name is that of no key.
func IsKey(name string) error {
	_, err := keys.Press(name, false)
	return err
}

// Press presses keys, one after the other, while nobody else types: it waits for a message that is
// being typed, and the human's keys of that time follow. It returns how many the agent has read; in
// line mode, how many its terminal's editor has taken. An error says why that is not all of them.
// Messages treat what was pressed as the human's.
func (a *Agent) Press(ctx context.Context, names []string) (pressed int, err error) {
	tx, err := a.Session.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.End() // a terminal that is gone has no keys to bring back
	if !a.shadow.At(time.Now()).Boundary {
		return 0, errors.New("the human is in the middle of a key")
	}
	if !a.reads(ctx) {
		return 0, errors.New("the agent has not read what was typed before")
	}
	for i, name := range names {
		if held, _ := tx.Held(); held > 0 {
			return i, errors.New("the human began to type")
		}
		if err := a.press(ctx, tx, name); err != nil {
			return i, fmt.Errorf("%s: %w", name, err)
		}
	}
	return len(names), nil
}

// press presses one key, and takes it back when the agent does not read it.
func (a *Agent) press(ctx context.Context, tx *pty.Tx, name string) error {
	application := false
	a.Session.View(func(s *screen.Screen) { application = s.Modes().AppCursor })
	key, err := keys.Press(name, application)
	if err != nil {
		return err
	}
	a.shadow.Keys([]byte(key), time.Now())
	if a.stream != nil {
		a.stream.Typed([]byte(key))
	}
	if _, err := tx.Write(ctx, []byte(key)); err != nil {
		return err
	}
	if a.reads(ctx) {
		return pause(ctx, keyRest)
	}
	if got, err := tx.TakeBack(len(key)); err != nil || got != len(key) {
		return errors.New("it is not known whether the agent read it")
	}
	return errors.New("the agent did not read it, and it was taken back")
}

// reads waits, for a while, until the agent has read what was typed, and reports whether it has.
func (a *Agent) reads(ctx context.Context) bool {
	for end := time.Now().Add(readWithin); ; {
		tty, err := a.Session.TTY()
		if err != nil || tty.Unread == 0 {
			return err == nil
		}
		if time.Now().After(end) || pause(ctx, readLook) != nil {
			return false
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
