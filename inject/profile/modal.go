package profile

import "time"

// Modal is an agent's composer with modes as vim's, which the human may have chosen. A paste must
// be text in each of them.
type Modal struct {
	Insert pattern // a row beneath the composer while keys are text
	Normal pattern // the same while they are commands; nil: nothing shows then
	Select pattern // the same while Enter does not submit, as with a selection; may be nil
	Leave  string  // the key that leaves Insert and does nothing else there
	Back   string  // the key that leads back to Insert, at the start of the text …
	Append string  // … or at its end

	// For so long after Leave the same key clears the text, and does not interrupt.
	Rest time.Duration
}
