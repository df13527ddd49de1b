package inject

import (
	"context"
	"time"

	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// A stage is how far an attempt is, or where its text rests.
type stage int

const (
	ended       stage = iota // nothing of it is left to do
	opened                   // it has the terminal, and nothing is typed yet
	stashing                 // the human's draft is being set aside
	typing                   // the message is typed, piece by piece
	showing                  // all is typed, and has yet to show in the composer
	confirming               // Enter was pressed, and the text has yet to be gone
	accepted                 // the composer is empty, and the turn has yet to show
	feeling                  // whether a line editor takes keys for text has yet to show
	echoing                  // a line is typed, and has yet to show
	prompting                // a line was entered, and the next prompt has yet to show
	reading                  // the last line was entered, and has yet to be read
	withdrawing              // the message is to be taken back, and what is typed has yet to show
	clearing                 // keys take text of ours out of the composer
	restoring                // the draft that was set aside is brought back
	leaving                  // it is over, and the agent's end may tell why
	halting                  // keys end the agent's turn
	returning                // what the agent gives back then has yet to show
	inserting                // a composer with modes is led back to its insert mode

	// From here on the agent has the text, and other attempts go on meanwhile.
	queued    // it is in the agent's own queue
	behind    // it was typed, and a dialog came before Enter
	tardy     // the key to set the draft aside was read, and may act late
	givenBack // an interrupted prompt stands in the composer
	left      // it stands in the composer, and could not be taken back
)

// do is what a stage does with a step: it tells which stage is next, its own to stay, and when to
// ask again though nothing changes; 0: never.
type do func(context.Context, step) (next stage, again time.Duration)

// rests reports whether the text is in the agent's hands, and other attempts go on meanwhile.
func (s stage) rests() bool { return s == ended || s >= queued }

// atOnce asks for the next step although nothing changes.
const atOnce = time.Nanosecond

// row is what is known of a stage.
type row struct {
	name  string
	begin func(*attempt) do              // what the stage does, with a memory of its own; nil: it merely is
	limit func(a *attempt) time.Duration // how long it may take while the agent runs; nil: there is no limit, or it sets its own
	reads bool                           // the limit begins anew with each part of the text that the agent reads
	next  []stage                        // the stages that may come next, beside its end
}

// table is all stages. DESIGN.md shows it as a picture. An attempt begins as one that has ended.
var table = [...]row{
	ended:  {name: "ended", next: []stage{opened, halting, left}},
	opened: {name: "opened", begin: (*attempt).opened, next: []stage{stashing, clearing, feeling, typing, tardy, restoring}},
	stashing: {
		name: "stashing", begin: (*attempt).stashing, limit: echo, reads: true,
		next: []stage{feeling, typing, tardy, restoring},
	},
	typing: {
		name: "typing", begin: (*attempt).typing, limit: echo, reads: true,
		next: []stage{showing, echoing, reading, withdrawing, restoring, leaving, behind, queued},
	},
	showing: {
		name: "showing", begin: (*attempt).showing, limit: echo, reads: true,
		next: []stage{confirming, withdrawing, restoring, leaving, behind, queued},
	},
	confirming: {
		name: "confirming", begin: (*attempt).confirming, limit: func(a *attempt) time.Duration { return max(confirm(a), a.slow()) },
		next: []stage{accepted, queued, restoring, withdrawing, leaving},
	},
	accepted: {
		name: "accepted", begin: (*attempt).accepted, limit: (*attempt).slow,
		next: []stage{restoring, leaving},
	},
	feeling: {name: "feeling", begin: (*attempt).feeling, limit: echo, next: []stage{typing, restoring, leaving}},
	echoing: {
		name: "echoing", begin: (*attempt).echoing, limit: func(a *attempt) time.Duration { return max(echo(a), confirm(a)) },
		next: []stage{prompting, reading, withdrawing, restoring, leaving},
	},
	prompting: {name: "prompting", begin: (*attempt).prompting, limit: confirm, next: []stage{feeling, restoring, leaving}},
	reading:   {name: "reading", begin: (*attempt).reading, limit: confirm, next: []stage{restoring, leaving}},
	withdrawing: {
		name: "withdrawing", begin: (*attempt).withdrawing, limit: within(2 * proofRest),
		next: []stage{clearing, restoring, leaving},
	},
	clearing: {name: "clearing", begin: (*attempt).clearing, next: []stage{typing, restoring, leaving}},
	restoring: {
		name: "restoring", begin: (*attempt).restoring, limit: within(2 * proofRest),
		next: []stage{confirming, accepted, queued},
	},
	leaving:   {name: "leaving", begin: (*attempt).leaving, next: []stage{restoring}},
	halting:   {name: "halting", begin: (*attempt).halting, next: []stage{returning, inserting}},
	returning: {name: "returning", begin: (*attempt).returning, limit: keyWait, next: []stage{inserting}},
	inserting: {name: "inserting", begin: (*attempt).inserting, limit: func(a *attempt) time.Duration { return 2 * keyWait(a) }},
	queued:    {name: "queued", begin: (*attempt).queued, next: []stage{behind}},
	behind:    {name: "behind", begin: (*attempt).behind, next: []stage{showing, withdrawing, queued, restoring, leaving}},
	tardy:     {name: "tardy", begin: (*attempt).tardy},
	givenBack: {name: "givenBack", begin: (*attempt).givenBack},
	left:      {name: "left"},
}

func (s stage) String() string { return table[s].name }

func echo(a *attempt) time.Duration    { return a.in.Profile.Typing.Echo }
func confirm(a *attempt) time.Duration { return a.in.Profile.Typing.Confirm }
func keyWait(a *attempt) time.Duration { return a.in.Profile.Typing.KeyWait }

func within(d time.Duration) func(*attempt) time.Duration {
	return func(*attempt) time.Duration { return d }
}

// attempt is one turn on its way into the agent, or what else the terminal is needed for.
type attempt struct {
	turn.Turn
	in    *Injector
	stage stage
	do    do    // of the stage; nil: it has yet to begin
	timer timer // of what the stage waits for
	term  terminal

	typed    string // what is typed
	pieces   []turn.Piece
	line     typedLine
	felt     bool      // the line editor has taken a key for text
	began    time.Time // when it was begun to be typed; zero: it was not
	pressed  enterKey
	ends     watch.Scan // of a composer that is too low for it
	cameBack bool       // it stood in the composer again when the agent had queued it
	draft    *aside     // the draft that was set aside for it; nil: none
	then     stage      // what the stage behind this one leads to
	result   *Result    // how it ends; nil: that is open
}

// timer is how long something may take.
type timer struct {
	limit time.Duration // 0: it has no end of its own
	due   time.Time     // when that is over
}

// enterKey is our last Enter, and how the agent was when it was pressed.
type enterKey struct {
	at     time.Time // zero: it was not, so the message cannot be submitted
	joined bool      // the agent was busy, or holds back what it is given: its log will tell
	aside  bool      // it showed that a draft is set aside, by whomever
}

// drive does what an attempt's stage does with a step, and reports whether it has moved on;
// otherwise it says when to ask again.
func (in *Injector) drive(ctx context.Context, a *attempt, s step) (moved bool, again time.Duration) {
	r := &table[a.stage]
	if r.begin == nil {
		return false, 0
	}
	if a.do == nil {
		a.do = r.begin(a)
	}
	if a.term.keys != "" {
		s.stuck = a.flush(ctx, s)
		switch {
		case s.stuck || a.term.keys == "":
		case s.Facts.Stopped:
			return false, writeWait
		default:
			return false, atOnce
		}
	}
	in.pass(ctx, s)
	if s.halted || r.reads && s.read {
		a.within(a.timer.limit)
	}
	left := a.timer.due.Sub(s.Facts.Now)
	s.over = a.timer.limit > 0 && left <= 0
	next, again := a.do(ctx, s)
	if next == a.stage {
		return again == atOnce, sooner(again, left)
	}
	a.enter(next)
	return true, 0
}

// enter brings the attempt into a stage.
func (a *attempt) enter(to stage) {
	from := a.stage
	if from == queued && to == behind {
		a.joinOthers()
	}
	if a.in.Staged != nil {
		a.in.Staged(a.IDs(), from.String(), to.String())
	}
	a.stage, a.do, a.timer.limit = to, nil, 0
	if limit := table[to].limit; limit != nil {
		a.within(limit(a))
	}
	switch {
	case to == ended:
		a.end(from)
	case to.rests():
		a.release()
	}
}

// end reports the end of an attempt, and remembers what it has left behind.
func (a *attempt) end(from stage) {
	in := a.in
	if a.result != nil {
		in.end(a, from)
		in.drop(left)
	}
	a.release()
	if r := a.result; r != nil && r.Status == Doubtful && r.Code == protocol.FaultStranded && in.Profile.Composer != nil {
		a.enter(left)
	}
	in.drop(ended)
}

// over ends an attempt. Where the agent's end would explain what happened, it is waited for a
// moment: a write to a terminal that is going away fails a little before that end can be seen.
func (a *attempt) over(r Result) (stage, time.Duration) {
	if a.line.entered > 0 && r.Status != Delivered {
		r.Status, r.Cause = Doubtful, a.line.partly(r.Cause)
	}
	a.result = &r
	if r.Code == protocol.FaultNoConsume || r.Code == protocol.FaultStranded {
		return leaving, 0
	}
	return a.bringBack(ended), 0
}

// leaving waits for the agent's end, where that explains how the attempt ended.
func (a *attempt) leaving() do {
	a.within(proofRest / 6)
	if a.term.broken {
		a.within(5 * proofRest)
	}
	return func(_ context.Context, s step) (stage, time.Duration) {
		switch {
		case s.Facts.Exited && a.pressed.at.IsZero():
			a.result = new(failed(protocol.FaultAgentExited, "the agent ended before the message was submitted"))
		case s.Facts.Exited:
			a.result = new(doubtful(protocol.FaultAgentExited, "the agent ended while it was given the message"))
		case !s.Facts.Stopped && !s.over:
			return leaving, 0
		}
		return a.bringBack(ended), 0
	}
}
