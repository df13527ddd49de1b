package transcript

// Turns remembers of which turns the latest rows of a conversation are. The zero value is ready.
type Turns struct{ of, older map[string]string }

// turnsMost is how many rows are remembered, at least: most rows follow the one before.
const turnsMost = 512

// Of is the turn of a row, and whether the row is remembered.
func (t *Turns) Of(row string) (turn string, known bool) {
	if turn, known = t.of[row]; !known {
		turn, known = t.older[row]
	}
	return turn, known
}

// Note remembers a row's turn.
func (t *Turns) Note(row, turn string) {
	if t.of == nil || len(t.of) >= turnsMost {
		t.of, t.older = map[string]string{}, t.of
	}
	t.of[row] = turn
}
