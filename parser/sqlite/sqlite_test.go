package sqlite

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is what SQLite 3 left on disk in the midst of a transaction: pages of 512
// bytes, rows over several of them, rows that were deleted, changed and got a
// column more, half of all that only in the WAL, half of which is copied.
const (
	small     = "testdata/small.db"
	smallRows = 139
	smallHash = "caeddd7213c824ca5d6749394efacc0a03002cf69c2bbc3530318d48b0e4794b" // by SQLite
)

func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(path)
	must(t, err)
	t.Cleanup(db.Close)
	return db
}

// listed is how many rows the table event has from rowid from on, and a hash of them.
func listed(db *DB, from int64) (n int, hash string, err error) {
	err = db.View(func(tx *Tx) error {
		h := sha256.New()
		n = 0
		table, err := tx.Table("event")
		if err != nil {
			return err
		}
		err = table.Rows(from, func(r Row) (bool, error) {
			n++
			_, err := fmt.Fprintf(h, "%d|%s|%d|%d|%s|%s\n", r.ID, r.Text("id"), r.Int("n"), r.Int("big"), r.Text("t"), r.Text("later"))
			return true, err
		})
		hash = hex.EncodeToString(h.Sum(nil))
		return err
	})
	return n, hash, err
}

func TestRows(t *testing.T) {
	db := open(t, small)
	if n, hash, err := listed(db, 0); n != smallRows || hash != smallHash || err != nil {
		t.Errorf("%d rows of %s, %v, want %d of %s", n, hash, err, smallRows, smallHash)
	}
	for from, want := range map[int64]int{-5: 139, 1: 139, 2: 138, 30: 110, 35: 110, 41: 110, 42: 109, 150: 1, 151: 0, 1 << 40: 0} {
		if n, _, err := listed(db, from); n != want || err != nil {
			t.Errorf("from %d on: %d rows, %v, want %d", from, n, err, want)
		}
	}
}

func TestTable(t *testing.T) {
	err := open(t, small).View(func(tx *Tx) error {
		if _, err := tx.Table("none"); err == nil || !strings.Contains(err.Error(), "no table none") {
			t.Errorf("no table: %v", err)
		}
		other, err := tx.Table("other")
		if err != nil {
			return err
		}
		if last, err := other.Last(); last != 0 || err != nil {
			t.Errorf("last of an empty table: %d, %v", last, err)
		}
		event, err := tx.Table("event")
		if err != nil {
			return err
		}
		if last, err := event.Last(); last != 150 || err != nil {
			t.Errorf("last row: %d, %v", last, err)
		}
		stop := errors.New("enough")
		seen := 0
		if err := event.Rows(10, func(Row) (bool, error) { seen++; return seen < 3, nil }); err != nil || seen != 3 {
			t.Errorf("ended after %d rows: %v", seen, err)
		}
		if err := event.Rows(10, func(Row) (bool, error) { return true, stop }); err != stop {
			t.Errorf("ended with %v", err)
		}
		return nil
	})
	must(t, err)
}

func TestNames(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a, b text, \"c\" integer, [d] real DEFAULT (1,2), `e` text)": "a b c d e",
		"CREATE TABLE t(a)": "a",
		"CREATE TABLE t (\n\ta text,\n\tPRIMARY KEY (a))":        "a",
		"CREATE TABLE t (a text DEFAULT 'x,y)', b, c DEFAULT ')": "a b c",
		"CREATE TABLE t":   "",
		"CREATE TABLE t (": "",
	} {
		if got := strings.Join(names(sql), " "); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// memory is a copy of the small database that a test may change.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(m.b).ReadAt(p, at) }
func (m *memory) Close() error                           { return nil }

func inMemory(t testing.TB) (*DB, map[string]*memory) {
	t.Helper()
	files := map[string]*memory{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(small + suffix)
		must(t, err)
		files[suffix] = &memory{b}
	}
	return &DB{file: files[""], wal: files["-wal"], shm: files["-shm"]}, files
}

// header changes both copies of the WAL index's header.
func header(shm *memory, at int, n uint32) {
	binary.NativeEndian.PutUint32(shm.b[at:], n)
	binary.NativeEndian.PutUint32(shm.b[48+at:], n)
}

func TestViewAgainWhenTheStateWasOverwritten(t *testing.T) {
	for name, change := range map[string]func(shm *memory){
		"the log began anew":                     func(shm *memory) { header(shm, 32, 7) },
		"a checkpoint copied what was committed": func(shm *memory) { binary.NativeEndian.PutUint32(shm.b[128:], 1<<20) },
	} {
		db, files := inMemory(t)
		calls := 0
		err := db.View(func(*Tx) error {
			if calls++; calls == 1 {
				change(files["-shm"])
				return errors.New("nonsense was read")
			}
			header(files["-shm"], 16, 0)
			binary.NativeEndian.PutUint32(files["-shm"].b[128:], 0)
			return nil
		})
		if calls < 2 || err != nil && calls != tries {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
	db, files := inMemory(t)
	calls := uint32(0)
	err := db.View(func(*Tx) error { calls++; header(files["-shm"], 32, calls); return nil })
	if calls != tries || !errors.Is(err, ErrBusy) {
		t.Errorf("always: %d calls, %v", calls, err)
	}
}

func TestViewSeesOneState(t *testing.T) {
	db, files := inMemory(t)
	if changed, err := db.Changed(); !changed || err != nil {
		t.Errorf("before the first look: %v, %v", changed, err)
	}
	frames := binary.NativeEndian.Uint32(files["-shm"].b[16:])
	want, _, err := listed(db, 0)
	must(t, err)
	if changed, err := db.Changed(); changed || err != nil {
		t.Errorf("after it: %v, %v", changed, err)
	}
	// Half a header: the writer is about to write the other half.
	binary.NativeEndian.PutUint32(files["-shm"].b[16:], frames+1)
	if _, err := db.Changed(); !errors.Is(err, ErrBusy) {
		t.Errorf("half a header: %v", err)
	}
	header(files["-shm"], 16, frames)
	header(files["-shm"], 8, 12345)
	if changed, err := db.Changed(); !changed || err != nil {
		t.Errorf("another transaction: %v, %v", changed, err)
	}
	if n, _, err := listed(db, 0); n != want || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	failed := errors.New("failed")
	header(files["-shm"], 8, 12346)
	if err := db.View(func(*Tx) error { return failed }); err != failed {
		t.Errorf("view: %v", err)
	}
	if changed, _ := db.Changed(); !changed {
		t.Error("a view that failed counts")
	}
}

func TestRefuses(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	if _, err := Open(filepath.Join(dir, "a")); !errors.Is(err, ErrNoWAL) {
		t.Errorf("no WAL: %v", err)
	}
	for name, change := range map[string]func(map[string]*memory){
		"an empty index":        func(f map[string]*memory) { f["-shm"].b = nil },
		"one not initialised":   func(f map[string]*memory) { f["-shm"].b[12], f["-shm"].b[60] = 0, 0 },
		"one of another kind":   func(f map[string]*memory) { header(f["-shm"], 0, 9) },
		"one of odd page size":  func(f map[string]*memory) { header(f["-shm"], 12, 513<<16|1) },
		"one without end":       func(f map[string]*memory) { header(f["-shm"], 16, 1<<31) },
		"a database of UTF-16":  func(f map[string]*memory) { header(f["-shm"], 16, 0); f[""].b[59] = 2 },
		"one of another sort":   func(f map[string]*memory) { header(f["-shm"], 16, 0); f[""].b[0] = 'x' },
		"a file that was cut":   func(f map[string]*memory) { header(f["-shm"], 16, 0); f[""].b = f[""].b[:700] },
		"a WAL that was cut":    func(f map[string]*memory) { f["-wal"].b = f["-wal"].b[:5000] },
		"pages that run around": func(f map[string]*memory) { around(f) },
	} {
		db, files := inMemory(t)
		change(files)
		if n, _, err := listed(db, 0); err == nil {
			t.Errorf("%s: %d rows", name, n)
		}
	}
}

// around makes each interior page of the database its own child.
func around(files map[string]*memory) {
	header(files["-shm"], 16, 0)
	b := files[""].b
	for page := 1; page < len(b)/512; page++ {
		p := b[page*512:][:512]
		if p[0] != interior {
			continue
		}
		binary.BigEndian.PutUint32(p[8:], uint32(page+1))
		for i := range int(binary.BigEndian.Uint16(p[3:])) {
			at := binary.BigEndian.Uint16(p[12+2*i:])
			binary.BigEndian.PutUint32(p[at:], uint32(page+1))
		}
	}
}

func TestVarint(t *testing.T) {
	for in, want := range map[string]uint64{"\x00": 0, "\x7f": 127, "\x81\x00": 128, "\xff\xff\xff\xff\xff\xff\xff\xff\xff": 1<<64 - 1} {
		if got, n := varint([]byte(in + "rest")); got != want || n != len(in) {
			t.Errorf("%x: %d of %d bytes, want %d", in, got, n, want)
		}
	}
	if _, n := varint([]byte{0x81}); n != 0 {
		t.Errorf("cut: %d bytes", n)
	}
}

// Whatever stands in the files, reading them ends, with rows or an error.
func FuzzFiles(f *testing.F) {
	f.Add(uint32(100), []byte{5}, uint32(4096), []byte{13}, uint32(16), []byte{1})
	f.Add(uint32(600), []byte{0xff, 0xff, 0xff}, uint32(5000), []byte{0, 0, 0, 0}, uint32(140), []byte{9, 9})
	f.Fuzz(func(t *testing.T, a uint32, x []byte, b uint32, y []byte, c uint32, z []byte) {
		db, files := inMemory(t)
		for _, change := range []struct {
			suffix string
			at     uint32
			with   []byte
		}{{"", a, x}, {"-wal", b, y}, {"-shm", c, z}} {
			file := files[change.suffix].b
			copy(file[int(change.at)%len(file):], change.with)
		}
		n, _, err := listed(db, 0)
		if err == nil && n > 10*smallRows {
			t.Errorf("%d rows", n)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
