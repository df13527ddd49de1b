package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay-pty/protocol/own"
)

// Mend copies a store that is damaged aside, and leaves one that has all that can be read of it:
// damaged rows are dropped, and what is missing is noted as that, so that it is told no more. It
// tells what it did; nothing where nothing is damaged. While a router has the store it does
// nothing.
func Mend(ctx context.Context, dir string) (did []string, err error) {
	found, err := Inspect(ctx, dir)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	lock, err := hold(at(dir))
	if held := (*own.HeldError)(nil); errors.As(err, &held) {
		return nil, fmt.Errorf("mend store %s: the router that runs (pid %d) has it, and must end first", dir, held.PID)
	}
	if err != nil {
		return nil, err
	}
	aside, err := copyAside(dir)
	anew := slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "relay.db ") })
	epoch, _, _ := readNewest(at(dir)) // else it is not known how far the log went
	if err == nil && anew {
		did, err = rebuild(ctx, dir, aside)
	}
	lock.Release() // Open takes it
	if err != nil {
		return nil, fmt.Errorf("mend store %s: %w", dir, err)
	}
	s, err := Open(ctx, dir, Limit{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if anew && epoch != s.epoch { // it goes on above all numbers that it may have given
		s.reached(max(s.last.Load(), begins(time.Now())-1))
	}
	dropped, err := s.settle(ctx)
	return append(append(did, dropped...), "what was there before is in "+aside), err
}

// copyAside copies the files of a store into a directory in it.
func copyAside(dir string) (aside string, err error) {
	if aside, err = makeAside(dir); err == nil {
		err = copyFiles(dir, aside, "relay.db", "relay.db-wal", "newest", "version")
	}
	return aside, err
}

// copyFiles copies those files that are there.
func copyFiles(from, to string, names ...string) error {
	for _, name := range names {
		source, err := own.Open(filepath.Join(from, name), os.O_RDONLY, moveAway)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		copied, err := own.Open(filepath.Join(to, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, moveAway)
		if err == nil {
			_, err = io.Copy(copied, source)
			err = errors.Join(err, copied.Sync(), copied.Close())
		}
		source.Close() // only read
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuild makes relay.db of what can be read of its copy in aside.
func rebuild(ctx context.Context, dir, aside string) (did []string, err error) {
	work := filepath.Join(aside, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) // nothing in it is needed any more
	if err := copyFiles(aside, work, "relay.db", "relay.db-wal"); err != nil {
		return nil, err
	}
	if err := lengthen(filepath.Join(work, "relay.db")); err != nil {
		return nil, err
	}
	to, err := Open(ctx, filepath.Join(work, "anew"), Limit{})
	if err != nil {
		return nil, err
	}
	from, err := sql.Open("sqlite", fileURL(filepath.Join(work, "relay.db"), "mode=rw"))
	if err == nil {
		did, err = to.takeOver(ctx, from)
		from.Close() // it is a copy
	}
	to.Close()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "relay.db")
	for _, beside := range []string{"-wal", "-shm"} { // they would change what is put there
		if err := os.Remove(file + beside); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return did, os.Rename(to.file, file)
}

// lengthen makes a database as long as it says it is: of one that was cut SQLite reads nothing.
func lengthen(path string) error {
	f, err := own.Open(path, os.O_RDWR, moveAway)
	if err != nil {
		return err
	}
	defer f.Close() // it is a copy
	const pageSize, pageCount, begins = 16, 28, "SQLite format 3\x00"
	head := make([]byte, 100)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(begins)]) != begins {
		return nil // nothing of it can be read
	}
	whole := int64(binary.BigEndian.Uint16(head[pageSize:])) * int64(binary.BigEndian.Uint32(head[pageCount:]))
	if whole <= info.Size() {
		return nil
	}
	return f.Truncate(whole)
}

// takeOver copies what can be read of all tables. A log that can no longer tell its epoch has a new
// one.
func (s *Store) takeOver(ctx context.Context, from *sql.DB) (did []string, err error) {
	epoch, all, failed := spanOf(ctx, from)
	if failed != nil {
		err := from.QueryRowContext(ctx, `SELECT epoch, first FROM log`).Scan(&epoch, &all.first)
		if err != nil {
			epoch, all.first = s.epoch, 0
		}
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		var tables []string
		err := rowsOf(ctx, tx, func(row *sql.Rows) error {
			var name string
			err := row.Scan(&name)
			tables = append(tables, name)
			return err
		}, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('log', 'looked') AND name NOT LIKE 'sqlite_%'`)
		if err != nil {
			return err
		}
		for _, table := range tables {
			n, err := copyTable(ctx, tx, from, table)
			if err != nil {
				return err
			}
			if n > 0 {
				did = append(did, fmt.Sprintf("%d rows of %s were kept", n, table))
			}
		}
		if len(did) == 0 {
			did = []string{"nothing of it could be read: a new log begins, and messages that waited are not in it"}
		}
		var first sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT min(seq) FROM events`).Scan(&first); err != nil {
			return err
		}
		if failed != nil && all.first == 0 { // the log's own row is lost, too
			all.first = begins(time.Now())
			if first.Valid {
				all.first = first.Int64
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE log SET epoch = ?, first = ?`, epoch, all.first)
		return err
	})
	return did, err
}

// copyTable copies the rows of a table that can be read: from the first on, behind each place that
// cannot be read as soon as one can again, and then from the last on.
func copyTable(ctx context.Context, to *sql.Tx, from *sql.DB, table string) (count int, err error) {
	var columns, key []string
	err = rowsOf(ctx, to, func(row *sql.Rows) error {
		var name string
		var at int
		err := row.Scan(&name, &at)
		if columns = append(columns, name); at > 0 {
			key = append(key, name)
		}
		return err
	}, `SELECT name, pk FROM pragma_table_info(?)`, table)
	if err != nil || len(key) == 0 {
		return 0, err
	}
	list := strings.Join(columns, ", ")
	put, err := to.PrepareContext(ctx, fmt.Sprintf(`INSERT OR IGNORE INTO %s (%s) VALUES (%s)`, table, list,
		strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")))
	if err != nil {
		return 0, err
	}
	defer put.Close()
	at := slices.Index(columns, key[0])
	var last any
	var refused error
	read := func(rest string, args ...any) error {
		return rowsOf(ctx, from, func(row *sql.Rows) error {
			values, err := scanAny(row, len(columns))
			if err != nil {
				return err
			}
			last = values[at]
			result, err := put.ExecContext(ctx, values...)
			if err != nil {
				refused = err
				return err
			}
			n, err := result.RowsAffected()
			count += int(n)
			return err
		}, fmt.Sprintf(`SELECT %s FROM %s %s`, list, table, rest), args...)
	}
	broken := read(`ORDER BY ` + strings.Join(key, ", "))
	for step := int64(1); broken != nil && refused == nil; step *= 2 {
		n, isNumber := last.(int64)
		if !isNumber || step > math.MaxInt32 {
			break
		}
		was := count
		broken = read(`WHERE `+key[0]+` >= ? ORDER BY `+strings.Join(key, ", "), n+step)
		if count > was {
			step = 1
		}
	}
	if broken != nil && refused == nil {
		read(`ORDER BY ` + strings.Join(key, " DESC, ") + ` DESC`) // as far as it goes
	}
	return count, refused
}

// settle drops damaged rows, and notes what is missing as lost.
func (s *Store) settle(ctx context.Context) (did []string, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		for n, t := range sums {
			var damaged []any
			if err := eachRow(ctx, tx, n, func(key any, whole bool) {
				if !whole {
					damaged = append(damaged, key)
				}
			}); err != nil {
				return err
			}
			for _, key := range damaged {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s = ?`, t.table, t.key), key); err != nil {
					return err
				}
			}
			if len(damaged) > 0 {
				did = append(did, fmt.Sprintf("%d damaged rows of %s were dropped", len(damaged), t.table))
			}
		}
		gaps, err := missing(ctx, tx, s.span)
		for _, g := range gaps {
			if err == nil {
				_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO lost (first, last) VALUES (?, ?)`, g.first, g.last)
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM looked`)
		}
		if len(gaps) > 0 {
			did = append(did, tellMissing(gaps)[0]+"; that is told no more")
		}
		return err
	})
	return did, err
}
