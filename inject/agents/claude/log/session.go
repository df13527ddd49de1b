package log

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// sessions is where Claude Code keeps a file of each process, named by its number.
const sessions = "sessions"

// follower follows the one transcript at a time that a session file names.
type follower struct {
	dir    string
	child  int
	by     string // which of Claude Code's programs the session's process is
	reader *transcript.Reader
	turns  transcript.Turns
}

func follow(f transcript.Format, dir string, child int, since time.Time) transcript.Source {
	c := &follower{dir: dir, child: child}
	f.Row = func(row []byte) ([]transcript.Entry, error) { return readRow(row, c.by, &c.turns) }
	c.reader = transcript.NewReader(f, since)
	return c
}

func (f *follower) Look() (transcript.Session, []transcript.News, error) {
	s, err := Locate(f.dir, f.child)
	if err != nil || s.Transcript == "" {
		return s, nil, err
	}
	f.by = s.By
	entries, err := f.reader.Poll(s.Transcript)
	return s, []transcript.News{{Of: s.Transcript, Sure: true, Entries: entries}}, err
}

// Locate finds the session of the agent that runs as child, or in child's
// session (setsid) when child is a script that starts it. dir is the agent's
// directory. A session changes its ID, and thereby its transcript, while the
// process lives, so ask again. The error wraps ErrNoSession when there is none.
func Locate(dir string, child int) (transcript.Session, error) {
	s, err := read(filepath.Join(dir, sessions, strconv.Itoa(child)+".json"), child)
	if s.Job != "" {
		s = went(dir, s)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, transcript.ErrNoSession) {
		s, err = descendant(dir, child)
	}
	if err != nil {
		return transcript.Session{}, err
	}
	if paths, _ := filepath.Glob(filepath.Join(transcript.EscapeGlob(dir), "projects", "*", s.ID+".jsonl")); len(paths) > 0 {
		s.Transcript = paths[0]
	}
	return s, nil
}

// went is a session that has become a background one, as the process that has it now tells; as it
// was where none does. The agents view moves a session so, also from the view back into the front.
func went(dir string, parked transcript.Session) transcript.Session {
	paths, _ := filepath.Glob(filepath.Join(transcript.EscapeGlob(dir), sessions, "*.json"))
	for _, path := range paths {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".json"))
		if err != nil || pid == parked.PID {
			continue
		}
		if s, job, err := entry(path, pid); err == nil && job == parked.Job {
			s.Job = job
			return s
		}
	}
	return parked
}

// descendant looks for the latest session of a process in child's session.
func descendant(dir string, child int) (found transcript.Session, err error) {
	paths, _ := filepath.Glob(filepath.Join(transcript.EscapeGlob(dir), sessions, "*.json"))
	for _, path := range paths {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".json"))
		if err != nil || pid <= 0 {
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid != child {
			continue
		}
		if s, err := read(path, pid); err == nil && (found.ID == "" || s.StatusAt.After(found.StatusAt)) {
			found = s
		}
	}
	if found.ID == "" {
		return found, fmt.Errorf("%w of process %d in %s", transcript.ErrNoSession, child, dir)
	}
	return found, nil
}

// read is the session of pid, as its file tells.
func read(path string, pid int) (transcript.Session, error) {
	s, _, err := entry(path, pid)
	return s, err
}

// entry reads the session file of pid, and which background session it is of, if of one. One that a
// dead process of the same number left behind is no session.
func entry(path string, pid int) (s transcript.Session, job string, err error) {
	var f struct {
		PID             int    `json:"pid"`
		SessionID       string `json:"sessionId"`
		CWD             string `json:"cwd"`
		ProcStart       string `json:"procStart"` // in clock ticks, as in /proc/PID/stat; older versions do not tell
		Version         string `json:"version"`
		By              string `json:"entrypoint"`
		Status          string `json:"status"`
		WaitingFor      string `json:"waitingFor"`
		JobID           string `json:"jobId"`       // of a background session
		ParkedJobID     string `json:"parkedJobId"` // of the one that this session has become
		UpdatedAt       int64  `json:"updatedAt"`
		StatusUpdatedAt int64  `json:"statusUpdatedAt"`
	}
	if err := transcript.ReadJSON(path, &f); err != nil {
		return s, "", err
	}
	if !uuidLike(f.SessionID) {
		return s, "", fmt.Errorf("read %s: session id %.50q is no uuid", path, f.SessionID)
	}
	if f.PID != pid || f.ProcStart != "" && f.ProcStart != proc.StartOf(pid, f.ProcStart) {
		return s, "", fmt.Errorf("%w: %s is stale", transcript.ErrNoSession, path)
	}
	return transcript.Session{
		PID: f.PID, ID: f.SessionID, CWD: f.CWD, Version: f.Version, By: f.By,
		Job:    f.ParkedJobID,
		Status: f.Status, WaitingFor: f.WaitingFor, StatusAt: time.UnixMilli(cmp.Or(f.StatusUpdatedAt, f.UpdatedAt)),
	}, f.JobID, nil
}

// uuidLike reports whether id may stand in a path: hexadecimal groups of 8-4-4-4-12.
func uuidLike(id string) bool {
	parted := len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-'
	return parted && strings.Count(id, "-") == 4 && strings.Trim(id, "0123456789abcdefABCDEF-") == ""
}
