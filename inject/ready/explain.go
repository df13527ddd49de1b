package ready

import (
	"cmp"
	"fmt"
	"time"

	"relay-pty/protocol"
)

// Sign is a part of what a verdict stands on, for people.
type Sign struct {
	Name  string // of package protocol
	Says  string
	Since time.Time // zero: not known
	Wins  bool      // the verdict is this one's
	Fault bool      // something is wrong with what it tells of
}

// Signs lists what a verdict on the facts stands on, in the order in which signs count, the
// strongest first. It is made for a verdict that was asked about, not for each.
func (r Rules) Signs(f Facts, v Verdict) []Sign {
	list := []Sign{
		{Name: protocol.SignProcess, Says: f.process(), Since: f.Started},
		{Name: protocol.SignTerminal, Says: r.terminal(f)},
		{Name: protocol.SignDialog, Says: f.dialog(v), Since: f.Asked},
		{Name: protocol.SignBusyRow, Says: f.busyRow(), Since: f.Worked},
	}
	if f.Own.Job != "" {
		list = append(list, Sign{Name: protocol.SignSession, Says: r.moved(f.Own.Job), Since: f.Own.At})
	}
	list = append(list, f.words()...)
	if r.Reserved {
		list = append(list, Sign{Name: protocol.SignProfile, Says: cmp.Or(r.reserve(f), "nobody has described this program; it reads lines"), Since: f.Started})
	}
	if r.HasComposer {
		list = append(list, Sign{Name: protocol.SignComposer, Says: r.composer(f), Since: Later(f.Stood, f.Lost)})
	}
	if !r.HasComposer || r.NeedPrompt {
		list = append(list, Sign{Name: protocol.SignPrompt, Says: f.prompt()})
	}
	list = append(list,
		Sign{Name: protocol.SignTurn, Says: f.turn(), Since: Later(f.Submitted, f.LastBusy)},
		Sign{Name: protocol.SignSilence, Says: f.silence(), Since: Later(Later(f.LastOutput, f.LastInput), f.Started)})
	for i := range list {
		if list[i].Name == v.By {
			list[i].Wins = true
			break
		}
	}
	return list
}

// words are the agent's own, each from where it was heard, and the one that counts even if that was
// heard nowhere else.
func (f Facts) words() (list []Sign) {
	counts := f.Own.State != ""
	for _, w := range f.Heard {
		if w.State != "" {
			list = append(list, w.sign())
			counts = counts && w.from() != f.Own.from()
		}
	}
	if counts {
		list = append(list, f.Own.sign())
	}
	return list
}

func (w Word) sign() Sign {
	says := string(w.State)
	if w.Detail != "" {
		says += ": " + w.Detail
	}
	return Sign{Name: w.from(), Says: says, Since: w.At}
}

func (f Facts) process() string {
	switch {
	case f.Exited:
		return "it has ended"
	case f.Stopped:
		return "it is stopped by a job-control signal"
	}
	return "it runs"
}

func (r Rules) terminal(f Facts) string {
	mode := "lines"
	if f.Raw {
		mode = "keys"
	}
	switch {
	case !f.Foreground:
		return protocol.BlockedByForeground
	case f.Stranger != "":
		return f.Stranger + strange
	case f.Rows > 0 && f.Rows < r.Rows:
		return fmt.Sprintf("it has %d rows; the composer shows from %d on", f.Rows, r.Rows)
	}
	return "the agent has it, and reads " + mode
}

func (f Facts) dialog(v Verdict) string {
	switch {
	case f.Dialog != "":
		return f.Dialog
	case v.By == protocol.SignDialog:
		return "what may be one has just come, and is looked at again in a moment"
	case f.MaybeDialog != "":
		return "none; this row alone would be one: " + f.MaybeDialog
	}
	return "none"
}

func (f Facts) busyRow() string {
	switch {
	case !f.Working:
		return "none"
	case f.Mark == "":
		return "it holds prompts back"
	}
	return f.Mark
}

func (r Rules) composer(f Facts) string {
	switch {
	case !f.Composer:
		return cmp.Or(r.Unfound, "not on the screen")
	case f.Mode != "":
		return f.inMode()
	case f.WasReady:
		return "on the screen"
	}
	return "on the screen; the first one must stand for a moment"
}

func (f Facts) prompt() string {
	if f.AtPrompt {
		return "the row up to the cursor is one"
	}
	return "the row up to the cursor is none"
}

func (f Facts) turn() string {
	switch {
	case f.Submitted.IsZero() && f.LastBusy.IsZero():
		return "nothing was submitted yet"
	case f.LastBusy.Before(f.Submitted):
		return "text was submitted, and no turn has shown"
	}
	return "it was seen at work, or asking, last"
}

func (f Facts) silence() string {
	if f.LastOutput.IsZero() {
		return "it has printed nothing yet"
	}
	return "nothing was printed or entered since"
}
