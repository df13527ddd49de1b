package own

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// HomeDir is the user's home: $HOME, else that of the passwd entry. What cron, a service manager or
// env -i starts may have no HOME.
func HomeDir() (string, error) {
	if home := os.Getenv("HOME"); home != "" {
		return home, nil
	}
	entry, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", fmt.Errorf("HOME is not set: %w", err)
	}
	if !filepath.IsAbs(entry.HomeDir) {
		return "", fmt.Errorf("HOME is not set, and the passwd entry of uid %d names no home", os.Geteuid())
	}
	return entry.HomeDir, nil
}

// StateDir is where the user's programs keep what is to last: $XDG_STATE_HOME, else ~/.local/state.
// Wrappers and routers with one StateDir belong together, wherever their sockets are.
func StateDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) { // else it is to be ignored, says its specification
		return filepath.Clean(state), nil
	}
	home, err := HomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state"), nil
}
