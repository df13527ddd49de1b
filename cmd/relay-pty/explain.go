package main

import (
	"fmt"
	"time"

	"relay-pty/cmd/relay-pty/agentlog"
	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/protocol"
)

// explain is what an explain request is answered with: the verdict of the last look, and the signs
// that it stands on.
func (w *wrapper) explain() *protocol.ExplainAnswer {
	r, now := w.board.get(), time.Now()
	signs := w.tuned().Rules.Signs(r.Facts, r.Verdict)
	if log := w.history(); log != nil {
		sign := logSign(log.Standing(), log.Profile.Remote, r.Verdict.State, now)
		if sign.Wins = rests(r.Verdict) && r.Verdict.State == ready.Blocked; sign.Wins {
			sign.Says = r.Verdict.BlockedBy
		}
		signs = append(signs, sign)
	}
	if why := w.hearing().unread(); why != "" {
		signs = append(signs, ready.Sign{Name: protocol.SignMarkers, Says: why})
	}
	a := &protocol.ExplainAnswer{State: string(r.Verdict.State), BlockedBy: protocol.OrNull(r.Verdict.BlockedBy)}
	for _, s := range signs {
		told := protocol.Sign{Name: s.Name, Says: parser.OneLine(s.Says), Wins: s.Wins, Fault: s.Fault}
		if !s.Since.IsZero() {
			told.Since = new(s.Since.UnixMilli())
		}
		a.Signs = append(a.Signs, told)
	}
	return a
}

// logLate is how long a log may take to show a message that was delivered: agents write it as its
// turn begins.
const logLate = 30 * time.Second

// logSign tells how it stands with the agent's own log. An agent at work may yet write. remote is
// how another process may keep it.
func logSign(is agentlog.Standing, remote string, state ready.State, now time.Time) ready.Sign {
	sign := ready.Sign{Name: protocol.SignLog, Since: is.Owed}
	works := state == ready.Busy || state == ready.Blocked
	sign.Fault = !is.Owed.IsZero() && !works && now.Sub(is.Owed) >= logLate
	const deaf = ": what the agent writes to others is not read, and nobody hears its answers"
	switch {
	case sign.Fault && is.Found:
		sign.Says = fmt.Sprintf("a message was delivered, and the log that is read, in %s, does not show it%s", is.Dir, deaf)
	case sign.Fault:
		sign.Says = fmt.Sprintf("a message was delivered, and no log of this session is found in %s%s", is.Dir, deaf)
		if remote != "" {
			sign.Says += "; " + remote
		}
	case is.Found && !is.Left.IsZero():
		sign.Says = "found in " + is.Dir + ", and read, but for turns that were begun in another terminal, the last at " +
			is.Left.Local().Format(time.DateTime)
	case is.Found:
		sign.Says = "found in " + is.Dir + ", and read"
	case is.Dir == "":
		sign.Says = "it was not looked for yet"
	default:
		sign.Says = "none of this session is in " + is.Dir + " yet; some agents begin it with the first message"
	}
	return sign
}
