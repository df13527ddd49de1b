package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"relay-pty/protocol/regular"
)

const (
	maxRow    = 64 << 20 // bytes; longer rows are skipped
	readSize  = 64 << 10
	keptRest  = 1 << 20 // a larger buffer is given back once its row is read
	tailBytes = 64
	maxFirst  = 4 << 20
)

// Reader reads the transcripts of one agent as they grow. Each entry is returned
// once, by row and block, also when a file is rewritten, replaced or copied into
// another; for that it keeps 8 bytes an entry. It is not safe for concurrent use.
type Reader struct {
	// Bad counts the rows that could not be read and were skipped.
	Bad int

	format Format
	since  time.Time
	most   int // bytes of a row: maxRow, but in tests
	seen   map[[8]byte]struct{}

	path   string
	file   fs.FileInfo // as of the last look; nil: none was there
	offset int64       // of the first byte not yet read
	rest   []byte      // read, but no complete row
	skip   bool        // rest belongs to a row that is too long
	tail   []byte      // the last bytes before offset
}

// NewReader reads rows of the format. Rows logged before since, such as those
// that a resumed session brings along, are skipped.
func NewReader(f Format, since time.Time) *Reader {
	if f.Rows != nil {
		f.Row = f.Rows()
	}
	// Rows are stamped in milliseconds.
	return &Reader{format: f, since: since.Truncate(time.Millisecond), most: maxRow, seen: map[[8]byte]struct{}{}}
}

// Poll returns what complete rows were appended to path since the last call. A
// file that is not there has none; with another path it starts at its beginning.
// Without news it costs one stat.
func (r *Reader) Poll(path string) ([]Entry, error) {
	if path != r.path {
		r.path, r.file = path, nil
		r.restart()
	}
	info, err := os.Stat(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at transcript: %w", err)
	case r.file != nil && os.SameFile(r.file, info) && info.Size() == r.offset && info.ModTime().Equal(r.file.ModTime()):
		return nil, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil { // of the file that is open, should another have taken its place
		return nil, fmt.Errorf("look at transcript: %w", err)
	}
	if !r.continues(f, info) {
		r.restart()
	}
	r.file = info
	return r.read(f)
}

// restart forgets the position, not what was seen.
func (r *Reader) restart() {
	r.offset, r.rest, r.skip, r.tail = 0, nil, false, nil
}

// continues reports whether f is the file of the last look, only longer.
func (r *Reader) continues(f *os.File, info fs.FileInfo) bool {
	if r.file == nil || !os.SameFile(r.file, info) || info.Size() < r.offset {
		return false
	}
	tail := make([]byte, len(r.tail))
	_, err := f.ReadAt(tail, r.offset-int64(len(tail)))
	return err == nil && bytes.Equal(tail, r.tail)
}

// read reads from offset to the end of the file.
func (r *Reader) read(f *os.File) ([]Entry, error) {
	var entries []Entry
	buf := make([]byte, readSize)
	for {
		n, err := f.ReadAt(buf, r.offset)
		if n > 0 {
			r.offset += int64(n)
			r.tail = append(r.tail[:0], buf[max(0, n-tailBytes):n]...)
			entries = r.rows(entries, buf[:n])
		}
		switch {
		case err == io.EOF:
			return entries, nil
		case err != nil:
			return entries, fmt.Errorf("read transcript: %w", err)
		}
	}
}

// rows appends the entries of the rows that p completes.
func (r *Reader) rows(entries []Entry, p []byte) []Entry {
	for {
		line, after, found := bytes.Cut(p, []byte("\n"))
		if len(r.rest)+len(line) > r.most {
			r.rest, r.skip = nil, true
		}
		if !r.skip {
			r.rest = append(r.rest, line...)
		}
		if !found {
			return entries
		}
		if r.skip {
			r.Bad++
		} else {
			entries = r.row(entries, bytes.TrimSpace(r.rest))
		}
		r.rest, r.skip = r.rest[:0], false
		if cap(r.rest) > keptRest {
			r.rest = nil
		}
		p = after
	}
}

// row appends the new entries of one row.
func (r *Reader) row(entries []Entry, row []byte) []Entry {
	if len(row) == 0 {
		return entries
	}
	all, err := r.format.Row(row)
	if err != nil {
		r.Bad++
		return entries
	}
	for _, e := range all {
		if !e.Time.Before(r.since) && r.first(e) {
			entries = append(entries, e)
		}
	}
	return entries
}

// first reports whether e was not returned before.
func (r *Reader) first(e Entry) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", e.UUID, e.Index))
	id := [8]byte(sum[:8])
	_, seen := r.seen[id]
	r.seen[id] = struct{}{}
	return !seen
}

// FirstRow reads the first complete row of a file.
func FirstRow(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	row, err := bufio.NewReader(io.LimitReader(f, maxFirst)).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read the first row of %s: %w", path, err)
	}
	return row, nil
}

// maxJSON is the largest file that [ReadJSON] reads, in bytes.
const maxJSON = 4 << 20

// ReadJSON reads a file in which an agent tells of itself: its session, its projects.
func ReadJSON(path string, into any) error {
	text, err := regular.Read(path, maxJSON)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
