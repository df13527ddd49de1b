package log

import (
	"slices"

	"relay-pty/parser/transcript"
)

// name says of which turn a row is, by the row of the turn's prompt. A process writes each row
// behind one of its own, or behind the last that it has read, so where two write the turns of one
// conversation at the same time each row leads to its prompt. In a first turn, whose rows are in
// any order, the row before may not have been read: then the turn is not known.
func name(all *transcript.Turns, r *record, entries []transcript.Entry) {
	turn, _ := all.Of(r.Parent)
	if slices.ContainsFunc(entries, func(e transcript.Entry) bool { return e.Opens }) {
		turn = r.UUID
	}
	for i := range entries {
		entries[i].Turn = turn
	}
	all.Note(r.UUID, turn)
}
