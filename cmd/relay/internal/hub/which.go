package hub

import (
	"slices"
	"strconv"
	"strings"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

const (
	// whichMost is how many ids are named that begin alike.
	whichMost = 5
	// beginLeast is how many characters stand for an id that they begin: by fewer, a mistyped r-2
	// means somebody's r-2d7c73x0 in one case of 32.
	beginLeast = 4
)

// begunBy says which of the messages is meant whose ids begin with a word, the newest first. There
// may be more than those found. A refusal is a *router.ErrorValue.
func begunBy(word string, found []string, more bool) (id string, err error) {
	found = heads(found)
	switch {
	case len(word) < beginLeast:
		return "", router.Refusal(protocol.UnknownID, "no message has the id %s, and its beginning needs %d characters", word, beginLeast)
	case len(found) == 0:
		return "", router.NoMessage(word)
	case len(found) == 1 && !more:
		return found[0], nil
	}
	count := strconv.Itoa(len(found))
	if more {
		count = "more than " + count
	}
	e := router.Refusal(protocol.UnknownID, "%s ids begin with %s", count, word)
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
