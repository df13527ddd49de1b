package main

import (
	"os"

	"relay-pty/inject/agents"
	"relay-pty/protocol/process"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// foreign says why whoever connected is not of the agent's session though it has the token, "" if
// nothing tells against it.
//
// Who may speak may not always read: what the session left in its own process when that moved into
// the background has nobody to tell.
func (w *wrapper) foreign(c *sock.Conn, reads bool) string {
	job, _ := w.became.Load().(string)
	if reads && job == "" {
		return "" // it was looked at when it began to speak
	}
	line := c.Descent(os.Getpid())
	if len(line) == 0 {
		return ""
	}
	env := process.Environ(line[0].PID)
	if reads && agents.Left(env, job) {
		return "the agent's session goes on as background session " + job + ", and does not hear of what is read here"
	}
	return agents.Foreign(line, env, job)
}

// moved is told which background session the agent's own has become, "" if it is none: what belongs
// to that one speaks as the agent.
func (w *wrapper) moved(job string) {
	if was, _ := w.became.Swap(job).(string); was != job {
		w.log.Info().Str("id", job).Msg("the session moved into the background")
		w.tell(func(r *registry.Record) { r.Job = job })
	}
}

// tell changes what others find of us in the lists of wrappers.
func (w *wrapper) tell(change func(*registry.Record)) {
	if err := w.taken.change(change); err != nil {
		w.log.Error().Err(err).Msg("names")
	}
}
