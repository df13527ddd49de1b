package main

import (
	"errors"
	"sync"
	"time"

	"relay-pty/inject"
	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/pty/screen"
	"relay-pty/queue"
)

// board is the injector's last report, for those who ask between two.
type board struct {
	mu     sync.Mutex
	report inject.Report
	untold bool // nobody has heard of the report's state, for the disk failed
}

func (b *board) get() inject.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.report
}

// put keeps the report and reports whether the state, or what blocks it, changed.
func (b *board) put(r inject.Report) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.report.Verdict
	b.report = r
	return was.State != r.Verdict.State || was.BlockedBy != r.Verdict.BlockedBy
}

// tell has the state told when it changed, and when it could not be told before.
func (b *board) tell(changed bool, tell func(ready.Verdict) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.untold = (b.untold || changed) && errors.Is(tell(b.report.Verdict), queue.ErrDegraded)
}

// report turns the injector's reports into events.
func (w *wrapper) report(r inject.Report) {
	r = w.refusedReport(r)
	r.Verdict.BlockedBy = parser.OneLine(r.Verdict.BlockedBy) // from the agent's screen, files or signals
	v, changed := r.Verdict, w.board.put(r)
	if changed {
		w.memory.Used()
		w.log.Info().Str("state", string(v.State)).Str("by", string(v.Confidence)).Str("blocked", v.BlockedBy).Msg("state")
	}
	w.board.tell(changed, w.tellState)
	if changed && w.stream != nil && v.State == ready.Ready && v.Confidence != ready.ByGuess {
		w.stream.End() // its turn is over; silence alone may be a pause within one
	}
	if err := w.box.WaitsFor(string(r.Hold), time.Now()); err != nil {
		w.log.Error().Err(err).Msg("hold")
	}
	if changed && len(w.box.Lent()) > 0 {
		w.box.Wake() // a lease may end with a turn
	}
	if w.notice != nil {
		w.notice.report(r.Hold, w.box.Len())
	}
}

// tellState tells of the agent's state. While the disk fails nobody hears of it, and the look that
// follows the disk's recovery tells it anew.
func (w *wrapper) tellState(v ready.Verdict) error {
	err := w.events.Tell(&protocol.State{State: string(v.State), Confidence: string(v.Confidence), BlockedBy: protocol.OrNull(v.BlockedBy)}, time.Now())
	if err != nil && !errors.Is(err, queue.ErrDegraded) {
		w.log.Error().Err(err).Msg("state")
	}
	return err
}

// status is what a status request is answered with.
func (w *wrapper) status() *protocol.StatusAnswer {
	box, fault := w.box.Glance(), w.events.Fault() // before the board, which is told of an end before the mailbox
	r, now := w.board.get(), time.Now()
	s := &protocol.StatusAnswer{
		AgentIdle: r.Verdict.State == ready.Ready, QueueLength: box.Waiting,
		Name: w.cfg.Name, PID: w.agent.Session.PID(), Agent: w.profile().Name,
		State: string(r.Verdict.State), Confidence: string(r.Verdict.Confidence),
		BlockedBy: protocol.OrNull(r.Verdict.BlockedBy), CanAccept: r.Accepts,
		Accept: box.Accepting && fault == nil, Draft: r.Draft, DraftStays: r.Stays,
		WaitingFor: protocol.OrNull(box.WaitingFor), Injecting: protocol.OrNull(box.Injecting),
		Protocol: protocol.Version, Features: protocol.Features(),
		UptimeMS: now.Sub(w.agent.Started).Milliseconds(), Degraded: fault != nil, Paused: box.Paused,
		Unheard: w.hearing().unheard(),
	}
	w.agent.Session.View(func(sc *screen.Screen) {
		row, col := sc.Cursor()
		s.CursorPosition = [2]int{col, row}
		s.Size.Rows, s.Size.Cols = sc.Size()
	})
	s.LastOutputMS = age(w.agent.Session.LastOutput(), now)
	s.HumanIdleMS = age(w.agent.LastKey(), now)
	s.OldestPendingMS = age(box.Oldest, now)
	return s
}

// screen is what a screen request is answered with.
func (w *wrapper) screen() *protocol.ScreenAnswer {
	a := &protocol.ScreenAnswer{}
	w.agent.Session.View(func(sc *screen.Screen) {
		row, col := sc.Cursor()
		a.CursorPosition = [2]int{col, row}
		a.Size.Rows, a.Size.Cols = sc.Size()
		a.Rows = make([]string, a.Size.Rows)
		for r := range a.Rows {
			a.Rows[r] = parser.Printable(sc.Row(r))
		}
	})
	return a
}

// age is the milliseconds since at, nil when there was none.
func age(at, now time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	ms := max(0, now.Sub(at).Milliseconds())
	return &ms
}

// append puts an event into the log; one that cannot be encoded is our bug, told in the log file.
func (w *wrapper) append(ev protocol.Event) {
	if err := w.events.Tell(ev, time.Now()); err != nil {
		w.log.Error().Err(err).Str("state", ev.Type()).Msg("event")
	}
}

// signal takes the agent's word over the socket and wakes the injector.
func (w *wrapper) signal(r *protocol.Signal) {
	w.agent.Own.Say(signalled(r.Event), r.Detail)
	w.wake()
}

func signalled(event string) ready.State {
	switch event {
	case protocol.SignalReady, protocol.SignalTurnEnd:
		return ready.Ready
	case protocol.SignalBlocked:
		return ready.Blocked
	}
	return ready.Busy
}
