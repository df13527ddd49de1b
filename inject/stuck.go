package inject

import (
	"cmp"
	"time"

	"relay-pty/inject/ready"
	"relay-pty/inject/waits"
	"relay-pty/protocol"
)

// stuckAfter is how long nothing may change before it is asked whether anything still can.
const stuckAfter = time.Minute

// standing is how all stands that waits depend on. While it is the same, nothing has changed.
type standing struct {
	state        ready.State
	hold         Hold
	next, stages string
}

// stuck names the waits that nothing can end any more, when nothing has changed for a while, and
// else tells when to ask again.
func (in *Injector) stuck(s step) (finding string, again time.Duration) {
	is := standing{state: s.verdict.State, hold: s.hold}
	if s.next != nil {
		is.next = s.next.Turn[0].ID
	}
	for _, a := range in.attempts {
		is.stages += string(rune('a' + a.stage))
	}
	long, left := in.still.For(is, s.Facts.Now, stuckAfter)
	switch {
	case is.next == "" && is.stages == "" || s.Facts.Exited:
		return "", 0
	case long:
		return waits.Dead(in.waits(s)), 0
	}
	return "", left
}

// waits are all that wait, each for what can end that.
func (in *Injector) waits(s step) (list []waits.Wait) {
	for _, a := range in.attempts {
		w := waits.Wait{Who: a.who(), For: []string{waits.Time}}
		switch {
		case len(a.Turn) == 0: // nobody waits for that
			continue
		case a.stage == behind && s.hold != "":
			w.For = in.endsHold(s)
		case s.blocked() || s.verdict.State == ready.Stopped || a.stage == tardy:
			w.For = []string{waits.Human}
		case a.stage == queued && s.verdict.State != ready.Ready:
			w.For = []string{waits.Agent}
		case a.stage == queued && a.cameBack && a.leftIn(s.Box):
			w.For = []string{waits.Human} // who took it back
			if b := in.at(behind); b != nil {
				w.For = []string{b.who()}
			}
		}
		list = append(list, w)
	}
	if s.next == nil {
		return list
	}
	w := waits.Wait{Who: s.next.Turn[0].ID, For: in.endsHold(s)}
	if a := cmp.Or(in.at(behind), in.active()); a != nil {
		w.For = []string{a.who()}
	}
	return append(list, w)
}

// endsHold is what can end what holds messages; nothing where nothing holds them and yet they wait.
func (in *Injector) endsHold(s step) (list []string) {
	switch {
	case s.hold == "":
		return nil
	case s.hold == protocol.WaitsForReady, s.hold == protocol.WaitsForTurn && s.verdict.State != ready.Ready:
		return []string{waits.Agent}
	case s.hold != protocol.WaitsForTurn:
		return []string{waits.Human}
	}
	for _, a := range in.attempts {
		if a.stage == queued {
			list = append(list, a.who())
		}
	}
	return list
}

// who names the attempt.
func (a *attempt) who() string {
	if len(a.Turn) == 0 {
		return a.stage.String()
	}
	return a.Turn[0].ID + " (" + a.stage.String() + ")"
}
