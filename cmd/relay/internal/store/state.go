package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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
	const put = `INSERT INTO messages (id, seq, line, open, data, sum) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, line = excluded.line, open = excluded.open, data = excluded.data, sum = excluded.sum`
	into, err := tx.PrepareContext(ctx, put)
	if err != nil {
		return err
	}
	defer into.Close()
	for _, p := range v.Pages {
		line, data := string(p.Line), string(p.All)
		if _, err := into.ExecContext(ctx, p.ID, p.Seq, line, p.Open, data, sum(p.ID, number(p.Seq), line, data)); err != nil {
			return err
		}
	}
	for _, p := range v.Drop {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE id = ?`, p.ID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO state (one, data, sum) VALUES (1, ?, ?)`, string(v.State), sum(string(v.State)))
	return err
}

// Find returns what was kept of a message, nil for nothing.
func (s *Store) Find(id string) []byte {
	var line, data string
	var seq, is int64
	err := s.r.QueryRow(`SELECT seq, line, data, sum FROM messages WHERE id = ?`, id).Scan(&seq, &line, &data, &is)
	if err != nil || is != sum(id, number(seq), line, data) {
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
	rows, err := s.r.QueryContext(ctx, `SELECT id, seq, line, open FROM messages ORDER BY seq, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p router.Place
		var line string
		var unended bool
		if err := rows.Scan(&p.ID, &p.Seq, &line, &unended); err != nil {
			return nil, err
		}
		if unended {
			open(p.ID)
		}
		if line == "" {
			continue
		}
		if err := each(p, []byte(line)); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	return []byte(kept), nil
}

// Clear forgets what a state has saved.
func (s *Store) Clear() error {
	ctx := context.Background()
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messages; DELETE FROM state`)
		return err
	})
}
