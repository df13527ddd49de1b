package main

import (
	"time"

	"relay-pty/cmd/relay-pty/agentlog"
	"relay-pty/inject"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
)

// kind is what the agent is taken for. A command that nobody has described may turn out to start an
// agent that has a profile; then it is taken for that from then on.
type kind struct {
	profile *profile.Profile
	markers string        // where they are read from
	history *agentlog.Log // the agent's own; nil when it keeps none
}

func (w *wrapper) profile() *profile.Profile { return w.is.Load().profile }
func (w *wrapper) history() *agentlog.Log    { return w.is.Load().history }

// take takes the agent for one of a profile, which runs as pid.
func (w *wrapper) take(p *profile.Profile, pid int) {
	k := &kind{profile: p, markers: w.cfg.markers(p)}
	if p.Log != nil {
		k.history = w.follow(*p.Log, pid, k.markers)
	}
	w.is.Store(k)
}

// become looks whether the command has turned out to start an agent that has a profile, and takes
// it for that one. So is a shell in whose place another one reads. The injector's loop asks it
// between two attempts.
func (w *wrapper) become() (*profile.Profile, inject.Log) {
	if p := w.agent.Reader(); p != nil {
		w.agent.Become(p)
		w.take(p, w.agent.Session.PID())
		w.log.Info().Str("state", p.Language).Msg("another shell reads")
		return w.tuned(), nil
	}
	if !w.profile().Rules.Reserved || w.cfg.agent != "" || w.cfg.Prompt != "" {
		return nil, nil // it has turned out, or the user has said what it is
	}
	p, pid := w.agent.Found()
	if p == nil {
		return nil, nil
	}
	w.agent.Become(p)
	w.take(p, pid)
	w.turning.Chips = p.Chips()
	w.log.Info().Int("n", pid).Str("state", p.Name).Msg("found the agent")
	w.tell(func(r *registry.Record) { r.Agent = p.Name })
	if log := w.history(); log != nil {
		w.follows(log)
		return w.tuned(), log
	}
	return w.tuned(), nil
}

// said takes what the output holds, as long as markers are read there.
func (w *wrapper) said(i parser.Item) {
	if w.is.Load().markers == protocol.SourceStream {
		w.heard(i, protocol.SourceStream, "")
	}
}

// follow follows the log that the agent keeps; nil where its format is not known.
func (w *wrapper) follow(l profile.Log, pid int, markers string) *agentlog.Log {
	var marker func(transcript.Found)
	if markers == protocol.SourceLog {
		marker = func(found transcript.Found) { w.heard(found.Item, protocol.SourceLog, found.ID) }
	}
	return agentlog.New(agentlog.Agent{
		Profile: l, PID: pid, Started: w.agent.Started, Output: w.agent.Session.Watch(), LastKey: w.agent.LastKey,
		Rests: func() bool { return rests(w.board.get().Verdict) },
		Word: func(word ready.Word) {
			w.moved(word.Job)
			if w.agent.Own.Set(word) {
				w.wake()
			}
		},
		Marker:  marker,
		TurnEnd: w.turnEnded,
		Shown:   w.wake,
		Failed:  func(err error) { w.log.Warn().Err(err).Msg("agent's log") },
	})
}

// turn is what the turn was given that speaks now, and how many tools it has used; nil where no log
// tells.
func (w *wrapper) turn() (ids []string, tools *int) {
	log := w.history()
	if log == nil {
		return []string{}, nil
	}
	given := log.Given()
	return w.box.IDs(given.IDs), &given.Tools
}

// tuned is the profile with the user's own settings.
func (w *wrapper) tuned() *profile.Profile {
	p := *w.profile()
	if w.cfg.Prompt != "" {
		p.Rules.NeedPrompt, p.Rules.Reserved, p.Continued = true, false, nil
	}
	p.Rules.Unfound = p.Unfound(w.cfg.Name)
	p.Rules.Quiet = w.cfg.Idle
	p.Rules.RawQuiet = max(p.Rules.RawQuiet, w.cfg.Idle)
	return &p
}

// shown says which messages stand in the agent's logs, in whatever conversation.
func (w *wrapper) shown(since time.Time, ids []string) map[string]bool {
	log := w.history()
	if log == nil {
		return nil
	}
	return log.Search(since, ids)
}

// proof is the log that the agent keeps at the moment, if it keeps one.
type proof struct{ w *wrapper }

func (p proof) Took(id string) bool {
	log := p.w.history()
	return log != nil && log.Took(id)
}

func (p proof) Look() {
	if log := p.w.history(); log != nil {
		log.Look()
	}
}

func (p proof) ExpectHanded(id string) {
	if log := p.w.history(); log != nil {
		log.ExpectHanded(id)
	}
}

func (p proof) Owe(id string) {
	if log := p.w.history(); log != nil {
		log.Owe(id)
	}
}

func (p proof) Forget(id string) {
	if log := p.w.history(); log != nil {
		log.Forget(id)
	}
}
