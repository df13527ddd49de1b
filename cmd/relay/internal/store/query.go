package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"relay-pty/cmd/relay/internal/router"
)

// arm is a part of a question that one index answers.
type arm struct {
	where []string
	args  []any
}

func (a *arm) and(where string, args ...any) {
	a.where, a.args = append(a.where, where), append(a.args, args...)
}

// arms are the parts of a question. No message is in two of them.
func arms(q router.Query, upTo int64) (list []arm) {
	part := func(where string, args ...any) {
		a := arm{[]string{where}, args}
		a.and("seq > ? AND seq <= ?", q.After, upTo)
		if q.From != "" {
			a.and("sender = ?", q.From)
		}
		list = append(list, a)
	}
	const several = "sent AND NOT part"
	switch {
	case q.Dead:
		part("dead")
	case q.To != "":
		part("sent AND recipient = ?", q.To)
	case q.Target != "":
		part("sent AND recipient = ?", q.Target)
		part(several+" AND sender = ?", q.Target)
	default:
		part(several)
	}
	if q.To != "" && q.Dead {
		list[0].and("recipient = ?", q.To)
	}
	if q.Target != "" && (q.To != "" || q.Dead) {
		list[0].and("(sender = ? OR recipient = ?)", q.Target, q.Target)
	}
	for _, channel := range q.Missed {
		part(several+" AND recipient = ?", channel)
		a := &list[len(list)-1]
		a.and("sender <> ?", q.To)
		a.and("NOT EXISTS (SELECT 1 FROM messages AS got WHERE got.id = messages.id || ':' || ?)", q.To)
	}
	return list
}

// Messages returns the ids of messages as they came, and how many older ones there are. All up to
// the event upTo are among them, and none behind it.
func (s *Store) Messages(ctx context.Context, q router.Query) (ids []string, older int, upTo int64, err error) {
	upTo = s.last.Load()
	var found, count []string
	var args []any
	most := -1
	if q.Last > 0 {
		most = q.Last
	}
	for _, a := range arms(q, upTo) {
		from := "FROM messages WHERE " + strings.Join(a.where, " AND ")
		found = append(found, "SELECT * FROM (SELECT id, seq, n "+from+" ORDER BY seq DESC, n DESC LIMIT ?)")
		args = append(args, append(a.args, most)...)
		count = append(count, "(SELECT count(*) "+from+")")
	}
	query := strings.Join(found, " UNION ALL ") + " ORDER BY seq DESC, n DESC LIMIT ?"
	err = rowsOf(ctx, s.r, func(row *sql.Rows) error {
		var id string
		var seq, n int64
		err := row.Scan(&id, &seq, &n)
		ids = append(ids, id)
		return err
	}, query, append(args, most)...)
	if err != nil || most < 0 || len(ids) < most {
		slices.Reverse(ids)
		return ids, 0, upTo, err
	}
	slices.Reverse(ids)
	args = nil
	for _, a := range arms(q, upTo) {
		args = append(args, a.args...)
	}
	err = s.r.QueryRowContext(ctx, "SELECT "+strings.Join(count, " + "), args...).Scan(&older)
	return ids, older - len(ids), upTo, err
}

// begunMost is how many ids are looked at that begin alike.
const begunMost = 100

// Begun returns ids of messages that begin with a word, or have a short one that does, the newest
// first, and whether there are more.
func (s *Store) Begun(ctx context.Context, word string) (ids []string, more bool, err error) {
	const query = `SELECT id FROM messages WHERE id >= ?1 AND id < ?2 OR short >= ?1 AND short < ?2 AND short IS NOT NULL
		ORDER BY seq DESC, n DESC LIMIT ?3`
	err = rowsOf(ctx, s.r, func(row *sql.Rows) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, query, word, word+"~", begunMost+1) // which is behind all that an id may have
	if more = len(ids) > begunMost; more {
		ids = ids[:begunMost]
	}
	return ids, more, err
}

// Ended counts the messages that were sent and have ended, by status.
func (s *Store) Ended(ctx context.Context) (counts map[string]int, err error) {
	counts = map[string]int{}
	err = rowsOf(ctx, s.r, func(row *sql.Rows) error {
		var status string
		var n int
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	}, `SELECT status, count(*) FROM messages WHERE sent AND NOT open GROUP BY status`)
	return counts, err
}

// forgetMost is how many messages are dropped at once, with what belongs to them.
const forgetMost = 500

// Forget drops the messages that have ended of which the log keeps nothing: its events up to a
// number are gone.
func (s *Store) Forget(ctx context.Context, upTo int64) error {
	const old = ` IN (SELECT %s FROM messages WHERE root IS NULL AND NOT open AND last <= ? ORDER BY last LIMIT ?)`
	for dropped := int64(forgetMost); dropped == forgetMost; {
		err := s.write(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE root`+strings.Replace(old, "%s", "id", 1), upTo, forgetMost); err != nil {
				return err
			}
			done, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE n`+strings.Replace(old, "%s", "n", 1), upTo, forgetMost)
			if err != nil {
				return err
			}
			if dropped, err = done.RowsAffected(); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `PRAGMA incremental_vacuum`)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
