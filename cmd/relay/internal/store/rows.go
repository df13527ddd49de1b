package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"relay-pty/cmd/relay/internal/router"
)

// Entry is an event as it is kept: its number, its type, the agent that it is about, which may be
// empty, and all of it as JSON.
type Entry struct {
	Seq         int64
	Type, Agent string
	Data        []byte
}

// Commit writes events, whose numbers go on from the newest one's, and the rows that they change,
// all or nothing. ErrFull says that nothing was written, ErrUnclear that all may have been, and
// ErrGone that nobody finds what is written.
func (s *Store) Commit(ctx context.Context, events []Entry, rows router.Rows) error {
	size := int64(0)
	for _, e := range events {
		size += int64(len(e.Data))
	}
	for _, r := range rows.Messages {
		size += int64(len(r.Data))
	}
	if err := s.Room(size); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.write(ctx, func(tx *sql.Tx) error { return s.put(ctx, tx, events, rows) }); err != nil {
		return s.findOut(ctx, events, err)
	}
	if err := s.Gone(); err != nil {
		return err
	}
	if len(events) > 0 {
		s.reached(events[len(events)-1].Seq)
	}
	return nil
}

func (s *Store) put(ctx context.Context, tx *sql.Tx, events []Entry, rows router.Rows) error {
	for _, e := range events {
		data := string(e.Data)
		sum := sum(number(e.Seq), e.Type, e.Agent, data)
		if _, err := tx.StmtContext(ctx, s.does.event).ExecContext(ctx, e.Seq, e.Type, e.Agent, data, sum); err != nil {
			return err
		}
	}
	for _, r := range rows.Messages {
		if err := s.putMessage(ctx, tx, r); err != nil {
			return err
		}
	}
	for name, data := range rows.Agents {
		var err error
		if data == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM agents WHERE name = ?`, name)
		} else {
			_, err = tx.StmtContext(ctx, s.does.agent).ExecContext(ctx, name, string(data), sum(name, string(data)))
		}
		if err != nil {
			return err
		}
	}
	for m, in := range rows.Members {
		does := `DELETE FROM members WHERE channel = ? AND name = ?`
		if in {
			does = `INSERT OR IGNORE INTO members (channel, name) VALUES (?, ?)`
		}
		if _, err := tx.ExecContext(ctx, does, m.Channel, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// putMessage writes a message. What it is looked for by changes seldom once it is there, and costs
// most.
func (s *Store) putMessage(ctx context.Context, tx *sql.Tx, r router.Row) (err error) {
	data := string(r.Data)
	sum := sum(r.ID, data)
	if r.New {
		_, err = tx.StmtContext(ctx, s.does.message).ExecContext(ctx, r.ID, null(r.ShortID), null(r.Root), r.Seq,
			r.From, r.To, r.Status, r.Sent, r.Part, r.Open, r.Dead, r.Last, data, sum)
	} else {
		_, err = tx.StmtContext(ctx, s.does.change).ExecContext(ctx, r.Status, r.Open, r.Dead, r.Last, data, sum, r.ID)
	}
	return err
}

// null is a text of which there may be none.
func null(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// statements are those that are used most.
type statements struct{ event, agent, message, change, find *sql.Stmt }

func (s *Store) prepare(ctx context.Context) (err error) {
	for _, p := range []struct {
		into **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&s.does.event, s.w, `INSERT INTO events (seq, type, agent, data, sum) VALUES (?, ?, ?, ?, ?)`},
		{&s.does.agent, s.w, `INSERT OR REPLACE INTO agents (name, data, sum) VALUES (?, ?, ?)`},
		{&s.does.message, s.w, `INSERT OR REPLACE INTO messages
			(id, short, root, seq, sender, recipient, status, sent, part, open, dead, last, data, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.does.change, s.w, `UPDATE messages SET status = ?, open = ?, dead = ?, last = ?, data = ?, sum = ? WHERE id = ?`},
		{&s.does.find, s.r, `SELECT id, data, sum FROM messages WHERE id = ?1
			UNION ALL SELECT id, data, sum FROM messages WHERE short = ?1 AND short IS NOT NULL LIMIT 1`},
	} {
		if *p.into, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

// message reads a row of an id, all of a message, and its checksum; nil: it is damaged.
func (s *Store) message(row interface{ Scan(...any) error }) ([]byte, error) {
	var id, data string
	var is int64
	if err := row.Scan(&id, &data, &is); err != nil {
		return nil, err
	}
	if is != sum(id, data) {
		s.passOver("message " + id)
		return nil, nil
	}
	return []byte(data), nil
}

// Find returns what was kept of the message of that id, or short id, nil for nothing.
func (s *Store) Find(id string) []byte {
	data, err := s.message(s.does.find.QueryRow(id))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		s.passOver("message " + id)
	}
	return data
}

// Unused returns those of the ids that no message has, as its id or as its short one; all where
// that cannot be read.
func (s *Store) Unused(ids []string) (unused []string) {
	list, err := json.Marshal(ids)
	if err == nil {
		err = rowsOf(context.Background(), s.r, func(row *sql.Rows) error {
			var id string
			err := row.Scan(&id)
			unused = append(unused, id)
			return err
		}, idsUnused, string(list))
	}
	if err != nil {
		return ids
	}
	return unused
}

const idsUnused = `SELECT value FROM json_each(?)
	WHERE NOT EXISTS (SELECT 1 FROM messages WHERE id = value)
	AND NOT EXISTS (SELECT 1 FROM messages WHERE short = value AND short IS NOT NULL)`

// Newest calls f with the messages that were sent, the newest first, until f has enough.
func (s *Store) Newest(f func(message []byte) (more bool)) error {
	enough := errors.New("enough")
	err := rowsOf(context.Background(), s.r, func(row *sql.Rows) error {
		if data, err := s.message(row); err != nil {
			return err
		} else if data != nil && !f(data) {
			return enough
		}
		return nil
	}, `SELECT id, data, sum FROM messages WHERE sent ORDER BY n DESC`)
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// Load returns what was kept of the state, but for the messages that have ended. Rows that are
// damaged are passed over; see [Store.Damaged].
func (s *Store) Load() (v router.Loaded, err error) {
	ctx := context.Background()
	v.Last = s.last.Load()
	for query, take := range map[string]func(*sql.Rows) error{
		`SELECT name, data, sum FROM agents`: func(row *sql.Rows) error {
			var name, data string
			var is int64
			err := row.Scan(&name, &data, &is)
			if err == nil && is != sum(name, data) {
				s.passOver("agent " + name)
			} else if err == nil {
				v.Agents = append(v.Agents, []byte(data))
			}
			return err
		},
		`SELECT channel, name FROM members`: func(row *sql.Rows) error {
			var m router.Member
			err := row.Scan(&m.Channel, &m.Name)
			v.Members = append(v.Members, m)
			return err
		},
		`SELECT id, data, sum FROM messages WHERE open ORDER BY seq, n`: func(row *sql.Rows) error {
			data, err := s.message(row)
			if data != nil {
				v.Open = append(v.Open, data)
			}
			return err
		},
	} {
		if err := rowsOf(ctx, s.r, take, query); err != nil {
			return v, fmt.Errorf("read the state: %w", err)
		}
	}
	return v, nil
}
