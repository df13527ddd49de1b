package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filled is a store with so many events, 50 messages, an agent and a member.
func filled(t *testing.T, events int) (s *Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	s = open(t, dir)
	for i := range events {
		_, err := s.add("state", "bob", fmt.Appendf(nil, "event %d %0300d", i+1, i))
		must(t, err)
	}
	must(t, s.Commit(t.Context(), nil, rows(1)))
	return s, dir
}

func (s *Store) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := s.w.Exec(statement)
		must(t, err)
	}
}

func inspect(t *testing.T, dir string) string {
	t.Helper()
	found, err := Inspect(t.Context(), dir)
	must(t, err)
	return strings.Join(found, "\n")
}

// watch is what a router is told of its store, up to so many lines.
func watch(t *testing.T, s *Store, lines int) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan string, 10), make(chan error, 1)
	go func() { ended <- s.Watch(ctx, func(f string) { told <- f }) }()
	var all []string
	for len(all) < lines {
		select {
		case f := <-told:
			all = append(all, f)
		case <-time.After(time.Minute):
			t.Fatalf("told are %q, and line %d not within a minute", all, len(all)+1)
		}
	}
	cancel()
	<-ended
	return strings.Join(all, "\n")
}

// TestMissingEventsAreTold: those from the middle, the oldest and the newest, by the router and by
// the doctor; their numbers are not given out again; what was mended is told no more.
func TestMissingEventsAreTold(t *testing.T) {
	s, dir := filled(t, 1200)
	must(t, s.Trim(t.Context(), 100)) // which is no loss
	if got, ok := inspect(t, dir), s.Faults(); got != "" || ok != nil {
		t.Errorf("nothing is missing: got %q, %q", got, ok)
	}
	s.exec(t, `DELETE FROM events WHERE seq IN (101, 300, 301, 302, 1199, 1200)`)
	s.Close()
	const want = "6 events are missing: 101, 300 to 302, 1199 to 1200"
	if got := inspect(t, dir); got != want {
		t.Errorf("the doctor finds %q, want %q", got, want)
	}
	s = open(t, dir)
	if got := watch(t, s, 1); got != want || strings.Join(s.Faults(), "") != want {
		t.Errorf("the router is told %q, and says %q, want %q", got, s.Faults(), want)
	}
	if seq, err := s.add("state", "bob", []byte("x")); seq != 1201 || err != nil {
		t.Errorf("the next event is %d, %v", seq, err)
	}
	if did, err := Mend(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "must end first") {
		t.Errorf("mended while a router has it: %q, %v", did, err)
	}
	s.Close()
	did, err := Mend(t.Context(), dir)
	must(t, err)
	if len(did) != 2 || did[0] != want+"; that is told no more" || !strings.HasPrefix(did[1], "what was there before is in "+dir) {
		t.Errorf("mended by %q", did)
	}
	s = open(t, dir)
	defer s.Close()
	if got := inspect(t, dir); got != "" || len(s.all(t, 0)) != 1095 || s.Faults() != nil {
		t.Errorf("mended, the doctor finds %q, and %d events are there", got, len(s.all(t, 0)))
	}
}

// TestDamagedRowsAreTold, of each table, by the router and by the doctor, and by a router that
// begins within a day without a look at all; mended, they are gone.
func TestDamagedRowsAreTold(t *testing.T) {
	s, dir := filled(t, 600)
	s.exec(t, `UPDATE events SET data = replace(data, '7', '8') WHERE seq IN (7, 577)`)
	s.exec(t, `UPDATE messages SET open = 1, data = 'X' WHERE id = 'm3'`)
	const want = "2 of 600 rows of events are damaged, the first is 7\n1 of 50 rows of messages are damaged, the first is m3"
	if got := watch(t, s, 2); got != want {
		t.Errorf("the router is told %q, want %q", got, want)
	}
	s.Close()
	if got := inspect(t, dir); got != want {
		t.Errorf("the doctor finds %q, want %q", got, want)
	}
	s = open(t, dir)
	at, _ := s.lookedLast(t.Context())
	if got := watch(t, s, 2); got != want || time.Since(at) > time.Hour {
		t.Errorf("the next router is told %q, looked at %v", got, at)
	}
	s.exec(t, `UPDATE agents SET data = '3'`)
	s.Close()
	if did, err := Mend(t.Context(), dir); err != nil || len(did) != 5 || did[0] != "2 damaged rows of events were dropped" {
		t.Errorf("mended by %q, %v", did, err)
	}
	s = open(t, dir)
	defer s.Close()
	if got := inspect(t, dir); got != "" || len(s.all(t, 0)) != 598 || s.Damaged() != nil {
		t.Errorf("mended, the doctor finds %q, damaged: %v", got, s.Damaged())
	}
}

// TestEachChecksumIsLookedAt: a table whose rows have one is in sums.
func TestEachChecksumIsLookedAt(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	known := map[string]bool{}
	for _, c := range sums {
		known[c.table] = true
	}
	rows, err := s.r.Query(`SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'sum'`)
	must(t, err)
	defer rows.Close()
	count := 0
	for ; rows.Next(); count++ {
		var table string
		must(t, rows.Scan(&table))
		if !known[table] {
			t.Errorf("table %s has checksums that nobody looks at", table)
		}
	}
	if must(t, rows.Err()); count != len(sums) {
		t.Errorf("%d tables have checksums, and %d are looked at", count, len(sums))
	}
}

// killed is a store as a kill leaves it: what was committed last is not in its file yet.
func killed(t *testing.T, events int) (dir string) {
	t.Helper()
	s, from := filled(t, events)
	defer s.Close()
	dir = filepath.Join(t.TempDir(), "store")
	must(t, os.Mkdir(dir, 0o700))
	must(t, copyFiles(from, dir, "relay.db", "relay.db-wal", "newest", "version"))
	return dir
}

// TestALogThatIsCutShort: SQLite says nothing where its WAL was cut, damaged or removed. What was
// accepted is told as missing, and no number is given out again.
func TestALogThatIsCutShort(t *testing.T) {
	for name, harm := range map[string]func(wal string) error{
		"cut": func(wal string) error { return os.Truncate(wal, 200_000) },
		"a bit": func(wal string) error {
			b, err := os.ReadFile(wal)
			b[200_000] ^= 4
			return errors.Join(err, os.WriteFile(wal, b, 0o600))
		},
		"removed": os.Remove,
		"emptied": func(wal string) error { return os.Truncate(wal, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := killed(t, 200)
			if got := inspect(t, dir); got != "" {
				t.Fatalf("the doctor finds %q in what a kill leaves", got)
			}
			must(t, harm(filepath.Join(dir, "relay.db-wal")))
			doctor := inspect(t, dir)
			s, err := Open(t.Context(), dir, month)
			if damaged := (*DamagedError)(nil); errors.As(err, &damaged) { // it had not even its tables yet
				_, err = Mend(t.Context(), dir)
				must(t, err)
				return
			}
			must(t, err)
			defer s.Close()
			router := watch(t, s, 1)
			if !strings.Contains(router, areMissing) || !strings.Contains(doctor, areMissing) {
				t.Errorf("the router is told %q, the doctor finds %q", router, doctor)
			}
			if seq, err := s.add("state", "bob", []byte("x")); seq != 201 || err != nil {
				t.Errorf("the next event is %d, %v", seq, err)
			}
		})
	}
}

// TestADamagedFile: it is refused, or what is damaged of it told; it stays as it is until it is
// mended, and is put aside then, with all kept that can be read and no number given out again.
func TestADamagedFile(t *testing.T) {
	const events = 1000
	for name, c := range map[string]struct {
		harm  func(b []byte) []byte
		least int // so many events are kept
	}{
		"cut to nothing":     {func([]byte) []byte { return nil }, 0},
		"cut to a page":      {func(b []byte) []byte { return b[:4096] }, 0},
		"cut in a page":      {func(b []byte) []byte { return b[:9000] }, 0},
		"cut to a half":      {func(b []byte) []byte { return b[:len(b)/2] }, events / 4},
		"no database":        {func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), 2000) }, 0},
		"its head is gone":   {func(b []byte) []byte { copy(b, make([]byte, 100)); return b }, 0},
		"a page is no page":  {func(b []byte) []byte { return worn(b, 40) }, events * 8 / 10},
		"pages are no pages": {func(b []byte) []byte { return worn(worn(worn(b, 20), 50), 80) }, events * 6 / 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := filled(t, events)
			s.Close()
			file := filepath.Join(dir, "relay.db")
			b, err := os.ReadFile(file)
			must(t, err)
			b = c.harm(b)
			must(t, os.WriteFile(file, b, 0o600))
			if got := inspect(t, dir); !strings.Contains(got, "relay.db is damaged") {
				t.Errorf("the doctor finds %q", got)
			}
			s, err = Open(t.Context(), dir, month)
			var damaged *DamagedError
			switch {
			case err == nil:
				if got := watch(t, s, 1); !strings.Contains(got, "relay.db is damaged") {
					t.Errorf("the router is told %q", got)
				}
				s.Close()
				b, err = os.ReadFile(file)
				must(t, err)
			case !errors.As(err, &damaged) || !strings.Contains(damaged.Hint(), "relay doctor --fix"):
				t.Errorf("opened: %v", err)
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, b) {
				t.Errorf("it was changed before it was mended, %v", err)
			}
			did, err := Mend(t.Context(), dir)
			must(t, err)
			kept, none := strings.Contains(did[0], "were kept"), strings.HasPrefix(did[0], "nothing of it could be read")
			if kept == none || none && c.least > 0 {
				t.Errorf("mended by %q", did)
			}
			aside, err := filepath.Glob(filepath.Join(dir, "damaged-*", "relay.db"))
			must(t, err)
			if len(aside) != 1 {
				t.Fatalf("put aside are %q", aside)
			}
			if was, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(was, b) {
				t.Errorf("what is put aside is not what was there, %v", err)
			}
			s = open(t, dir)
			defer s.Close()
			if got := s.all(t, 0); len(got) < c.least || inspect(t, dir) != "" {
				t.Errorf("%d events are kept, want %d; the doctor finds %q", len(got), c.least, inspect(t, dir))
			}
			seq, err := s.add("state", "bob", []byte("x"))
			if err != nil || c.least > 0 && seq != events+1 {
				t.Errorf("the next event is %d, %v", seq, err)
			}
			must(t, s.commit(1))
		})
	}
}

// worn is a database one page of which is none any more.
func worn(b []byte, page int) []byte {
	copy(b[page*4096:], bytes.Repeat([]byte{0xa5}, 4096))
	return b
}

// TestARemovedFile: a new log begins, which is told; what a kill left beside the old one is kept.
func TestARemovedFile(t *testing.T) {
	dir := killed(t, 50)
	wal, err := os.ReadFile(filepath.Join(dir, "relay.db-wal"))
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "relay.db")))
	s := open(t, dir)
	if s.Lost != 50 || len(s.all(t, 0)) != 0 {
		t.Errorf("lost are %d, and there are %q", s.Lost, s.all(t, 0))
	}
	aside, err := filepath.Glob(filepath.Join(dir, "damaged-*", "relay.db-wal"))
	must(t, err)
	if len(aside) != 1 {
		t.Fatalf("put aside are %q", aside)
	}
	if b, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(b, wal) {
		t.Errorf("what is put aside is not what was there, %v", err)
	}
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if s.Lost != 0 {
		t.Error("it is told twice")
	}
}

// TestAFileOfANewerVersion is refused and left as it is, also where the file "version" says
// nothing.
func TestAFileOfANewerVersion(t *testing.T) {
	s, dir := filled(t, 3)
	s.exec(t, fmt.Sprintf(`PRAGMA user_version = %d`, Version+1))
	s.Close()
	must(t, os.Remove(filepath.Join(dir, "version")))
	file := filepath.Join(dir, "relay.db")
	before, err := os.ReadFile(file)
	must(t, err)
	if _, err := Open(t.Context(), dir, month); err == nil || !strings.Contains(err.Error(), "use the newer relay, or another --store") {
		t.Errorf("opened: %v", err)
	}
	if got := inspect(t, dir); got != "" {
		t.Errorf("the doctor finds %q", got)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was changed, %v", err)
	}
}

// TestDamageMakesNothingOld: where the search for what is old meets damaged or missing events, no
// more is dropped than what is old.
func TestDamageMakesNothingOld(t *testing.T) {
	s, _ := filled(t, 101)
	defer s.Close()
	s.exec(t, `UPDATE events SET data = 'X' WHERE seq BETWEEN 45 AND 55`, `DELETE FROM events WHERE seq BETWEEN 20 AND 30`)
	for _, old := range []int{0, 10, 40, 70} {
		upTo, err := s.Excess(t.Context(), func(data []byte) bool {
			var n int
			fmt.Sscanf(string(data), "event %d", &n)
			return n <= old
		})
		if must(t, err); upTo != int64(old) {
			t.Errorf("up to %d are old: up to %d may go", old, upTo)
		}
	}
}

// TestWhereAStoreIsWeak: a file system that may not lock or sync is told by its name.
func TestWhereAStoreIsWeak(t *testing.T) {
	dir := t.TempDir()
	if got := Weak(dir); got != "" {
		t.Logf("here: %s", got)
	}
	is := fileSystem
	defer func() { fileSystem = is }()
	for kind, name := range map[string]string{"nfs": "(NFS)", "9p": "(9P)", "fuse": "(FUSE, or virtiofs)", "": "", "ext4": ""} {
		fileSystem = func(string) string { return kind }
		if got := Weak(dir); name == "" && got != "" || !strings.Contains(got, name) {
			t.Errorf("%s: got %q", kind, got)
		}
	}
}
