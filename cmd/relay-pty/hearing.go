package main

import (
	"relay-pty/protocol"
	"relay-pty/pty/screen"
)

// hearing is by which ways the words of an agent reach others at a moment.
type hearing struct {
	markers string // where they are read from
	off     bool   // because the user said so
	draws   bool   // the agent has the alternate screen
	log     bool   // its own is followed
	speaks  bool   // something has spoken as the agent: relay's tools, its hooks, a script
}

// unread is why nobody reads the agent's markers, "" if they are read.
func (h hearing) unread() string {
	switch {
	case h.markers == protocol.SourceLog, h.markers == protocol.SourceStream && !h.draws:
		return ""
	case h.markers == protocol.SourceStream:
		return "it draws a screen of its own, where no marker can be found"
	case h.off:
		return "its markers are switched off (--markers off)"
	}
	return "no markers are read from a shell, which prints anybody's words"
}

// unheard is why no answer of the agent can be expected, "" if one can: the last words of a turn
// are an answer, too, and what speaks as the agent can answer by itself.
func (h hearing) unheard() string {
	if h.speaks || h.log {
		return ""
	}
	return h.unread()
}

// hearing looks by which ways the agent's words come now.
func (w *wrapper) hearing() hearing {
	k := w.is.Load()
	h := hearing{markers: k.markers, off: w.cfg.Markers == markersOff, log: k.history != nil, speaks: w.spoke.Load()}
	w.agent.Session.View(func(s *screen.Screen) { h.draws = s.Modes().AltScreen })
	return h
}

// unread reports whether nobody reads the agent's markers now.
func (w *wrapper) unread() bool { return w.hearing().unread() != "" }
