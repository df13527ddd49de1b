package agent

import (
	"time"

	"github.com/dlclark/regexp2"
)

// prompt is the pattern of the line that means ready. The user's patterns may
// need lookaround and may backtrack without end: they get a time limit, and one
// that reaches it is not asked again.
type prompt struct {
	re  *regexp2.Regexp
	off bool
}

const promptLimit = 50 * time.Millisecond

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
	ok, err := p.re.MatchString(line)
	p.off = err != nil
	return ok
}
