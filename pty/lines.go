package pty

import (
	"bytes"
	"time"
)

const (
	// answerWait is how long a line may wait for the answer to the one before it, and answerRest
	// the silence that counts as its end where nothing better does.
	answerWait, answerRest = 50 * time.Millisecond, 5 * time.Millisecond
	// answerLook is how soon the first look at the answer is; each next one takes twice as long, up
	// to lookMost.
	answerLook, lookMost = 50 * time.Microsecond, 2 * time.Millisecond
)

// lines is a text of several lines on its way to a program that reads lines. Typed ahead, a line is
// echoed while the answer to the one before is printed, each in the middle of the other. So they go
// one by one.
type lines struct {
	tx      *Tx
	waited  bool // the program waited in a read before the first
	written time.Time
}

// linesOf is nil when p is no more than a line, or the program reads no lines.
func (tx *Tx) linesOf(p []byte) *lines {
	if len(firstLine(p)) == len(p) {
		return nil
	}
	if tty, err := tx.s.TTY(); err != nil || !tty.Canonical {
		return nil
	}
	return &lines{tx: tx, waited: tx.s.WaitsInRead()}
}

// firstLine is p up to its first newline or Enter.
func firstLine(p []byte) []byte {
	if i := bytes.IndexAny(p, "\r\n"); i >= 0 {
		return p[:i+1]
	}
	return p
}

// next is the next line of p, when the program has read and answered the one before: it waits in a
// read again or, if it never does, says no more. That is not waited for long, and not while human
// keys wait for us.
func (l *lines) next(p []byte) []byte {
	s, now := l.tx.s, time.Now()
	for look := answerLook; !l.written.IsZero() && now.Sub(l.written) < answerWait; look = min(2*look, lookMost) {
		tty, err := s.TTY()
		if held, _ := l.tx.Held(); err != nil || held > 0 {
			break
		}
		answered := s.WaitsInRead
		if !l.waited {
			answered = func() bool { return min(now.Sub(s.LastOutput()), now.Sub(l.written)) >= answerRest }
		}
		if tty.Unread == 0 && answered() || !s.keys.rest(look) {
			break
		}
		now = time.Now()
	}
	l.written = time.Now()
	return firstLine(p)
}
