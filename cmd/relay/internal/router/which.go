package router

import (
	"slices"
	"strconv"
	"strings"

	"relay-pty/protocol"
)

// LastID is the word for the last message to or from whoever asks.
const LastID = "last"

const (
	// whichMost is how many ids are named that begin alike.
	whichMost = 5
	// BeginLeast is how many characters stand for an id that they begin: by fewer, a mistyped r-2
	// means somebody's r-2d7c73x0 in one case of 32.
	BeginLeast = 4
)

// Begun says which of the messages is meant whose ids begin with a word, the newest first. There
// may be more than those found. A refusal is an *ErrorValue.
func Begun(word string, found []string, more bool) (id string, err error) {
	found = heads(found)
	switch {
	case len(word) < BeginLeast:
		return "", refuse(string(protocol.UnknownID), "no message has the id %s, and its beginning needs %d characters", word, BeginLeast)
	case len(found) == 0:
		return "", refuse(string(protocol.UnknownID), "no message has the id %s", word)
	case len(found) == 1 && !more:
		return found[0], nil
	}
	count := strconv.Itoa(len(found))
	if more {
		count = "more than " + count
	}
	e := refuse(string(protocol.UnknownID), "%s ids begin with %s", count, word)
	e.Candidates = found[:min(len(found), whichMost)]
	if e.Message += ": " + strings.Join(e.Candidates, ", "); len(found) > whichMost {
		e.Message += ", …"
	}
	return "", e
}

// heads are those of ids that belong to no other: what stands behind a colon is not counted beside
// the message before it.
func heads(ids []string) []string {
	there := map[string]bool{}
	for _, id := range ids {
		there[id] = true
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		for at := strings.LastIndexByte(id, ':'); at > 0; at = strings.LastIndexByte(id[:at], ':') {
			if there[id[:at]] {
				return true
			}
		}
		return false
	})
}

// None says that nobody has sent anything to a name, nor it to anybody. It is an *ErrorValue.
func None(name string) error {
	return refuse(string(protocol.UnknownID), "there is no message to or from %s", name)
}
