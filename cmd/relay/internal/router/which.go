package router

import (
	"slices"
	"strings"

	"relay-pty/protocol"
)

// LastID is the word for the last message to or from whoever asks.
const LastID = "last"

const (
	// whichMost is how many ids are named that begin alike.
	whichMost = 5
	// whichLeast is how many characters stand for an id that they begin: by fewer, a mistyped r-2
	// means somebody's r-2d7c73x0 in one case of 32.
	whichLeast = 4
)

// Which is the id of the message that somebody means by a word: an id, four characters or more that
// begin one alone, or last. A refusal is an *ErrorValue.
func (s *State) Which(word, me string) (id string, err error) {
	if m := s.look(word); m != nil {
		return m.ID, nil
	}
	if word == LastID {
		list, _ := s.Newest(0, 1, func(m *Message) bool { return m.To == me || m.From == me && m.Channel == "" })
		if len(list) == 0 {
			return "", refuse(string(protocol.UnknownID), "there is no message to or from %s", me)
		}
		return list[0].ID, nil
	}
	if len(word) < whichLeast {
		return "", refuse(string(protocol.UnknownID), "no message has the id %s, and its beginning needs %d characters", word, whichLeast)
	}
	found := s.begun(word)
	switch len(found) {
	case 0:
		return "", refuse(string(protocol.UnknownID), "no message has the id %s", word)
	case 1:
		return found[0], nil
	}
	e := refuse(string(protocol.UnknownID), "%d ids begin with %s", len(found), word)
	e.Candidates = found[:min(len(found), whichMost)]
	if e.Message += ": " + strings.Join(e.Candidates, ", "); len(found) > whichMost {
		e.Message += ", …"
	}
	return "", e
}

// begun are the ids that begin so, the newest first. What belongs to a message, whose id stands
// before a colon, is not counted beside that message.
func (s *State) begun(word string) (found []string) {
	for _, m := range slices.Backward(s.later) {
		if strings.HasPrefix(m.ID, word) || strings.HasPrefix(m.ShortID, word) {
			found = append(found, m.ID)
		}
	}
	for i := len(s.order) - 1; i >= 0; i-- {
		l := &s.order[i]
		if l.describe(); strings.HasPrefix(l.ID, word) || strings.HasPrefix(l.short, word) {
			found = append(found, l.ID)
		}
	}
	there := map[string]bool{}
	for _, id := range found {
		there[id] = true
	}
	return slices.DeleteFunc(found, func(id string) bool {
		for at := strings.LastIndexByte(id, ':'); at > 0; at = strings.LastIndexByte(id[:at], ':') {
			if there[id[:at]] {
				return true
			}
		}
		return false
	})
}
