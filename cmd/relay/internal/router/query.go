package router

import "slices"

// LastID is the word for the last message to or from whoever asks.
const LastID = "last"

// Query is which messages somebody wants to see. What is empty is not looked at.
type Query struct {
	After  int64  // number of an event behind which they were accepted
	From   string // who sent them
	To     string // who got them
	Target string // who did either
	Dead   bool   // only those that did not arrive, or may not have, and were not sent again
	// Missed adds what went to these channels, or to all, by others than To, who did not get it.
	Missed []string
	Last   int      // the newest so many; 0: all
	Types  []string // of events, not of messages
}

// Wants reports whether an event is of those.
func (q Query) Wants(e *Event) bool {
	gets := func(name string) bool { return e.To == name || slices.Contains(e.Recipients, name) }
	return (len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) && (q.From == "" || e.From == q.From) &&
		(q.To == "" || gets(q.To)) && (q.Target == "" || e.Agent == q.Target || gets(q.Target))
}
