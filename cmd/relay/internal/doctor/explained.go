package doctor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// live is a wrapper that answers.
type live struct {
	registry.Record
	status *protocol.StatusAnswer
	why    *protocol.ExplainAnswer // nil: it does not tell
	err    error                   // what kept it from that
}

// explains is the request that wrappers of earlier releases do not know, and can do without.
var explains = (&protocol.Explain{}).Type()

// explained asks all that answer at once why their agents are as they are, and finds those that get
// no messages, or whose answers nobody hears.
func (d *Doctor) explained(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var asked sync.WaitGroup
	for i := range d.live {
		l := &d.live[i]
		asked.Go(func() { l.why, l.err = ask[*protocol.ExplainAnswer](ctx, l.Socket, &protocol.Explain{}) })
	}
	asked.Wait()
	for _, l := range d.live {
		d.judge(l)
	}
}

// longUnready is after what time an agent of which nothing is known is one that we do not
// understand.
const longUnready = time.Minute

// judge finds what is wrong with one agent.
func (d *Doctor) judge(l live) {
	const check = "agents"
	var refused *protocol.Error
	switch {
	case errors.As(l.err, &refused) && refused.Code == protocol.UnknownType:
		d.untidy(check, "end "+l.Name+", and start it with the relay-pty that is installed",
			"the wrapper of %s is older than relay, and cannot explain how its agent is", l.Name)
	case l.err != nil:
		d.broken(check, "look at process "+number(l.PID), "the wrapper of %s does not explain how its agent is: %v", l.Name, l.err)
	}
	deaf := false
	if l.why != nil {
		l.status.State, l.status.BlockedBy = l.why.State, l.why.BlockedBy // they belong together
		for _, s := range l.why.Signs {
			if s.Fault {
				d.broken(check, "end "+l.Name+" and start it anew, or go back to the session in which it began; relay explain "+l.Name+" shows more",
					"the sign %s of %s: %s", s.Name, l.Name, s.Says)
			}
		}
		deaf = l.why.BlockedBy != "" && slices.ContainsFunc(l.why.Signs, func(s protocol.Sign) bool { return s.Wins && s.Name == protocol.SignComposer })
	}
	starting := l.status.State == protocol.StateStarting || l.status.State == protocol.StateUnknown
	if starting && (deaf || time.Duration(l.status.UptimeMS)*time.Millisecond >= longUnready) {
		d.unclear(check, l.Record, l.status)
	}
}

// unclear tells of an agent whose screen says nothing to us.
func (d *Doctor) unclear(check string, r registry.Record, s *protocol.StatusAnswer) {
	switch s.BlockedBy {
	case "":
	case protocol.BlockedByForeground:
		d.untidy(check, "they are typed when it ends", "messages to %s wait: %s", r.Name, s.BlockedBy)
		return
	default:
		d.broken(check, "do what that says", "%s gets no messages: %s", r.Name, s.BlockedBy)
		return
	}
	d.broken(check, "relay-pty --check-profile "+s.Agent+" shows what of the profile holds no more; relay screen "+r.Name+" shows the agent",
		"%s gets no messages: for %v it has shown nothing by which profile %s knows that it is ready", r.Name,
		(time.Duration(s.UptimeMS) * time.Millisecond).Round(time.Second), s.Agent)
}
