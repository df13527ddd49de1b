// Package registry is where running wrappers are listed: each announces itself in a directory
// of the user's, and whoever looks for them lists and watches it.
package registry

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/protocol/process"
)

// suffix ends the names of the files that records stand in.
const suffix = ".json"

// Record is what a running wrapper says of itself in the agents directory.
type Record struct {
	Name        string `json:"name"`
	Socket      string `json:"socket"`
	PID         int    `json:"pid"`
	StartedAt   int64  `json:"started_at"`   // Unix milliseconds
	Agent       string `json:"agent"`        // profile
	TokenSHA256 string `json:"token_sha256"` // hex
	// State is the [own.StateDir] of the wrapper: routers with another one have other agents.
	State string `json:"state,omitempty"`
	// PIDStarted is when the system started the process, in its own ticks; 0 where it does not
	// tell.
	PIDStarted int64 `json:"pid_started,omitempty"`
	// Job is the background session that the agent's own has become, by the agent's name for it.
	Job string `json:"job,omitempty"`
}

// Itself returns r with what the system knows of this process.
func (r Record) Itself() Record {
	r.PID = os.Getpid()
	r.PIDStarted = process.Born(r.PID)
	return r
}

// Lives reports whether the wrapper's process certainly lives, whether or not anybody can connect
// to its socket from here: a program with a /tmp of its own sees the sockets of no other one.
func (r Record) Lives() bool { return r.PIDStarted != 0 && process.Born(r.PID) == r.PIDStarted }

// Dir returns the directory in which running wrappers are listed, and makes it
// if need be: $XDG_RUNTIME_DIR/relay/agents; where that variable names no directory of
// ours, /run/user/UID/relay/agents if the system has made the first part for us, and else
// /tmp/relay-UID/agents. Every level that is ours to make must be a directory,
// no link, of our uid, and closed to all others; one that is not is refused with a
// *[own.PathError] and left alone.
func Dir() (string, error) { return usual().dir(os.Getenv("XDG_RUNTIME_DIR")) }

// Where returns the path that [Dir] does, and makes nothing.
func Where() (string, error) { return usual().where(os.Getenv("XDG_RUNTIME_DIR")) }

// Usual are the directories in which wrappers are listed that know nothing of the caller's
// environment, whether or not they are there.
func Usual() []string { return usual().dirs() }

// bases are where a user's runtime directories are without XDG_RUNTIME_DIR.
type bases struct {
	user string // made by the system
	tmp  string // made by us
}

func usual() bases {
	uid := strconv.Itoa(os.Geteuid())
	return bases{"/run/user/" + uid, "/tmp/relay-" + uid}
}

func (b bases) dirs() []string {
	return []string{filepath.Join(b.user, "relay", "agents"), filepath.Join(b.tmp, "agents")}
}

func (b bases) dir(run string) (string, error) {
	dir, err := b.where(run)
	if err != nil {
		return "", err
	}
	return own.Dir(filepath.Dir(dir), filepath.Base(dir))
}

func (b bases) where(run string) (string, error) {
	if info, err := os.Stat(run); err == nil && info.IsDir() && filepath.IsAbs(run) && own.UID(info) == os.Geteuid() {
		if info.Mode().Perm()&0o022 != 0 {
			return "", &own.PathError{Path: run, Problem: "is not ours alone to write", Advice: "set XDG_RUNTIME_DIR to a directory of yours, or unset it"}
		}
		return filepath.Join(run, "relay", "agents"), nil
	}
	if own.Private(b.user) == nil {
		return b.dirs()[0], nil
	}
	return b.dirs()[1], nil
}

// SocketIn is the path of an agent's socket in a place: the directory that holds that of the
// agents. The name of the router's own socket there is no agent's.
func SocketIn(place, name string) string {
	if name == "router" {
		name = "_router" // which no agent can be called
	}
	return filepath.Join(place, name+".sock")
}

// Announcement is a wrapper that is listed.
type Announcement struct {
	file   string
	record Record
	lock   *own.Lock // of the name

	mu   sync.Mutex
	ours fs.FileInfo // the file that we wrote; nil: retired
}

// Announce lists the wrapper as NAME.json (0600) in dir, by the name in r, and holds the name by a
// lock beside it; a live owner is a *[own.HeldError]. The file appears whole or not at all, and
// replaces one that a dead wrapper left.
func Announce(dir string, r Record) (*Announcement, error) {
	if err := protocol.ValidName(r.Name); err != nil {
		return nil, err
	}
	a := &Announcement{file: filepath.Join(dir, r.Name+suffix), record: r}
	var err error
	if a.lock, err = own.Hold(filepath.Join(dir, r.Name+".lock"), "name "+r.Name, "name", r.Name); err != nil {
		return nil, err
	}
	if a.ours, err = place(a.file, r); err != nil {
		a.lock.Release()
		return nil, fmt.Errorf("announce %s: %w", r.Name, err)
	}
	return a, nil
}

// Change tells of the agent what has turned out since it was listed.
func (a *Announcement) Change(change func(*Record)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.record)
	if a.ours == nil || !a.listed() {
		return nil // it is told when it is listed again
	}
	ours, err := place(a.file, a.record)
	if err != nil {
		return fmt.Errorf("announce %s: %w", a.record.Name, err)
	}
	a.ours = ours
	return nil
}

// Retire takes the file away again, if it is still the same, and gives the name up.
func (a *Announcement) Retire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ours != nil && a.listed() {
		os.Remove(a.file) // a stale record is what readers must expect anyway
	}
	a.ours = nil
	a.lock.Release()
}

func (a *Announcement) listed() bool {
	now, err := os.Lstat(a.file)
	return err == nil && os.SameFile(now, a.ours)
}

// Files are the record and the lock of the name.
func (a *Announcement) Files() []string {
	return []string{a.file, strings.TrimSuffix(a.file, suffix) + ".lock"}
}

// Keep sees to it that the wrapper stays listed: what was removed, the directory included, is made
// anew. A live process that has the name by now is a *[own.HeldError].
func (a *Announcement) Keep() (anew bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ours == nil {
		return false, nil
	}
	dir := filepath.Dir(a.file)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := own.Dir(filepath.Dir(dir), filepath.Base(dir)); err != nil {
			return false, err
		}
	}
	if anew, err = a.lock.Keep(); err != nil || a.listed() {
		return anew, err
	}
	ours, err := place(a.file, a.record)
	if err != nil {
		return anew, fmt.Errorf("announce %s: %w", a.record.Name, err)
	}
	a.ours = ours
	return true, nil
}

// place writes r beside file and renames it into place. The name begins with a dot,
// which no agent's does, so that readers of the directory pass it over.
func place(file string, r Record) (fs.FileInfo, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(file)
	temp := filepath.Join(dir, "."+base+"."+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL follows no link
	if err != nil {
		return nil, err
	}
	_, err = f.Write(append(text, '\n'))
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		os.Remove(temp) // already failing
		return nil, err
	}
	return info, nil
}
