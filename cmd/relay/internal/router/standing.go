package router

import (
	"cmp"
	"slices"
	"strings"

	"relay-pty/protocol"
)

// Levels that a message is waited to reach (until).
const (
	Queued    = "queued"
	Delivered = "delivered"
	Replied   = "replied"
)

// Delivery is what became of a message, or of one to several for one of them.
type Delivery struct {
	ID         string      `json:"id"`
	Status     string      `json:"status"`
	To         string      `json:"to"`
	Evidence   string      `json:"evidence,omitzero"`
	WaitingFor *string     `json:"waiting_for"`
	Error      *ErrorValue `json:"error,omitzero"`
	Running    bool        `json:"running"`            // the recipient's wrapper runs
	Reads      bool        `json:"reads,omitzero"`     // the recipient has no wrapper, but reads (relay recv): a person or a script
	Awaited    bool        `json:"awaited,omitzero"`   // nobody has heard of the recipient yet
	Like       []string    `json:"like,omitzero"`      // names that may have been meant then
	Abandoned  bool        `json:"abandoned,omitzero"` // the run that was given it ended, and it has no answer
	Outcome    string      `json:"outcome,omitzero"`   // how its turn ended without an answer: silent, interrupted, refused
	Refusal    *ErrorValue `json:"refusal,omitzero"`   // why its API refused it, with the agent's own words
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

// Standing is how far a message is. Of one to several it says what is true of all: the status of
// who is furthest behind, and whether any runs that has no copy in a queue yet.
type Standing struct {
	Delivery
	Recipients []Delivery `json:"recipients,omitzero"` // of a message to several
	Replies    []Reply    `json:"replies"`
}

// Delivery is what has become of a message, or of one copy.
func (s *State) Delivery(k *Known, running func(name string) bool) Delivery {
	d := Delivery{
		ID: k.ID, To: k.To, Status: k.Status, Evidence: k.Evidence, Error: k.Error, Running: running(k.To),
		Abandoned: s.Abandoned(k), Awaited: s.Awaited(k.To), Outcome: k.Result.Outcome, Refusal: k.Refusal,
	}
	d.Reads = !d.Awaited && !Group(d.To) && !s.Wrapped(d.To)
	if d.Awaited {
		d.Like = s.Unknown(d.To).Candidates
	}
	if waits := s.WaitsFor(k, d.Running); waits != "" {
		d.WaitingFor = &waits
	}
	return d
}

// Standing tells how far a message is. One to several is abandoned where no answer can come, and
// the run of one that was given it ended.
func (s *State) Standing(k *Known, running func(name string) bool) Standing {
	got := Standing{Delivery: s.Delivery(k, running), Replies: []Reply{}}
	for _, c := range k.Deliveries {
		d := s.Delivery(c, running)
		got.Recipients = append(got.Recipients, d)
		got.Running = got.Running || d.Running && d.Status == StatusAccepted
		got.Abandoned = got.Abandoned || d.Abandoned
		got.Replies = append(got.Replies, s.replies(c)...)
	}
	got.Replies = append(got.Replies, s.replies(k)...)
	got.Abandoned = got.Abandoned && len(got.Replies) == 0 && all(got.Copies(), Delivery.over)
	return got
}

// replies are the answers to a message, or to one copy.
func (s *State) replies(k *Known) (list []Reply) {
	for _, id := range k.Replies {
		if r, ok := s.Find(id); ok {
			list = append(list, Reply{ID: r.ID, From: r.From, Body: r.Body})
		}
	}
	if len(k.Replies) == 0 && k.Words != "" {
		list = append(list, Reply{From: k.To, Body: k.Words, Inferred: true})
	}
	return list
}

// Copies are what became of a message for each recipient.
func (s Standing) Copies() []Delivery {
	if len(s.Recipients) == 0 {
		return []Delivery{s.Delivery}
	}
	return s.Recipients
}

// all reports whether something is true of all copies.
func all(copies []Delivery, so func(Delivery) bool) bool {
	return !slices.ContainsFunc(copies, func(d Delivery) bool { return !so(d) })
}

// Reached reports whether a message has come to a level, or to an end before: there is nothing more
// to wait for.
func (s Standing) Reached(level string) bool {
	switch level {
	case Replied:
		return len(s.Replies) > 0 || all(s.Copies(), Delivery.over)
	case Delivered:
		return all(s.typed(), func(d Delivery) bool { return Ended(d.Status) })
	}
	return s.Status != StatusAccepted && s.Status != StatusScheduled
}

// Came reports whether a message has come as far as a level. One that ended before has not.
func (s Standing) Came(level string) bool {
	has := func(d Delivery) bool { return d.Status == protocol.StatusDelivered || d.Status == StatusReplied }
	arrived := has(s.Delivery)
	switch level {
	case Replied:
		return len(s.Replies) > 0
	case Delivered:
		return arrived || all(s.typed(), has)
	}
	return arrived || s.Status != StatusAccepted && !Ended(s.Status)
}

// Ended says how the turn ended that took the message, in one of several; "": it is not known.
func (s Standing) Ended() (says string) {
	for _, d := range s.Copies() {
		says = cmp.Or(says, TurnEnded(d.To, d.Outcome, d.Refusal))
	}
	return says
}

// Reaches reports whether a message is to that name, or to several and that name is one of them.
func (s Standing) Reaches(name string) bool {
	return s.To == name || slices.ContainsFunc(s.Copies(), func(d Delivery) bool { return d.To == name })
}

// typed are the copies that wrappers type. People and scripts read when they like, so nobody waits
// for them, unless the message went to nobody else.
func (s Standing) typed() []Delivery {
	typed := slices.DeleteFunc(slices.Clone(s.Copies()), func(d Delivery) bool { return d.Reads })
	if len(typed) == 0 {
		return s.Copies()
	}
	return typed
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
	for _, d := range s.Copies() {
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
	switch {
	case len(s.Recipients) > 0 || s.Status != StatusAccepted:
	case s.To == Human:
		return "the human reads it with relay recv"
	case s.Reads:
		return "relay recv --as " + s.To + " shows it"
	case s.Awaited && len(s.Like) > 0:
		return "nobody knows the name " + s.To + " yet (did you mean " + strings.Join(s.Like, " or ") + "?)"
	case s.Awaited:
		return "nobody knows the name " + s.To + " yet"
	}
	add("does not run", "do not run", func(d Delivery) bool { return !d.Running && !d.Reads })
	const unread, full = "not read it yet (relay recv)", "no more messages at present"
	add("has "+unread, "have "+unread, func(d Delivery) bool { return d.Reads })
	held := func(d Delivery) bool { return d.WaitingFor != nil && *d.WaitingFor == protocol.WaitsForPaused }
	paused := "messages of this chain only after relay resume " + s.Copies()[0].ID
	add("gets "+paused, "get "+paused, func(d Delivery) bool { return d.Running && held(d) })
	add("takes "+full, "take "+full, func(d Delivery) bool { return d.Running && !held(d) })
	return strings.Join(why, "; ")
}
