package store

import (
	"context"
	"database/sql"
	"errors"

	"relay-pty/cmd/relay/internal/router"
)

// Save keeps all of what a state saves, or nothing. What a store takes that lost its place is not
// kept.
func (s *Store) Save(v router.Saving) error {
	ctx := context.Background()
	err := s.write(ctx, func(tx *sql.Tx) error { return save(ctx, tx, v) })
	if err == nil {
		err = s.Gone()
	}
	return err
}

func save(ctx context.Context, tx *sql.Tx, v router.Saving) error {
	put, err := tx.PrepareContext(ctx, `INSERT OR REPLACE INTO messages (id, open, data, sum) VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer put.Close()
	for _, p := range v.Pages {
		data := string(p.All)
		if _, err := put.ExecContext(ctx, p.ID, p.Open, data, sum(p.ID, data)); err != nil {
			return err
		}
		if len(p.Line) == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO lines (seq, id, line) VALUES (?, ?, ?)`, p.Seq, p.ID, string(p.Line)); err != nil {
			return err
		}
	}
	for _, p := range v.Drop {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE id = ?`, p.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM lines WHERE seq = ? AND id = ?`, p.Seq, p.ID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO state (one, data, sum) VALUES (1, ?, ?)`, string(v.State), sum(string(v.State)))
	return err
}

// Find returns what was kept of a message, nil for nothing.
func (s *Store) Find(id string) []byte {
	var data string
	var is int64
	err := s.r.QueryRow(`SELECT data, sum FROM messages WHERE id = ?`, id).Scan(&data, &is)
	if err != nil || is != sum(id, data) {
		return nil
	}
	return []byte(data)
}

var errDamaged = errors.New("what is kept is damaged")

// Load returns the state that was kept last, nil for none, and calls each with the lines, as their
// messages came, and open with the ids of messages that have not ended.
func (s *Store) Load(each func(router.Place, []byte) error, open func(id string)) (state []byte, err error) {
	ctx := context.Background()
	var kept string
	var is int64
	err = s.r.QueryRowContext(ctx, `SELECT data, sum FROM state`).Scan(&kept, &is)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case is != sum(kept):
		return nil, errDamaged
	}
	if err := s.rows(ctx, `SELECT seq, id, line FROM lines ORDER BY seq, id`, func(row *sql.Rows) error {
		var p router.Place
		var line sql.RawBytes
		if err := row.Scan(&p.Seq, &p.ID, &line); err != nil {
			return err
		}
		return each(p, line)
	}); err != nil {
		return nil, err
	}
	err = s.rows(ctx, `SELECT id FROM messages WHERE open`, func(row *sql.Rows) error {
		var id string
		err := row.Scan(&id)
		open(id)
		return err
	})
	return []byte(kept), err
}

// rows calls f with each row of an answer.
func (s *Store) rows(ctx context.Context, query string, f func(*sql.Rows) error) error {
	rows, err := s.r.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Clear forgets what a state has saved.
func (s *Store) Clear() error {
	ctx := context.Background()
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messages; DELETE FROM lines; DELETE FROM state`)
		return err
	})
}
