package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"relay-pty/protocol/own"
)

// newest is the file "newest": which log it is, and the number of its newest event. It is written
// behind each event and not synced, so it is never ahead of the log. Where the log ends before it,
// events are missing: SQLite reads a WAL up to the first frame that is damaged, and one that was
// removed not at all, and says nothing. Numbers that were told are not given out again.
type newest struct {
	file  *os.File
	epoch string
	seq   int64
}

// newestForm is of one length.
const newestForm = "%-32s %019d\n"

func openNewest(w where) (n newest, err error) {
	n.file, err = own.Open(w.beside("newest"), os.O_RDWR|os.O_CREATE, moveAway)
	if err == nil {
		n.epoch, n.seq, err = readNewest(w)
	}
	return n, err
}

// readNewest returns what the file says; nothing where there is none, or none that can be read.
func readNewest(w where) (epoch string, seq int64, err error) {
	text, err := own.Tail(w.beside("newest"), moveAway, 100)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if _, bad := fmt.Sscanf(string(text), "%s %d\n", &epoch, &seq); bad != nil {
		epoch, seq = "", 0
	}
	return epoch, seq, err
}

// write says how far the log goes. What fails is only less sure.
func (n *newest) write(epoch string, seq int64) {
	n.epoch, n.seq = epoch, seq
	fmt.Fprintf(atStart{n.file}, newestForm, epoch, seq) // a hint that nothing depends on
}

// atStart writes at the beginning of a file.
type atStart struct{ *os.File }

func (f atStart) Write(b []byte) (int, error) { return f.WriteAt(b, 0) }

// reached notes that the log goes up to an event.
func (s *Store) reached(seq int64) {
	s.last.Store(seq)
	s.newest.write(s.epoch, seq)
}
