// Package log reads what OpenCode tells of its sessions, as 1.18.33 writes it
// (recorded, see the tests): one SQLite database for all processes, which each of
// them holds open. Its table event is a log: a row for each change of a session, a
// message or a part of one, written at once. /new begins another session,
// sub-agents have sessions with a parent, titles none. A message that is typed in
// a turn is logged at once, though it may wait; that a turn took it shows in the
// reply that names it, or a later one, as its parent.
package log

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"relay-pty/parser/sqlite"
	"relay-pty/parser/transcript"
	"relay-pty/parser/transcript/proc"
)

// Format is of OpenCode.
var Format = transcript.Format{Name: "opencode", Follow: follow, Search: search}

// database follows the one that a process holds open.
type database struct {
	child int
	since time.Time

	path   string
	index  fs.FileInfo // the database's WAL index: another one when the agent began anew
	db     *sqlite.DB
	next   int64  // rowid of the first event not yet read
	before string // id of the event before that; empty: where to begin is not known

	session  transcript.Session // its ID is of the one that had news last, of those that may be the process's
	any      bool               // all sessions are of interest
	sessions map[string]session // by id
	events   events
}

// session is what we need to know of a session.
type session struct {
	ours bool // of a person, in the directory that the process works in
	born time.Time
}

// follow follows the database of the process that runs as child, or in child's
// session (setsid). What is from before since is skipped.
func follow(_ transcript.Format, _ string, child int, since time.Time) transcript.Source {
	return newDatabase(child, since)
}

func newDatabase(child int, since time.Time) *database {
	return &database{child: child, since: since, sessions: map[string]session{}, events: newEvents(since)}
}

// Look returns the news since the last look. Without news it costs a read and a
// stat. The error wraps transcript.ErrNoSession when the process holds no database open.
func (o *database) Look() (transcript.Session, []transcript.News, error) {
	if o.db == nil {
		if err := o.open(); err != nil {
			return transcript.Session{}, nil, err
		}
	}
	changed, err := o.db.Changed()
	if err == nil && !changed {
		// What the last process wrote before it ended is in files that are deleted by
		// now; another one makes others.
		if info, err := os.Stat(o.path + "-shm"); err == nil && !os.SameFile(info, o.index) {
			o.close()
		}
		return o.session, nil, nil
	}
	var all []transcript.News
	if err == nil {
		all, err = o.read()
	}
	if err != nil && !errors.Is(err, sqlite.ErrBusy) {
		o.close() // and begin anew, should it be another file by then
		return o.session, all, fmt.Errorf("read %s: %w", o.path, err)
	}
	return o.session, all, nil
}

// open opens the database that the process holds open.
func (o *database) open() error {
	for _, pid := range proc.Group(o.child) {
		for _, wal := range proc.Written(pid, func(path string) bool { return strings.HasSuffix(path, ".db-wal") }) {
			o.path = strings.TrimSuffix(wal, "-wal")
			info, err := os.Stat(o.path + "-shm")
			if err != nil {
				continue
			}
			db, err := sqlite.Open(o.path)
			if err != nil {
				return err
			}
			o.db, o.index = db, info
			o.session = transcript.Session{PID: pid, CWD: proc.Directory(pid), Transcript: o.path}
			return nil
		}
	}
	return fmt.Errorf("%w of process %d: it holds no database open", transcript.ErrNoSession, o.child)
}

// search returns what stands in the databases of a directory from since on, whichever
// process wrote it. What cannot be read is left out.
func search(dir string, since time.Time) (all []transcript.Entry) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.db")) // the pattern is well formed
	for _, path := range paths {
		o := newDatabase(0, since)
		o.any = true
		db, err := sqlite.Open(path)
		if err != nil {
			continue
		}
		o.db = db
		news, _ := o.read() // what was read before an error counts
		o.close()
		for _, n := range news {
			all = append(all, n.Entries...)
		}
	}
	return all
}

func (o *database) close() {
	o.db.Close()
	o.db, o.before = nil, ""
}

// row is a row of the table event.
type row struct {
	rowid             int64
	id, session, kind string
	data              string
}

const batchBytes = 1 << 20 // of data read at once

// read reads the events that are new.
func (o *database) read() ([]transcript.News, error) {
	by := map[string]*transcript.News{}
	for more := true; more; {
		var rows []row
		var unknown map[string]session
		err := o.db.View(func(tx *sqlite.Tx) (err error) {
			if rows, more, err = o.rows(tx); err != nil {
				return err
			}
			unknown, err = o.unknown(tx, rows)
			return err
		})
		if err != nil {
			return merged(by), err
		}
		for id, s := range unknown {
			o.sessions[id] = s
		}
		for _, row := range rows {
			o.take(row, by)
		}
	}
	return merged(by), nil
}

func merged(by map[string]*transcript.News) []transcript.News {
	var all []transcript.News
	for _, n := range by {
		all = append(all, *n)
	}
	return all
}

// rows reads a batch of events, and reports whether there are more.
func (o *database) rows(tx *sqlite.Tx) (rows []row, more bool, err error) {
	table, err := tx.Table("event")
	if err != nil {
		return nil, false, err
	}
	from, known := o.next-1, o.before != ""
	if !known {
		if from, err = o.seek(table); err != nil {
			return nil, false, err
		}
	}
	size, moved := 0, known // unless the row before it stands there
	err = table.Rows(from, func(r sqlite.Row) (bool, error) {
		row := row{rowid: r.ID, id: r.Text("id"), session: r.Text("aggregate_id"), kind: r.Text("type")}
		if moved {
			moved = row.rowid != from || row.id != o.before
			return !moved, nil
		}
		if strings.HasPrefix(row.kind, "message.") {
			row.data = r.Text("data")
		}
		rows = append(rows, row)
		size += len(row.data) + 100
		more = size >= batchBytes
		return !more, nil
	})
	if err == nil && moved {
		// Rows were deleted with their session, and their numbers used again.
		o.before = ""
		return o.rows(tx)
	}
	return rows, more, err
}

// seek finds the first event that is not from before since. Events are in the
// order of their times, which their ids begin with.
func (o *database) seek(table sqlite.Table) (int64, error) {
	high, err := table.Last()
	low := int64(0)
	for high++; err == nil && low < high; {
		middle, old := low+(high-low)/2, false
		err = table.Rows(middle, func(r sqlite.Row) (bool, error) {
			old = before(r.Text("id"), o.since)
			return false, nil
		})
		if old {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, err
}

// before reports whether an event's id is from before at: it begins with the low 36
// bits of the time in milliseconds, and three digits of a counter.
func before(id string, at time.Time) bool {
	_, id, _ = strings.Cut(id, "_")
	ms, err := strconv.ParseUint(id[:min(9, len(id))], 16, 64)
	const span = 1 << 36
	behind := (uint64(at.UnixMilli()) - ms) % span
	return err == nil && behind > 0 && behind < span/2
}

// unknown reads the sessions of rows that are not known yet.
func (o *database) unknown(tx *sqlite.Tx, rows []row) (map[string]session, error) {
	found := map[string]session{}
	for _, row := range rows {
		if _, known := o.sessions[row.session]; !known && strings.HasPrefix(row.kind, "message.") {
			found[row.session] = session{}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	table, err := tx.Table("session")
	if err != nil {
		return nil, err
	}
	return found, table.Rows(0, func(r sqlite.Row) (bool, error) {
		if _, wanted := found[r.Text("id")]; wanted {
			found[r.Text("id")] = session{
				ours: o.any || r.Text("parent_id") == "" && proc.Same(r.Text("directory"), o.session.CWD),
				born: time.UnixMilli(r.Int("time_created")),
			}
		}
		return true, nil
	})
}

// take adds what a row tells to the news of its session.
func (o *database) take(r row, by map[string]*transcript.News) {
	o.next, o.before = r.rowid+1, r.id
	s := o.sessions[r.session]
	entries, err := o.events.row(r.kind, []byte(r.data))
	if err != nil || !s.ours {
		return
	}
	n := by[r.session]
	if n == nil {
		n = &transcript.News{Of: r.session, Born: s.born, Changed: time.Now()}
		by[r.session] = n
	}
	n.Entries = append(n.Entries, entries...)
	o.session.ID = r.session
}

// event is the data of an event.
type event struct {
	Info *info `json:"info"` // of message.updated
	Part *part `json:"part"` // of message.part.updated
	Time int64 `json:"time"` // of that
}

type info struct {
	ID      string          `json:"id"`
	Session string          `json:"sessionID"`
	Role    string          `json:"role"`
	Parent  string          `json:"parentID"`
	Finish  string          `json:"finish"`
	Error   json.RawMessage `json:"error"`
	Summary json.RawMessage `json:"summary"` // true: of a session that became too long
	Time    struct {
		Completed int64 `json:"completed"`
	} `json:"time"`
}

type part struct {
	ID        string `json:"id"`
	Session   string `json:"sessionID"`
	Message   string `json:"messageID"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // added by OpenCode, such as a file's contents
	Ignored   bool   `json:"ignored"`
	Tool      string `json:"tool"` // its name
	State     state  `json:"state"`
	Time      struct {
		End int64 `json:"end"`
	} `json:"time"`
}
