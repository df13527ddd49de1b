package log

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"relay-pty/parser/transcript"
)

// events makes entries of events.
type events struct {
	since   time.Time
	seen    map[[8]byte]struct{}
	roles   map[string]role // by message
	older   map[string]role // those of earlier messages
	waiting []text          // what was typed and not taken by a turn yet
	ended   []text          // what the model wrote, its message's next event to tell if it was cut
}

// role is what is known of a message.
type role struct {
	kind transcript.Kind // empty: it is to be left out
	turn string          // by the prompt that a reply is to
}

type text struct {
	session, message string
	entry            transcript.Entry
}

const (
	rolesMost   = 512
	waitingMost = 256
)

func newEvents(since time.Time) events {
	return events{since: since.Truncate(time.Millisecond), seen: map[[8]byte]struct{}{}, roles: map[string]role{}}
}

// row returns the entries that an event of that kind completes.
func (o *events) row(kind string, data []byte) ([]transcript.Entry, error) {
	var e event
	switch name, _, _ := strings.Cut(kind, ".updated"); name {
	case "message":
		if err := json.Unmarshal(data, &e); err != nil || e.Info == nil {
			return nil, fmt.Errorf("event %.50s: no message: %w", kind, err)
		}
		return o.message(e.Info), nil
	case "message.part":
		if err := json.Unmarshal(data, &e); err != nil || e.Part == nil {
			return nil, fmt.Errorf("event %.50s: no part: %w", kind, err)
		}
		return o.part(e.Part, time.UnixMilli(e.Time)), nil
	}
	return nil, nil
}

func (o *events) message(m *info) []transcript.Entry {
	kind := map[string]transcript.Kind{"user": transcript.User, "assistant": transcript.Assistant}[m.Role]
	if kind == transcript.Assistant && string(m.Summary) == "true" {
		kind = ""
	}
	turn := m.Parent
	if kind == transcript.User {
		turn = m.ID
	}
	o.remember(m.ID, role{kind, turn})
	if kind != transcript.Assistant {
		return nil
	}
	failed := len(m.Error) > 0 && string(m.Error) != "null"
	entries := o.taken(m)
	if failed || m.Finish != "" || m.Time.Completed > 0 {
		entries = append(entries, o.end(m.ID, failed)...)
	}
	if failed || m.Time.Completed > 0 && m.Finish != "tool-calls" {
		e := transcript.Entry{Kind: transcript.TurnEnd, UUID: m.ID, Time: time.UnixMilli(m.Time.Completed), Turn: turn}
		if failed {
			e.Text, e.Ending = m.failure(e.Time)
		}
		entries = o.add(entries, e)
	}
	return entries
}

// taken returns what was typed in the session up to the message that the reply is to.
func (o *events) taken(reply *info) []transcript.Entry {
	var entries []transcript.Entry
	rest := o.waiting[:0]
	for _, t := range o.waiting {
		if t.session == reply.Session && t.message <= reply.Parent { // ids are in the order of their times
			entries = o.add(entries, t.entry)
		} else {
			rest = append(rest, t)
		}
	}
	o.waiting = rest
	return entries
}

func (o *events) part(p *part, at time.Time) []transcript.Entry {
	entries := o.end(p.Message, false)
	if of := o.role(p.Message); p.Type == "tool" && of.kind == transcript.Assistant && p.works() {
		return o.add(entries, transcript.Entry{Kind: transcript.Tool, UUID: p.ID + "/tool", Time: at, Text: p.Tool, Turn: of.turn})
	}
	if p.Type != "text" || p.Synthetic || p.Ignored || p.ID == "" {
		return entries
	}
	of := o.role(p.Message)
	t := text{session: p.Session, message: p.Message, entry: transcript.Entry{
		Kind: of.kind, UUID: p.ID, Time: at, Text: p.Text, Turn: of.turn, Typed: of.kind == transcript.User,
	}}
	switch {
	case t.entry.Kind == transcript.User:
		o.waiting = latest(append(o.waiting, t))
	case t.entry.Kind == transcript.Assistant && p.Time.End > 0:
		o.ended = latest(append(o.ended, t))
	}
	return entries
}

// latest drops the first when there are too many.
func latest(texts []text) []text {
	return texts[max(0, len(texts)-waitingMost):]
}

// end returns what the model wrote in the message, its last text cut if it was.
func (o *events) end(message string, cut bool) []transcript.Entry {
	var entries []transcript.Entry
	rest := o.ended[:0]
	for _, t := range o.ended {
		if t.message == message {
			t.entry.Cut = cut
			entries = o.add(entries, t.entry)
		} else {
			rest = append(rest, t)
		}
	}
	o.ended = rest
	return entries
}

// add appends e, unless it is old or known.
func (o *events) add(entries []transcript.Entry, e transcript.Entry) []transcript.Entry {
	sum := sha256.Sum256([]byte(e.UUID))
	id := [8]byte(sum[:8])
	if _, known := o.seen[id]; known || e.Time.Before(o.since) {
		return entries
	}
	o.seen[id] = struct{}{}
	return append(entries, e)
}

func (o *events) remember(message string, is role) {
	if len(o.roles) >= rolesMost {
		o.older, o.roles = o.roles, map[string]role{}
	}
	o.roles[message] = is
}

func (o *events) role(message string) role {
	if is, known := o.roles[message]; known {
		return is
	}
	return o.older[message]
}
