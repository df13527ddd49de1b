package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/parser/transcript"
	"relay-pty/protocol"
)

// history looks at the files that the agent keeps of its own session: its state,
// and what it said and was told. When it looks is pace's to say.
type history struct {
	w      *wrapper
	format transcript.Format
	log    profile.Log
	output <-chan struct{}
	heard  chan struct{} // wakes the injector

	mu      sync.Mutex
	follow  *transcript.Log
	at      string          // the agent's directory that it looks at
	found   bool            // and has found a session in
	pending map[string]bool // ids on their way to the agent, and whether a turn has shown them
	lent    map[string]bool // those that a consumer hands over, perhaps with a tool's answer
	turn    transcript.Turn // the present one
	failed  bool            // the last look failed, as the log was told
}

// newHistory returns nil where the log's format is not known.
func newHistory(w *wrapper, l profile.Log) *history {
	format, ok := transcript.Named(l.Format)
	if !ok {
		return nil
	}
	return &history{
		w: w, format: format, log: l,
		output: w.agent.Session.Watch(), heard: w.told,
		pending: map[string]bool{}, lent: map[string]bool{},
	}
}

// dir is the agent's own directory, by the environment that the agent was
// started with where the system shows it, for a script may have changed ours.
func (h *history) dir(pid int) string {
	env := os.Environ()
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && len(b) > 0 {
		env = strings.Split(string(b), "\x00")
	}
	home := ""
	for _, kv := range env {
		switch name, value, _ := strings.Cut(kv, "="); {
		case name == h.log.HomeEnv && value != "":
			return filepath.Join(value, h.log.Within)
		case name == "HOME":
			home = value
		}
	}
	return filepath.Join(home, h.log.Home)
}

// run looks until ctx ends.
func (h *history) run(ctx context.Context) error {
	var p pace
	for {
		var timer <-chan time.Time
		if wait, soon := p.next(time.Now()); soon {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.output:
			p.spoke(time.Now())
		case <-timer:
		}
		switch now := time.Now(); {
		case p.due(now):
		case p.glances(now) && h.grown():
			p.spoke(now)
		default:
			continue
		}
		h.look()
		if rests := p.looked(time.Now()); rests && h.w.board.get().Verdict.State == ready.Ready {
			h.rest()
		}
	}
}

// grown says whether the log that was found has changed since the last look.
func (h *history) grown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.follow != nil && h.follow.Grown()
}

// look reads what is new.
func (h *history) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	pid := h.w.agent.Session.PID()
	if !h.found {
		if dir := h.dir(pid); h.follow == nil || dir != h.at {
			h.at, h.follow = dir, transcript.Follow(h.format, dir, pid, h.w.agent.Started)
			h.follow.Expected = h.pending
		}
	}
	session, entries, err := h.follow.Look()
	h.found = h.found || err == nil
	h.tell(err)
	word := ready.Word{}
	if err == nil {
		word = ready.Word{State: h.log.Words[session.Status], Detail: session.WaitingFor, At: session.StatusAt}
	}
	if h.w.agent.Own.Set(word) {
		h.wake()
	}
	for _, e := range entries {
		h.take(e)
	}
}

// take draws from an entry what it says to others, and what it proves.
func (h *history) take(e transcript.Entry) {
	if h.w.cfg.Markers == protocol.SourceLog {
		for _, found := range transcript.Commands(e) {
			h.w.heard(found.Item, protocol.SourceLog, found.ID)
		}
	}
	for id, shown := range h.pending {
		if !shown && (transcript.Accepted(e, id) || h.lent[id] && transcript.Gave(e, id)) {
			h.pending[id] = true
			h.wake()
		}
	}
	if h.turn.Take(e); e.Kind == transcript.TurnEnd {
		h.tellTurn()
	}
}

// rest ends the turn of an agent that is quiet, where its log does not tell, or told too early.
func (h *history) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.format.Ends() || h.turn.Over() {
		h.tellTurn()
	}
}

// tellTurn tells of the end of a turn whose last words may be an answer.
func (h *history) tellTurn() {
	ids, words := h.turn.End()
	if len(words) > protocol.MaxBody {
		words = strings.ToValidUTF8(words[:protocol.MaxBody], "")
	}
	if len(ids) > 0 {
		h.w.append(&protocol.TurnEnd{IDs: ids, Text: words})
	}
}

// expect says that the message is being typed, so that its turn may show.
func (h *history) expect(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending[id] = false
}

// expectHanded says that a consumer is about to get the message: a hook's words and a tool's answer
// may show it. What is typed no answer proves, which may be of an attempt before.
func (h *history) expectHanded(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending[id], h.lent[id] = false, true
}

// forget says that the message has ended.
func (h *history) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pending, id)
	delete(h.lent, id)
}

// Took says whether the log shows the message in a turn.
func (h *history) Took(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pending[id]
}

func (h *history) wake() {
	select {
	case h.heard <- struct{}{}:
	default: // it has not looked yet
	}
}

// tell logs a failure once; that there is no session yet is none.
func (h *history) tell(err error) {
	if failed := err != nil && !errors.Is(err, transcript.ErrNoSession); failed != h.failed {
		if h.failed = failed; failed {
			h.w.log.Warn().Err(err).Msg("agent's log")
		}
	}
}

// shown says which messages stand in the agent's logs, in whatever conversation.
func (w *wrapper) shown(since time.Time, ids []string) map[string]bool {
	if w.history == nil {
		return nil
	}
	return transcript.Search(w.history.format, w.history.dir(w.agent.Session.PID()), since, ids)
}
