package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"relay-pty/cmd/relay-pty/check"
	"relay-pty/inject/profile"
)

// agentProfile is the profile that a value of --agent means for a command line:
// an overlay's file if it looks like one, whose text is returned, too, else a name.
func agentProfile(value string, argv []string) (p *profile.Profile, overlay []byte, err error) {
	if strings.Contains(value, "/") || strings.HasSuffix(value, ".json") {
		if p, overlay, err = profile.OverlayFile(value); err != nil {
			return nil, nil, fmt.Errorf("--agent: %w", err)
		}
		return p, overlay, nil
	}
	p, ok := profile.Named(value, argv...)
	if !ok {
		return nil, nil, hinted{fmt.Errorf("--agent: unknown profile %q", value),
			"this version knows " + strings.Join(profile.Names(), ", ") + "; generic fits any program"}
	}
	return p, nil, nil
}

// checkArgs reads what stands behind --check-profile: [AGENT] [-- COMMAND ARG...].
func (c *config) checkArgs(args []string, dash int) error {
	if dash != 0 && len(args) > 0 { // pflag leaves dashes behind the agent
		if c.agent != "" || len(args) > 1 && args[1] != "--" || len(args) == 2 {
			return hinted{fmt.Errorf("--check-profile: want at most one agent, and a command behind --"),
				"as in relay-pty --check-profile claude, or relay-pty --check-profile ./mine.json -- mycli --flag"}
		}
		c.agent, args = args[0], args[min(2, len(args)):]
	}
	c.Command = args
	if c.agent == "" {
		return nil
	}
	return c.checkProfile()
}

// exitBroken says that a profile does not hold.
const exitBroken = 1

// checkProfiles holds profiles against installed agents.
func checkProfiles(ctx context.Context, cfg config, stdout *os.File) (code int, err error) {
	c := check.Config{Profile: cfg.Profile, Overlay: cfg.overlay, Command: cfg.Command, Out: stdout}
	if c.Self, err = os.Executable(); err != nil {
		return 0, err
	}
	holds, err := check.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil: // not the status of a command that we wrap
		return 0, withHint(fmt.Errorf("--check-profile: %w", err))
	case !holds:
		return exitBroken, nil
	}
	return 0, nil
}
