package disk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/queue"
	"relay-pty/queue/journal"
)

// Told is what a wrapper said to its clients, over all its runs. Its methods are for one
// goroutine.
type Told struct {
	Bodies map[string]string // of what was sent, by id; others may not turn up
	Keeps  int64             // events that must be kept; 0: all

	Epoch    string
	Events   map[int64]string // the lines that followers got, by number
	Accepted map[string]bool
	latest   map[string]event // the newest about each message
	last     int64
	commands int

	streams map[string]*stream
}

// stream is what one client got.
type stream struct {
	rest    []byte
	follows bool
}

type event struct {
	Type, ID, Status, Epoch string
	Seq, Timestamp          int64
}

// NewTold has heard nothing yet.
func NewTold(bodies map[string]string) *Told {
	return &Told{Bodies: bodies, Events: map[int64]string{}, Accepted: map[string]bool{}, latest: map[string]event{}, streams: map[string]*stream{}}
}

// Hear takes bytes that were written to a client. It reports what may never be said.
func (t *Told) Hear(conn string, b []byte) error {
	s := t.streams[conn]
	if s == nil {
		s = &stream{}
		t.streams[conn] = s
	}
	s.rest = append(s.rest, b...)
	var errs []error
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte("\n"))
		if !ok {
			return errors.Join(errs...)
		}
		errs = append(errs, t.line(s, string(line)+"\n"))
		s.rest = rest
	}
}

func (t *Told) line(s *stream, line string) error {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return fmt.Errorf("told %q: %w", line, err)
	}
	switch {
	case e.Type == "subscribed":
		s.follows = true
		if t.Epoch != e.Epoch {
			if t.Epoch != "" && t.promised() {
				return fmt.Errorf("epoch %s became %s", t.Epoch, e.Epoch)
			}
			t.Epoch, t.Events, t.last = e.Epoch, map[int64]string{}, 0 // of a run that promised nothing
		}
		return nil
	case e.Timestamp == 0 || e.Seq == 0:
		return nil // no event
	}
	if e.Type == "inject_result" && e.Status == protocol.StatusQueued {
		t.Accepted[e.ID] = true
	}
	if !s.follows {
		return nil
	}
	was, known := t.Events[e.Seq]
	if known && was != line {
		return fmt.Errorf("event %d was %sand is %s", e.Seq, was, line)
	}
	t.Events[e.Seq], t.last = line, max(t.last, e.Seq)
	if e.Type == "relay_command" {
		t.commands++
	}
	if e.Type == "waiting" {
		e.Status = protocol.StatusQueued
	}
	if e.Status != "" && e.Seq > t.latest[e.ID].Seq {
		if old := t.latest[e.ID].Status; protocol.Terminal(old) {
			return fmt.Errorf("%s, which ended as %s: %s", e.ID, old, line)
		}
		t.latest[e.ID] = e
	}
	return nil
}

func (t *Told) promised() bool { return len(t.Accepted) > 0 || t.commands > 0 }

// Check opens the journal of name in dir as a wrapper does, and returns how it falls short
// of what was told. With use, it also goes on with it: what was interrupted is ended, one
// more message accepted, and all looked at again.
func (t *Told) Check(dir, name string, use bool) error {
	path := filepath.Join(dir, name+".journal")
	j, past, err := journal.Open(path, nil)
	if err != nil {
		return err
	}
	defer j.Close() // what it holds was looked at
	if past.Damaged != "" {
		return fmt.Errorf("told to be damaged: %s", past.Damaged)
	}
	switch {
	case !t.promised() && past.Epoch != t.Epoch:
		return nil // there was nothing to keep
	case t.Epoch != "" && past.Epoch != t.Epoch:
		return fmt.Errorf("its epoch is %s, was %s; %d messages were accepted", past.Epoch, t.Epoch, len(t.Accepted))
	}
	if err := errors.Join(t.events(j, past), t.messages(j, past)); err != nil || !use {
		return err
	}
	if err := goOn(j, past); err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	again, now, err := journal.Open(path, nil)
	if err != nil {
		return err
	}
	defer again.Close() // only read
	if now.Damaged != "" || now.Epoch != past.Epoch {
		return fmt.Errorf("gone on with, it is %+v", now)
	}
	return t.events(again, now)
}

// events compares the events that are kept.
func (t *Told) events(j *journal.Journal, past journal.Past) error {
	kept := map[int64]string{}
	for at := j.Gone(); ; {
		list, err := j.Events(at, 1000)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			if e.Seq <= at {
				return fmt.Errorf("event %d behind %d", e.Seq, at)
			}
			kept[e.Seq], at = string(e.Frame), e.Seq
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(t.Events)) {
		if seq > j.Gone() && kept[seq] != t.Events[seq] {
			return fmt.Errorf("event %d is %q, was told as %q", seq, kept[seq], t.Events[seq])
		}
	}
	if gone := j.Gone(); gone > 0 && (t.Keeps == 0 || int64(len(kept)) < t.Keeps) {
		return fmt.Errorf("events up to %d are gone, %d are kept", gone, len(kept))
	}
	if past.Last < t.last {
		return fmt.Errorf("the last event is %d, and %d was told", past.Last, t.last)
	}
	return nil
}

// messages compares what is known of each message.
func (t *Told) messages(j *journal.Journal, past journal.Past) error {
	live := map[string]queue.Record{}
	for _, r := range past.Live {
		live[r.ID] = r
		if body, sent := t.Bodies[r.ID]; !sent || r.Body != body {
			return fmt.Errorf("nobody sent %+v", r)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.Accepted)) {
		r, lives := live[id]
		if end, ended := j.Find(id); ended && lives {
			return fmt.Errorf("%s has ended, and has not", id)
		} else if ended {
			r = end
		} else if !lives {
			return fmt.Errorf("%s was accepted, and is lost", id)
		}
		told := t.latest[id]
		if r.Stamp.Seq < told.Seq || r.Stamp.Seq > told.Seq && protocol.Terminal(told.Status) || r.Stamp.Seq == told.Seq && r.Status != told.Status {
			return fmt.Errorf("%s is %s by event %d, was told to be %s by event %d", id, r.Status, r.Stamp.Seq, told.Status, told.Seq)
		}
	}
	return nil
}

// goOn does with a journal what the next run would.
func goOn(j *journal.Journal, past journal.Past) error {
	log := queue.NewOutbox()
	log.Keep(j, past.Epoch, past.Last)
	box, err := queue.New(queue.Config{Max: 1000}, log)
	if err != nil {
		return err
	}
	interrupted := box.Restore(past.Live)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var failed error
	go func() { done <- log.Run(ctx, func(err error) { failed = errors.Join(failed, err) }) }()
	var errs []error
	for _, m := range interrupted {
		errs = append(errs, box.Finish(m.ID, queue.Outcome{Status: protocol.StatusUnknown}, time.Now()))
	}
	_, _, err = box.Enqueue(queue.Message{ID: "one-more", From: "bob", Body: "x", Mode: protocol.ModeSequential, Kind: protocol.KindMessage}, time.Now())
	cancel()
	<-done
	return errors.Join(append(errs, err, failed)...)
}
