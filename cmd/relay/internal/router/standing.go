package router

import (
	"cmp"
	"slices"
	"strings"

	"relay-pty/protocol"
)

// Levels that a message is waited to reach.
const (
	Queued    = "queued"
	Delivered = "delivered"
	Replied   = "replied"
)

// Delivery is what became of a message to several for one of them.
type Delivery struct {
	ID         string      `json:"id"`
	To         string      `json:"to"`
	Status     string      `json:"status"`
	Evidence   string      `json:"evidence,omitzero"`
	WaitingFor *string     `json:"waiting_for"`
	Error      *ErrorValue `json:"error,omitzero"`
	Running    bool        `json:"running"`
	Reads      bool        `json:"reads,omitzero"`
	Abandoned  bool        `json:"abandoned,omitzero"`
	Outcome    string      `json:"outcome,omitzero"`

	// What only a message to one can have, and tells itself.
	Refusal *ErrorValue `json:"-"`
	Awaited bool        `json:"-"` // nobody has heard of the recipient yet
	Like    []string    `json:"-"` // names that may have been meant then
}

// Reply is a message that answers another one.
type Reply struct {
	ID   string `json:"id"`
	From string `json:"from"`
	Body string `json:"body"`
	// Inferred says that it is no message, and has no id, but the last words of the turn that was
	// given the question, from an agent that wrote no message in it.
	Inferred bool `json:"inferred,omitzero"`
}

// Standing is how far a message is. One to a single recipient has one copy, which is itself.
type Standing struct {
	To      string
	Status  string // of who is furthest behind
	Copies  []Delivery
	Replies []Reply
}

// Standing tells how far a message is.
func (s *State) Standing(k *Known, running func(name string) bool) Standing {
	got := Standing{To: k.To, Status: k.Status, Replies: []Reply{}}
	copies := k.Deliveries
	if len(copies) == 0 {
		copies = []*Known{k}
	}
	for _, c := range copies {
		d := Delivery{
			ID: c.ID, To: c.To, Status: c.Status, Evidence: c.Evidence, Error: c.Error, Running: running(c.To), Abandoned: s.Abandoned(c),
			Outcome: c.Result.Outcome, Refusal: c.Refusal, Awaited: s.Awaited(c.To),
		}
		d.Reads = !d.Awaited && !s.Wrapped(d.To)
		if d.Awaited {
			d.Like = s.Unknown(d.To).Candidates
		}
		if waits := s.WaitsFor(c, d.Running); waits != "" {
			d.WaitingFor = &waits
		}
		got.Copies = append(got.Copies, d)
		for _, id := range c.Replies {
			if r, ok := s.Find(id); ok {
				got.Replies = append(got.Replies, Reply{ID: r.ID, From: r.From, Body: r.Body})
			}
		}
		if len(c.Replies) == 0 && c.Words != "" {
			got.Replies = append(got.Replies, Reply{From: c.To, Body: c.Words, Inferred: true})
		}
	}
	return got
}

// all reports whether something is true of all copies.
func (s Standing) all(so func(Delivery) bool) bool {
	return !slices.ContainsFunc(s.Copies, func(d Delivery) bool { return !so(d) })
}

// Running reports whether the recipient runs; of several, any that has no copy in a queue yet.
func (s Standing) Running() bool {
	several := len(s.Copies) > 1 || s.Copies[0].To != s.To
	return slices.ContainsFunc(s.Copies, func(d Delivery) bool { return d.Running && (!several || d.Status == StatusAccepted) })
}

// Abandoned reports whether the run that was given the message ended without an answer; of several,
// that all are over, one of them so.
func (s Standing) Abandoned() bool {
	return len(s.Replies) == 0 && s.all(Delivery.over) && slices.ContainsFunc(s.Copies, func(d Delivery) bool { return d.Abandoned })
}

// Reached reports whether a message has come to a level, or to an end before: there is nothing more
// to wait for.
func (s Standing) Reached(level string) bool {
	switch level {
	case Replied:
		return len(s.Replies) > 0 || s.all(Delivery.over)
	case Delivered:
		return s.typed().all(func(d Delivery) bool { return Ended(d.Status) })
	}
	return s.Status != StatusAccepted && s.Status != StatusScheduled
}

// Came reports whether a message has come as far as a level. One that ended before has not.
func (s Standing) Came(level string) bool {
	has := func(d Delivery) bool { return d.Status == protocol.StatusDelivered || d.Status == StatusReplied }
	arrived := has(Delivery{Status: s.Status})
	switch level {
	case Replied:
		return len(s.Replies) > 0
	case Delivered:
		return arrived || s.typed().all(has)
	}
	return arrived || s.Status != StatusAccepted && !Ended(s.Status)
}

// Ended says how the turn ended that took the message, in one of several; "": it is not known.
func (s Standing) Ended() (says string) {
	for _, d := range s.Copies {
		says = cmp.Or(says, TurnEnded(d.To, d.Outcome, d.Refusal))
	}
	return says
}

// Reaches reports whether a message is to that name, or to several and that name is one of them.
func (s Standing) Reaches(name string) bool {
	return s.To == name || slices.ContainsFunc(s.Copies, func(d Delivery) bool { return d.To == name })
}

// typed are the copies that wrappers type. People and scripts read when they like, so nobody waits
// for them, unless the message went to nobody else.
func (s Standing) typed() Standing {
	typed := slices.DeleteFunc(slices.Clone(s.Copies), func(d Delivery) bool { return d.Reads })
	if len(typed) > 0 {
		s.Copies = typed
	}
	return s
}

// over reports whether no answer can come any more. Where the agent may have had the message in its
// last moment, not all is known of it yet.
func (d Delivery) over() bool {
	failed := func(code string) bool { return d.Error != nil && d.Error.Code == code }
	maybe := d.Status == protocol.StatusDelivered || d.Status == protocol.StatusUnknown && failed(protocol.FaultAgentExited)
	return d.Abandoned || d.Outcome != "" || failed(Unheard) || Ended(d.Status) && !maybe
}

// Whom names the recipients for whom so is true.
func (s Standing) Whom(so func(Delivery) bool) (names []string) {
	for _, d := range s.Copies {
		if so(d) {
			names = append(names, d.To)
		}
	}
	return names
}

// WhyNot says why copies of a message are in no wrapper's queue.
func (s Standing) WhyNot() string {
	var why []string
	add := func(one, more string, so func(Delivery) bool) {
		names := s.Whom(func(d Delivery) bool { return d.Status == StatusAccepted && so(d) })
		if len(names) > 1 {
			one = more
		}
		if len(names) > 0 {
			why = append(why, strings.Join(names, ", ")+" "+one)
		}
	}
	switch first := s.Copies[0]; {
	case first.To != s.To || first.Status != StatusAccepted:
	case s.To == Human:
		return "the human reads it with relay recv"
	case first.Reads:
		return "relay recv --as " + s.To + " shows it"
	case first.Awaited && len(first.Like) > 0:
		return "nobody knows the name " + s.To + " yet (did you mean " + strings.Join(first.Like, " or ") + "?)"
	case first.Awaited:
		return "nobody knows the name " + s.To + " yet"
	}
	add("does not run", "do not run", func(d Delivery) bool { return !d.Running && !d.Reads })
	const unread, full = "not read it yet (relay recv)", "no more messages at present"
	add("has "+unread, "have "+unread, func(d Delivery) bool { return d.Reads })
	held := func(d Delivery) bool { return d.WaitingFor != nil && *d.WaitingFor == protocol.WaitsForPaused }
	paused := "messages of this chain only after relay resume " + s.Copies[0].ID
	add("gets "+paused, "get "+paused, func(d Delivery) bool { return d.Running && held(d) })
	add("takes "+full, "take "+full, func(d Delivery) bool { return d.Running && !held(d) })
	return strings.Join(why, "; ")
}
