package transcript

// Rival is for tests on processes.
func Rival(child int, name string, grown bool) bool { return Format{Name: name}.rival(child, grown) }

// MaxRow and KeptRest are the bounds of what a reader holds.
const (
	MaxRow   = maxRow
	KeptRest = keptRest
)

// Limit sets the longest row that is read.
func (r *Reader) Limit(most int) { r.most = most }

// Rest is what was read and is no complete row yet.
func (r *Reader) Rest() []byte { return r.rest }
