package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// sums are the tables whose rows have a checksum: over which columns it is, and by which one a row
// is known. Rows of a table with a column sum that is not here are not looked at.
var sums = []struct{ table, key, over string }{
	{"events", "seq", "seq, type, agent, data"},
	{"messages", "id", "id, data"},
	{"agents", "name", "name, data"},
}

// checks are tables of the checks' own: numbers whose events are known not to be there, and what
// the last look at all rows found.
const checks = `
CREATE TABLE IF NOT EXISTS lost (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS looked (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, found TEXT NOT NULL);
`

// querier is a database, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// numbers are those from one to another, both included.
type numbers struct{ first, last int64 }

func (n numbers) String() string {
	if n.first == n.last {
		return fmt.Sprint(n.first)
	}
	return fmt.Sprintf("%d to %d", n.first, n.last)
}

// rowsOf calls f with each row of a query.
func rowsOf(ctx context.Context, db querier, f func(row *sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
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

// wholeRow reports whether the columns of a row, the last of which is its checksum, are as they
// were written.
func wholeRow(row []any) bool {
	var fields []string
	for _, v := range row[:len(row)-1] {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		fields = append(fields, fmt.Sprint(v))
	}
	return row[len(row)-1] == sum(fields...)
}

// scanAny reads the columns of a row, whatever they are.
func scanAny(row *sql.Rows, columns int) ([]any, error) {
	values, at := make([]any, columns), make([]any, columns)
	for i := range values {
		at[i] = &values[i]
	}
	return values, row.Scan(at...)
}

// eachRow calls f with the key of each row of sums[n], and whether the row is as it was written. It
// reads a few at a time, and rests between them for as long as they took: others have the disk,
// too.
func eachRow(ctx context.Context, db querier, n int, f func(key any, whole bool)) error {
	t := sums[n]
	columns := strings.Count(t.over, ",") + 3
	where, after := "", []any{}
	for {
		began, seen := time.Now(), 0
		query := fmt.Sprintf(`SELECT %s, %s, sum FROM %s %s ORDER BY %[2]s LIMIT %[5]d`, t.key, t.over, t.table, where, readMost)
		err := rowsOf(ctx, db, func(row *sql.Rows) error {
			values, err := scanAny(row, columns)
			if err == nil {
				seen++
				after = values[:1]
				f(values[0], wholeRow(values[1:]))
			}
			return err
		}, query, after...)
		if err != nil || seen < readMost {
			return err
		}
		where = "WHERE " + t.key + " > ?"
		select {
		case <-time.After(time.Since(began)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// missing are the events between two that are not there, but for those that are known to be lost.
// It counts before it looks for them.
func missing(ctx context.Context, db querier, log func() numbers) (gaps []numbers, err error) {
	all := log()
	lost := []numbers{}
	count := int64(0)
	err = rowsOf(ctx, db, func(row *sql.Rows) error {
		var n numbers
		err := row.Scan(&n.first, &n.last)
		n = numbers{max(n.first, all.first), min(n.last, all.last)}
		if n.first <= n.last {
			lost, count = append(lost, n), count+n.last-n.first+1
		}
		return err
	}, `SELECT first, last FROM lost ORDER BY first`)
	if err == nil {
		err = rowsOf(ctx, db, func(row *sql.Rows) error {
			var there int64
			err := row.Scan(&there)
			count += there
			return err
		}, `SELECT count(*) FROM events WHERE seq BETWEEN ? AND ?`, all.first, all.last)
	}
	if err != nil || count == all.last-all.first+1 {
		return nil, err
	}
	next := all.first
	gap := func(upTo int64) { // from next on, but for what is lost
		for ; next <= upTo; next++ {
			at, is := slices.BinarySearchFunc(lost, next, func(n numbers, seq int64) int {
				switch {
				case n.last < seq:
					return -1
				case n.first > seq:
					return 1
				}
				return 0
			})
			switch {
			case is:
				next = lost[at].last
			case at < len(lost) && lost[at].first <= upTo:
				gaps = append(gaps, numbers{next, lost[at].first - 1})
				next = lost[at].last
			default:
				gaps = append(gaps, numbers{next, upTo})
				next = upTo
			}
		}
	}
	err = rowsOf(ctx, db, func(row *sql.Rows) error {
		var seq int64
		err := row.Scan(&seq)
		gap(seq - 1)
		next = seq + 1
		return err
	}, `SELECT seq FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq`, all.first, all.last)
	gap(all.last)
	kept := log().first // what was dropped meanwhile is not missing
	return slices.DeleteFunc(gaps, func(n numbers) bool { return n.last < kept }), err
}

const areMissing = " missing: "

// tellMissing says which events are missing.
func tellMissing(gaps []numbers) []string {
	if len(gaps) == 0 {
		return nil
	}
	count, list := int64(0), []string{}
	for i, g := range gaps {
		count += g.last - g.first + 1
		if i < 3 {
			list = append(list, g.String())
		}
	}
	if len(gaps) > len(list) {
		list = append(list, "…")
	}
	what := fmt.Sprintf("%d events are", count)
	if count == 1 {
		what = "1 event is"
	}
	return []string{what + areMissing + strings.Join(list, ", ")}
}

// lookAtAll reads all rows of all tables, and tells what is not as it was written. The log may go
// on meanwhile, and lose its oldest events.
func lookAtAll(ctx context.Context, db querier, log func() numbers) (found []string, err error) {
	err = rowsOf(ctx, db, func(row *sql.Rows) error {
		var says string
		err := row.Scan(&says)
		if says != "ok" {
			found = append(found, "relay.db is damaged: "+strings.Join(strings.Fields(says), " "))
		}
		return err
	}, `PRAGMA integrity_check(3)`)
	for n, t := range sums {
		if err != nil {
			break
		}
		var count, damaged int
		var first any
		err = eachRow(ctx, db, n, func(key any, whole bool) {
			if count++; !whole {
				if damaged++; damaged == 1 {
					first = key
				}
			}
		})
		if damaged > 0 {
			found = append(found, fmt.Sprintf("%d of %d rows of %s are damaged, the first is %v", damaged, count, t.table, first))
		}
	}
	if err == nil {
		var gaps []numbers
		gaps, err = missing(ctx, db, log)
		found = append(found, tellMissing(gaps)...)
	}
	if corrupt(err) {
		found, err = append(found, fmt.Sprintf("relay.db is damaged: %v", err)), nil
	}
	return found, err
}

const (
	// lookEvery is how often a router that runs reads all rows.
	lookEvery = 24 * time.Hour
	// lookAgain is how soon it tries again what failed.
	lookAgain = time.Hour
)

// Watch looks at the store until ctx ends: whether all events are there at once, whether each row
// is as it was written if nobody has looked for a day, and once a day. It tells what it finds,
// once.
func (s *Store) Watch(ctx context.Context, tell func(string)) error {
	told := map[string]bool{}
	find := func(found []string) {
		s.mu.Lock()
		s.found = found
		s.mu.Unlock()
		for _, f := range found {
			if !told[f] {
				told[f] = true
				tell(f)
			}
		}
	}
	at, found := s.lookedLast(ctx)
	if gaps, err := missing(ctx, s.r, s.span); err == nil {
		found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, areMissing) })
		found = append(found, tellMissing(gaps)...)
	}
	find(append(s.Faults(), found...))
	for {
		select {
		case <-time.After(time.Until(at.Add(lookEvery))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		found, err := lookAtAll(ctx, s.r, s.span)
		if err == nil {
			find(found)
			at = time.Now()
			err = s.keepLooked(ctx, at, found)
		}
		if err != nil {
			at = time.Now().Add(lookAgain - lookEvery)
		}
	}
}

func (s *Store) span() numbers { return numbers{s.first.Load(), s.last.Load()} }

// Faults are what is known to be damaged or missing, in words.
func (s *Store) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.found)
}

// lookedLast is when all rows were read last, by any router, and what that found.
func (s *Store) lookedLast(ctx context.Context) (at time.Time, found []string) {
	var millis int64
	var text string
	err := s.r.QueryRowContext(ctx, `SELECT at, found FROM looked`).Scan(&millis, &text)
	if err != nil || json.Unmarshal([]byte(text), &found) != nil {
		return time.Time{}, nil // it is looked now
	}
	return time.UnixMilli(millis), found
}

func (s *Store) keepLooked(ctx context.Context, at time.Time, found []string) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // it was looked, whoever ends now
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO looked (one, at, found) VALUES (1, ?, ?)`, at.UnixMilli(), string(text))
		return err
	})
}
