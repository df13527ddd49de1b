package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

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

// checker is the program that checks, beside us.
const checker = "relay-pty-check"

// checkProfiles becomes the program that holds profiles against installed agents.
func checkProfiles(cfg config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := exec.LookPath(filepath.Join(filepath.Dir(self), checker))
	if err != nil {
		path, err = exec.LookPath(checker)
	}
	if err == nil {
		err = syscall.Exec(path, append([]string{path, self, cfg.agent}, cfg.Command...), os.Environ())
	}
	return hinted{fmt.Errorf("--check-profile: %w", err), "it needs " + checker + " beside " + self + ": make install puts both there"}
}
