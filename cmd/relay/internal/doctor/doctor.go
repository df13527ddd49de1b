// Package doctor finds what keeps messages from their way: what is broken, and what to do about it.
// It changes nothing, unless it is asked to remove what killed wrappers left, and starts nothing
// that lasts.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/protocol/sock"
)

// Finding is one thing that was found.
type Finding struct {
	Check   string `json:"check"`   // which check found it
	Broken  bool   `json:"broken"`  // else all works, and it may be tidied up
	Problem string `json:"problem"` // what is wrong
	Fix     string `json:"fix"`     // the way out
}

// Store is what a doctor is told of the store in a directory.
type Store struct {
	Weak    func(dir string) string                                 // what is to be said against its file system
	Inspect func(ctx context.Context, dir string) ([]string, error) // what of it is damaged or missing
	Mend    func(ctx context.Context, dir string) ([]string, error) // mends that, and tells what it did
}

// Doctor looks at one user's programs, files and processes.
type Doctor struct {
	Version string                 // ours
	Layout  int                    // the newest of a router's store that we know
	Wrapper func() (string, error) // finds relay-pty
	Watches func() error           // fails where the system has no watcher of files left
	Store   Store                  // looks at a router's store; its zero value looks at none
	Mends   bool                   // it removes what killed wrappers left, and mends the store
	Removed []string               // whose remains it has removed
	Mended  []string               // what it did to the store

	found []Finding
	live  []live
}

func (d *Doctor) broken(check, fix, format string, args ...any) {
	d.note(Finding{check, true, fmt.Sprintf(format, args...), fix})
}

func (d *Doctor) untidy(check, fix, format string, args ...any) {
	d.note(Finding{check, false, fmt.Sprintf(format, args...), fix})
}

// note keeps a finding, once: two directories may lack one and the same above them.
func (d *Doctor) note(f Finding) {
	if !slices.Contains(d.found, f) {
		d.found = append(d.found, f)
	}
}

// trouble notes an error, with the way out that it brings.
func (d *Doctor) trouble(check string, err error, fix string) {
	var hint interface{ Hint() string }
	if errors.As(err, &hint) {
		fix = hint.Hint()
	}
	d.broken(check, fix, "%v", err)
}

// Look looks at everything, and returns what it found, in the order in which it is to be mended.
func (d *Doctor) Look(ctx context.Context) []Finding {
	d.found, d.live = []Finding{}, nil
	if err := sock.Allowed(); err != nil { // then all that lives looks dead, and all that can be written full
		d.trouble("sandbox", fmt.Errorf("%w: nothing can be found out from here", err), "")
		return d.found
	}
	d.programs(ctx)
	if err := d.Watches(); err != nil {
		d.untidy("system", "end programs that watch files, or allow more: sysctl fs.inotify.max_user_instances",
			"no watcher of files is left for you (%v): programs look ten times a second for what they would be told", err)
	}
	if _, err := settings.Load(); err != nil {
		d.trouble("settings", err, "mend it there; relay help settings lists what there is")
	}
	h, err := home.Look("")
	if err != nil {
		d.trouble("places", err, "set HOME, or XDG_STATE_HOME")
		return d.found
	}
	reachable := d.private(filepath.Dir(h.Agents), h.Agents)
	d.short(h.Socket)
	state := filepath.Dir(h.Store)
	for _, dir := range []string{h.Store, filepath.Join(state, "relay-pty")} {
		d.keeps(dir)
	}
	d.version(filepath.Join(h.Store, "version"))
	d.rows(ctx, h.Store)
	if reachable {
		d.router(ctx, h)
		d.wrappers(ctx, h)
	}
	return d.found
}

// short checks that every program can connect to the router's socket. Ours can, on Linux.
func (d *Doctor) short(socket string) {
	const check, fix = "places", "set XDG_RUNTIME_DIR to a directory with a shorter name, or unset it"
	if len(socket) <= sock.MaxPath {
		return
	}
	const problem = "the path of the router's socket, %s, has %d bytes, and %d are the most"
	if runtime.GOOS != "linux" {
		d.broken(check, fix, problem, socket, len(socket), sock.MaxPath)
		return
	}
	d.untidy(check, fix, problem+" that other programs than relay can connect to, as they can to none of an agent's there", socket, len(socket), sock.MaxPath)
}

// programs checks that relay-pty is there, and of our version.
func (d *Doctor) programs(ctx context.Context) {
	const check = "programs"
	path, err := d.Wrapper()
	if err != nil {
		d.trouble(check, err, "install relay-pty beside relay, or into a directory of PATH")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	words := strings.Fields(string(out))
	switch {
	case err != nil || len(words) < 2:
		d.broken(check, "install it anew", "%s --version does not tell its version (%v)", path, err)
	case words[1] != d.Version:
		d.broken(check, "install both of one version", "%s is version %s, and relay is %s", path, words[1], d.Version)
	}
}

// patience is how long something may take to answer that takes milliseconds.
const patience = 5 * time.Second
