package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"syscall"
)

// ErrUnclear is that nobody knows whether events were written. Whoever gets it must read the store
// anew before anything else is written.
var ErrUnclear = errors.New("it is not known whether the event was written")

// ErrFull is that an event was not written, for want of room.
var ErrFull = errors.New("the log takes no more")

// spare is what stays free of the disk: before the last of it is used up, events are refused
// while all that is there can be read, and written anew when there is room.
const spare = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of a row.
func sum(fields ...string) (n int64) {
	var at uint32
	for _, f := range fields {
		at = crc32.Update(at, castagnoli, append([]byte(f), 0))
	}
	return int64(at)
}

func number(n int64) string { return fmt.Sprint(n) }

// findOut finds out what became of events whose write failed.
func (s *Store) findOut(ctx context.Context, events []Entry, failed error) error {
	if err := s.Gone(); err != nil {
		return err
	}
	var newest int64
	err := s.r.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM events`).Scan(&newest)
	if err != nil || len(events) > 0 && newest >= events[0].Seq {
		return fmt.Errorf("%w: %w", ErrUnclear, errors.Join(failed, err))
	}
	return fmt.Errorf("%w: a write to %s failed: look whether its disk is full (%w)", ErrFull, s.dir, failed)
}

// Room refuses, with ErrFull, an event of so many bytes for which the disk has no room.
func (s *Store) Room(n int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &disk); err != nil {
		return cmp.Or(s.Gone(), fmt.Errorf("%w: %s: %w", ErrFull, s.dir, err))
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); s.spare > 0 && free < s.spare+2*n {
		return fmt.Errorf("%w: the disk of %s is full (%d KiB are free): make room, and it goes on", ErrFull, s.dir, free>>10)
	}
	return nil
}

// readMost is how many events are read at once.
const readMost = 500

type event struct {
	seq  int64
	data []byte // nil: it is damaged
}

// passOver notes that something is damaged.
func (s *Store) passOver(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damaged == nil {
		s.damaged = map[string]bool{}
	}
	s.damaged[what] = true
}

// Damaged is what was passed over up to now, since it is not as it was written: "event 12",
// "message m-7wzk", "agent bob".
func (s *Store) Damaged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.damaged))
}

// Read calls f with each event after that number, in order, up to the newest there is. Those that
// are damaged are passed over; see [Store.Damaged].
func (s *Store) Read(ctx context.Context, after int64, f func(seq int64, data []byte) error) error {
	for newest := s.last.Load(); after < newest; {
		page, err := s.page(ctx, after, newest)
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, e := range page {
			after = e.seq
			if e.data == nil {
				s.passOver(fmt.Sprint("event ", e.seq))
				continue
			}
			if err := f(e.seq, e.data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) page(ctx context.Context, after, newest int64) (page []event, err error) {
	const selected = `SELECT seq, type, agent, data, sum FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
	rows, err := s.r.QueryContext(ctx, selected, after, newest, readMost)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, e)
	}
	return page, rows.Err()
}

// scan reads an event of a row, and checks it.
func scan(row interface{ Scan(...any) error }) (e event, err error) {
	var kind, agent, data string
	var is int64
	if err := row.Scan(&e.seq, &kind, &agent, &data, &is); err != nil {
		if e.seq != 0 { // its columns are not of their kind
			return e, nil
		}
		return e, err
	}
	if is == sum(number(e.seq), kind, agent, data) {
		e.data = []byte(data)
	}
	return e, nil
}

// Get returns one event, and false where it is no longer kept, or damaged.
func (s *Store) Get(ctx context.Context, seq int64) (data []byte, ok bool, err error) {
	e, err := scan(s.r.QueryRowContext(ctx, `SELECT seq, type, agent, data, sum FROM events WHERE seq = ?`, seq))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read event %d of the log: %w", seq, err)
	}
	return e.data, e.data != nil, nil
}

// Span returns the numbers of the oldest and the newest event. Where there is none, oldest is
// newest+1.
func (s *Store) Span(context.Context) (oldest, newest int64, err error) {
	return s.first.Load(), s.last.Load(), nil
}

// Size returns how many events are kept, and how many bytes the store takes on the disk, but for
// what it has to spare.
func (s *Store) Size(ctx context.Context) (events, bytes int64, err error) {
	const used = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
	if err := s.r.QueryRowContext(ctx, used).Scan(&bytes); err != nil {
		return 0, 0, fmt.Errorf("look at the log: %w", err)
	}
	return s.last.Load() - s.first.Load() + 1, bytes, nil
}

// Excess returns the number up to which events are more than is to be kept; 0: none. Events are
// dropped by the tenth, not one by one.
func (s *Store) Excess(ctx context.Context, older func(data []byte) bool) (upTo int64, err error) {
	count, bytes, err := s.Size(ctx)
	if err != nil || count == 0 {
		return 0, err
	}
	last := s.last.Load()
	if limit := s.limit.Bytes; bytes > limit {
		share := float64(bytes-limit+limit/10) / float64(bytes)
		const oldest = `SELECT coalesce(max(seq), 0) FROM
			(SELECT seq FROM events ORDER BY seq LIMIT (SELECT cast(count(*) * ? AS INTEGER) FROM events))`
		if err := s.r.QueryRowContext(ctx, oldest, share).Scan(&upTo); err != nil {
			return 0, fmt.Errorf("look at the log: %w", err)
		}
	}
	// Events are in the order of their time but for some of wrappers; the search is for a day's
	// end.
	for low, high := s.first.Load(), last; low <= high; {
		middle := low + (high-low)/2
		e, err := s.wholeFrom(ctx, middle, high)
		if err != nil {
			return 0, err
		}
		if e.data == nil || !older(e.data) {
			high = middle - 1
			continue
		}
		upTo = max(upTo, e.seq)
		low = e.seq + 1
	}
	return min(upTo, last-1), nil
}

// wholeFrom is the first event from one number to another that is as it was written, and one
// without data where there is none: damage makes nothing old.
func (s *Store) wholeFrom(ctx context.Context, first, last int64) (e event, err error) {
	for after := first - 1; after < last; after = e.seq {
		const selected = `SELECT seq, type, agent, data, sum FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 1`
		e, err = scan(s.r.QueryRowContext(ctx, selected, after, last))
		if errors.Is(err, sql.ErrNoRows) {
			return event{}, nil
		}
		if err != nil {
			return e, fmt.Errorf("read the log behind event %d: %w", after, err)
		}
		if e.data != nil {
			return e, nil
		}
	}
	return event{}, nil
}

// trimMost is how many events are dropped at once, so that none waits long for that.
const trimMost = 5000

// Trim drops the events up to a number, and gives the room back.
func (s *Store) Trim(ctx context.Context, upTo int64) error {
	for first := s.first.Load(); first <= upTo && upTo < s.last.Load(); first = s.first.Load() {
		next := min(first+trimMost, upTo+1)
		err := s.write(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `DELETE FROM events WHERE seq < ?`, next); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE log SET first = ?`, next); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `PRAGMA incremental_vacuum`)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop old events: %w", err)
		}
		s.first.Store(next)
	}
	return nil
}
