package main

import (
	"time"

	"relay-pty/inject"
	"relay-pty/inject/ready"
	"relay-pty/inject/refusal"
	"relay-pty/protocol"
)

// turnEnded tells of the end of a turn. Where the API of the agent's model refused it, messages
// wait.
func (w *wrapper) turnEnded(ev *protocol.TurnEnd) {
	now := time.Now()
	if ev.Outcome == protocol.OutcomeRefused {
		var retryAt time.Time
		if ev.RetryAt != 0 {
			retryAt = time.UnixMilli(ev.RetryAt)
		}
		w.refused.Refused(ev.Reason, ev.Text, retryAt, now)
	} else {
		w.refused.Ended(ev.Outcome == protocol.OutcomeInterrupted)
	}
	w.wake()
	ev.IDs = w.box.IDs(ev.IDs)
	w.append(ev)
}

// refusedReport is the report with what the agent's own screen does not show: that the API of its
// model takes no requests, so that messages wait although the agent rests.
func (w *wrapper) refusedReport(r inject.Report) inject.Report {
	now := time.Now()
	was := w.board.get().Verdict
	defer func() {
		if was.By == protocol.SignLog && was.BlockedBy != r.Verdict.BlockedBy {
			w.box.Wake() // what consumers may get is another now
		}
	}()
	if why := w.refused.Why(now); why != "" && r.Verdict.State == ready.Ready {
		r.Verdict = ready.Verdict{State: ready.Blocked, Confidence: ready.BySignal, BlockedBy: why, By: protocol.SignLog}
		if is, _ := w.refused.State(now); is == refusal.Shut && (r.Hold == "" || r.Hold == protocol.WaitsForHuman) {
			r.Hold = protocol.WaitsForReady
		}
	}
	return r
}

// rests reports whether the agent shows that it is ready, also where its API is known to refuse it.
func rests(v ready.Verdict) bool { return v.State == ready.Ready || v.By == protocol.SignLog }

// lends is how many messages the agent's hooks and tools may get, of as many as they ask for. With
// one an agent at rest begins a turn, which its API may refuse. One at work is heard by its API.
func (w *wrapper) lends(most int) int {
	is, _ := w.refused.State(time.Now())
	switch {
	case is == refusal.Open || !rests(w.board.get().Verdict):
		return most
	case is == refusal.Trial:
		return 1
	}
	return 0
}

// lent is told of messages right before a consumer gets them.
func (w *wrapper) lent(ids []string) {
	w.refused.Try(time.Now(), 1)
	w.leases.Lent(ids)
}

// resume ends a pause, and has a message tried at once where the agent's API refuses.
func (w *wrapper) resume() error {
	err := w.ledger.Resume()
	w.refused.Resume(time.Now())
	w.wake()
	return err
}
