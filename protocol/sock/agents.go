package sock

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"relay-pty/protocol"
)

// Record is what a running wrapper says of itself in the agents directory.
type Record struct {
	Name        string `json:"name"`
	Socket      string `json:"socket"`
	PID         int    `json:"pid"`
	StartedAt   int64  `json:"started_at"`   // Unix milliseconds
	Agent       string `json:"agent"`        // profile
	TokenSHA256 string `json:"token_sha256"` // hex
}

// AgentsDir returns the directory in which running wrappers are listed, and makes it
// if need be: $XDG_RUNTIME_DIR/relay/agents, or /tmp/relay-UID/agents where that
// variable names no directory. Every level that is ours to make must be a directory,
// no link, of our uid, and closed to all others; one that is not is refused with a
// *[PathError] and left alone.
func AgentsDir() (string, error) { return agentsDir(os.Getenv("XDG_RUNTIME_DIR"), "/tmp") }

func agentsDir(run, tmp string) (string, error) {
	if info, err := os.Stat(run); err == nil && info.IsDir() && filepath.IsAbs(run) {
		if uid(info) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
			return "", &PathError{run, "is not ours alone to write", "set XDG_RUNTIME_DIR to a directory of yours, or unset it"}
		}
		return privateDirs(filepath.Join(run, "relay"), "agents")
	}
	return privateDirs(filepath.Join(tmp, "relay-"+strconv.Itoa(os.Geteuid())), "agents")
}

// privateDirs makes and checks base and base/sub. Once base has passed, nobody else
// can change what is in it.
func privateDirs(base, sub string) (string, error) {
	dir := filepath.Join(base, sub)
	for _, d := range []string{base, dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("agents directory: %w", err)
		}
		info, err := os.Lstat(d)
		if err != nil {
			return "", fmt.Errorf("agents directory: %w", err)
		}
		const advice = "look who made it, then remove it"
		switch {
		case !info.IsDir():
			return "", &PathError{d, "is " + kindOf(info.Mode()) + ", not a directory", advice}
		case uid(info) != os.Geteuid():
			return "", &PathError{d, fmt.Sprintf("belongs to uid %d", uid(info)), advice}
		case info.Mode().Perm()&0o077 != 0:
			return "", &PathError{d, fmt.Sprintf("is open to others (mode %04o)", info.Mode().Perm()), "chmod 700 " + d}
		}
	}
	return dir, nil
}

// Announce lists the wrapper as NAME.json (0600) in dir and holds the name by a lock
// beside it; a live owner is a *[HeldError]. The file appears whole or not at all, and
// replaces one that a dead wrapper left. remove takes it away again, if it is still
// the same, and gives the name up.
func Announce(dir, name string, r Record) (remove func(), err error) {
	if err := protocol.ValidName(name); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, name+".json")
	lock, err := take(filepath.Join(dir, name+".lock"), "name "+name, name)
	if err != nil {
		return nil, err
	}
	ours, err := place(file, r)
	if err != nil {
		lock.release()
		return nil, fmt.Errorf("announce %s: %w", name, err)
	}
	return func() {
		if now, err := os.Lstat(file); err == nil && os.SameFile(now, ours) {
			os.Remove(file) // a stale record is what readers must expect anyway
		}
		lock.release()
	}, nil
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
