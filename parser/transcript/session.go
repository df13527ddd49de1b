package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/parser/transcript/proc"
)

// Session is what an agent says of itself in its session file.
type Session struct {
	PID        int // of the agent, which may be a descendant of the child
	ID         string
	CWD        string
	Version    string
	Status     string    // the agent's word: Claude's are idle, busy, waiting
	WaitingFor string    // what it waits for
	StatusAt   time.Time // when it said so
	Transcript string    // path, empty while there is none: agents create it in the first turn

	ProcStart string // the process's start time in clock ticks, as in /proc/PID/stat; empty if not told
}

// Locate finds the session of the agent that runs as child, or in child's
// session (setsid) when child is a script that starts it. dir is the agent's
// directory. A session changes its ID, and thereby its transcript, while the
// process lives, so ask again. The error wraps ErrNoSession when there is none.
func (f Format) Locate(dir string, child int) (Session, error) {
	own := filepath.Join(dir, fmt.Sprintf(f.Sessions, strconv.Itoa(child)))
	s, err := f.read(own, child)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoSession) {
		s, err = f.descendant(dir, child)
	}
	if err != nil {
		return Session{}, err
	}
	if paths, _ := filepath.Glob(filepath.Join(escapeGlob(dir), fmt.Sprintf(f.Transcripts, s.ID))); len(paths) > 0 {
		s.Transcript = paths[0]
	}
	return s, nil
}

// descendant looks for the latest session of a process in child's session.
func (f Format) descendant(dir string, child int) (Session, error) {
	found := Session{}
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(dir), fmt.Sprintf(f.Sessions, "*")))
	for _, path := range paths {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		if err != nil || pid <= 0 {
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid != child {
			continue
		}
		if s, err := f.read(path, pid); err == nil && (found.ID == "" || s.StatusAt.After(found.StatusAt)) {
			found = s
		}
	}
	if found.ID == "" {
		return Session{}, fmt.Errorf("%w of process %d in %s", ErrNoSession, child, dir)
	}
	return found, nil
}

// read reads the session file of pid. One that a dead process of the same number
// left behind is no session.
func (f Format) read(path string, pid int) (Session, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Session{}, err
	}
	s, err := f.Session(b)
	if err != nil {
		return Session{}, fmt.Errorf("read %s: %w", path, err)
	}
	if s.PID != pid || s.ProcStart != "" && s.ProcStart != proc.StartOf(pid, s.ProcStart) {
		return Session{}, fmt.Errorf("%w: %s is stale", ErrNoSession, path)
	}
	return s, nil
}

// escapeGlob makes a path match itself only.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
