package journal

import (
	"encoding/json"
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"relay-pty/queue"
)

// contents is what a file holds: its state, its live messages and, if it was damaged,
// everything else, which is to be written anew.
type contents struct {
	state  state
	live   []queue.Record
	ended  []queue.Record
	events []queue.Entry
}

// inspect looks at every page and every value of a file that nobody has open for
// writing. Whatever is wrong with it is [errDamaged].
func inspect(path string) (all contents, err error) {
	file, err := os.Open(path)
	if err != nil {
		return all, err
	}
	defer file.Close() // only read
	err = mapped(file, all.read)
	return all, err
}

// mapped calls f with what a file holds. It is mapped, for what is read once is not to
// stay in our memory.
func mapped(file *os.File, f func([]byte) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if info.Size() == 0 {
		return hurt("it is empty")
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer unix.Munmap(data)
	return guarded(func() error { return f(data) })
}

// read takes in what the file holds and compares it with what the file says of itself.
func (all *contents) read(file []byte) error {
	var claimed state
	found := &all.state
	err := walk(file, math.MaxUint64, func(bucket string, key, value []byte) error {
		switch bucket[0] {
		case ages:
			return nil
		case about:
			payload, err := opened(about, key, value)
			if err != nil {
				return err
			}
			return json.Unmarshal(payload, &claimed)
		case events:
			e, err := eventOf(key, value)
			found.Last, found.Events, found.Bytes = e.Seq, found.Events+1, found.Bytes+int64(len(e.Frame))
			return err
		case live:
			r, err := recordOf(live, key, value)
			found.Live, all.live = found.Live+1, append(all.live, r)
			return err
		}
		_, err := opened(ended, key, value)
		found.Ended++
		return err
	})
	if err != nil {
		return err
	}
	found.Epoch, found.Gone = claimed.Epoch, claimed.Gone
	found.Last = max(found.Last, claimed.Last)
	if *found != claimed {
		return hurt("it holds %+v and should hold %+v", *found, claimed)
	}
	return nil
}
