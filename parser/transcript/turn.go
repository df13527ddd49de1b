package transcript

import (
	"slices"
	"strings"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
)

// Outcome is how a turn ended. Every turn ends in one way, once.
type Outcome string

const (
	Answered    Outcome = protocol.OutcomeAnswered    // well, with words
	Silent      Outcome = protocol.OutcomeSilent      // well, without a word
	Interrupted Outcome = protocol.OutcomeInterrupted // by somebody at the agent, or by us
	Refused     Outcome = protocol.OutcomeRefused     // the model's API took a request of it no more
)

// Reason is why a turn was refused.
type Reason string

const (
	Limit      Reason = protocol.ReasonLimit
	Auth       Reason = protocol.ReasonAuth
	Overloaded Reason = protocol.ReasonOverloaded
	Broken     Reason = protocol.ReasonError
)

// ReasonOf is the reason that an HTTP status tells.
func ReasonOf(status int) Reason {
	switch status {
	case 401, 403:
		return Auth
	case 402, 429:
		return Limit
	case 503, 529:
		return Overloaded
	}
	return Broken
}

// Ending is what a log's reader fills in of the end of a turn.
type Ending struct {
	Outcome Outcome   // "": it ended well, and what it said tells the rest
	Reason  Reason    // of Refused
	RetryAt time.Time // of Refused: from when on the API takes requests again, as the agent says; zero: it does not
}

// End is the end of a turn, and what it was.
type End struct {
	Ending
	IDs        []string // of the messages that it was given
	Text       string   // what it said last; "" where it wrote messages; of Refused, what the agent said of that
	Tools      int      // how many tools it used that do something else than talk
	Background bool     // work that it began in the background goes on, so that nothing is an answer yet
}

// Turn is what the present turn was given and what it said, for whoever hands it each entry.
//
// Claude Code 2.1.197 writes the rows of a session's first turn in any order where the machine is
// loaded: the end before what it ends, an answer before what was asked (15 of 27 starts beside
// other work). So an end that comes before its answer, or before what was asked, is no end yet:
// what is known is kept, with the entries behind it that carry no later time, until the agent rests
// or the next turn begins or ends.
type Turn struct {
	Endless bool // no row tells that a turn has ended well: the next prompt does, or that the agent rests

	present turn
	late    *turn     // it ended, as far as the log tells, and of what was asked and said some is missing
	ended   time.Time // when the last turn did that the log told of
	told    bool      // of a turn
	open    map[string]work
}

// work goes on in the background. Of a turn that has ended, it has the turn's messages, and the
// names of all work that the turn has begun; and of a turn that was given several, what was said,
// which may hold the answers to some of them.
type work struct {
	ids, names []string
	said       string
}

// turn is what one turn was given, and did.
type turn struct {
	Ending
	refusal string    // what the agent said of it
	ids     []string  // of the messages that it was given
	asked   bool      // it is known what began it
	begun   bool      // that, or it said something: what is left of a tool that was interrupted is no turn
	before  string    // what was said in the turn that it goes on with
	last    string    // what it said last …
	said    time.Time // … and when
	cut     bool      // that was cut off
	wrote   bool      // it has markers, so what it said is no answer
	tools   int
	work    []string  // in the background, by name
	failed  *Entry    // a request that failed, with nothing behind it
	newest  time.Time // of its entries
}

// Take notes an entry. It returns the ends of turns that it tells.
func (t *Turn) Take(e Entry) (ends []End) {
	switch {
	case e.Kind == TurnEnd:
		return t.end(e)
	case e.Opens && t.Endless:
		ends = t.Rest()
	case e.Opens && e.Time.After(t.ended):
		ends = t.settle()
	}
	if e.Opens && !t.present.newest.After(t.ended) {
		t.present = turn{} // all of it was the last turn's
	}
	t.background(e)
	t.present.take(e)
	if late := t.late; late != nil && !e.Time.After(t.ended) && (e.Opens || e.Kind != User || !late.asked) {
		late.take(e)
	}
	return ends
}

// Given is what the present turn was given so far, and how many tools it has used.
func (t *Turn) Given() (ids []string, tools int) { return slices.Clone(t.present.ids), t.present.tools }

func (w *turn) take(e Entry) {
	if e.Time.After(w.newest) {
		w.newest = e.Time
	}
	switch e.Kind {
	case User:
		w.give(parser.Openings(e.Text))
		if w.asked, w.begun = true, true; !e.Opens || !e.Time.Before(w.said) {
			w.last, w.cut = "", false
		}
	case Handed:
		ids := slices.DeleteFunc(parser.Openings(e.Text), func(id string) bool { return !Gave(e, id) })
		w.give(ids)
	case Assistant:
		w.last, w.said, w.cut = e.Text, e.Time, e.Cut
		w.begun, w.wrote, w.failed = true, w.wrote || len(Commands(e)) > 0, nil
	case Tool:
		w.tools, w.failed = w.tools+1, nil
	case Reported:
		w.asked, w.begun = true, true
	case Failed:
		w.failed = &e
	}
}

// give notes messages that the turn was given.
func (w *turn) give(ids []string) {
	for _, id := range ids {
		if !slices.Contains(w.ids, id) {
			w.ids = append(w.ids, id)
		}
	}
}

// background notes what becomes of work. The turn that is told of the end of work goes on with what
// the turn was given that began it.
func (t *Turn) background(e Entry) {
	switch e.Kind {
	case Began:
		if t.open == nil || len(t.open) >= workMost {
			t.open = map[string]work{}
		}
		t.open[e.Text] = work{}
		t.present.work = append(t.present.work, e.Text)
	case Finished:
		delete(t.open, e.Text)
	case Reported:
		known := t.open[e.Text]
		delete(t.open, e.Text)
		t.present.give(known.ids)
		t.present.work = append(t.present.work, known.names...)
		if known.said != "" {
			t.present.before = known.said + "\n\n"
		}
	}
}

// workMost is how much work in the background is remembered.
const workMost = 64

// end notes that the log tells the end of a turn.
func (t *Turn) end(e Entry) []End {
	ends := t.settle()
	t.ended = e.Time
	ended := t.present
	t.present, ended.Ending, ended.refusal = turn{}, e.Ending, e.Text
	if !ended.begun && t.told {
		return ends // the end of what has ended already
	}
	if t.Endless || ended.asked && (ended.last != "" || ended.Outcome != "") {
		return append(ends, t.tell(ended)...)
	}
	t.late = &ended
	return ends
}

// Rest is the end that is known by that the agent rests: of a turn whose end the log does not tell,
// or of which some came behind its end.
func (t *Turn) Rest() []End {
	if !t.Endless {
		return t.settle()
	}
	ended := t.present
	t.present = turn{}
	return t.tell(ended)
}

// settle is the end of a turn of which some came behind its end. That is no part of the present
// one.
func (t *Turn) settle() []End {
	if t.late == nil {
		return nil
	}
	late := *t.late
	t.late = nil
	ids := slices.DeleteFunc(t.present.ids, func(id string) bool { return slices.Contains(late.ids, id) })
	if t.present.ids = ids; !t.present.newest.After(t.ended) {
		t.present = turn{ids: ids, asked: len(ids) > 0, begun: len(ids) > 0, newest: t.present.newest}
	}
	return t.tell(late)
}

// tell is the end of a turn; none if there was no turn.
func (t *Turn) tell(of turn) []End {
	if !of.begun {
		return nil
	}
	t.told = true
	end := End{Ending: of.Ending, IDs: of.ids, Tools: of.tools}
	if end.Outcome == "" && of.failed != nil {
		end.Ending, of.refusal = of.failed.Ending, of.failed.Text
	}
	said := strings.TrimSpace(of.last) != ""
	switch {
	case end.Outcome != "":
	case of.cut:
		end.Outcome = Interrupted
	case said || of.wrote:
		end.Outcome = Answered
	default:
		end.Outcome = Silent
	}
	switch {
	case end.Outcome == Refused:
		end.Text = of.refusal
	case said && !of.wrote:
		end.Text = of.before + of.last
	}
	left := work{ids: of.ids}
	if len(of.ids) > 1 {
		left.said = end.Text
	}
	on := slices.DeleteFunc(of.work, func(name string) bool {
		_, open := t.open[name]
		return !open
	})
	left.names = on
	for _, name := range on {
		end.Background, t.open[name] = true, left
	}
	return []End{end}
}
