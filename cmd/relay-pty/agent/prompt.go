package agent

import (
	"time"

	"github.com/dlclark/regexp2"
)

// prompt is the pattern of the line that means ready. The user's patterns may
// need lookaround and may backtrack without end: they get a time limit, and one
// that reaches it several times in a row is not asked again.
type prompt struct {
	re  interface{ MatchString(string) (bool, error) }
	off bool
}

const (
	promptLimit = 50 * time.Millisecond
	// promptTries is how often one line is tried: on a busy machine the library's
	// clock jumps, and a match that took no time is told to have taken too long.
	promptTries = 5
)

// newPrompt compiles pattern; an empty one never matches.
func newPrompt(pattern string) (*prompt, error) {
	if pattern == "" {
		return &prompt{off: true}, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = promptLimit
	return &prompt{re: re}, nil
}

// match is called from the injector's loop alone.
func (p *prompt) match(line string) bool {
	if p.off {
		return false
	}
	for range promptTries {
		if ok, err := p.re.MatchString(line); err == nil {
			return ok
		}
	}
	p.off = true
	return false
}
