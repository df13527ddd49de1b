package agent

import (
	"fmt"
	"strings"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

// unknown is the name of a profile that does not exist.
type unknown string

func (u unknown) Error() string { return fmt.Sprintf("--agent: unknown profile %q", string(u)) }

// Hint says which there are.
func (u unknown) Hint() string {
	return "this version knows " + strings.Join(agents.Names(), ", ") + "; generic fits any program"
}

// Profile is the profile that a value of --agent means for a command line:
// an overlay's file if it looks like one, whose text is returned, too, else a name.
func Profile(value string, argv []string) (p *profile.Profile, overlay []byte, err error) {
	if strings.Contains(value, "/") || strings.HasSuffix(value, ".json") {
		if p, overlay, err = agents.OverlayFile(value); err != nil {
			return nil, nil, fmt.Errorf("--agent: %w", err)
		}
		return p, overlay, nil
	}
	p, ok := agents.Named(value, argv...)
	if !ok {
		return nil, nil, unknown(value)
	}
	return p, nil, nil
}
