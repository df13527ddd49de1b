package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

// A file is frames, one behind the other, each a commit:
//
//	magic, length of the items, checksum of the frame's place and its items, items
//
// Behind the last one stands a seal, a frame without items. It is written when that commit is
// synced, and the next commit is written over it. So a frame that is not sound was damaged if
// something sound is behind it, and else it was cut short before anybody was told of it.
const head = 12

var (
	magic      = []byte("\x00RJ2") // the zero is in no text
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("damaged")
)

// newFrame is one without items, and room for its head.
func newFrame() []byte { return make([]byte, head, 512) }

// closeFrame writes the head of a frame that goes to a place.
func closeFrame(frame []byte, at int64) {
	copy(frame, magic)
	binary.BigEndian.PutUint32(frame[4:], uint32(len(frame)-head))
	binary.BigEndian.PutUint32(frame[8:], sum(frame[head:], at))
}

func sum(items []byte, at int64) uint32 {
	place := binary.BigEndian.AppendUint64(nil, uint64(at))
	return crc32.Update(crc32.Checksum(place, castagnoli), castagnoli, items)
}

// length is that of the frame that b begins with, 0 where it begins with none.
func length(b []byte) int64 {
	if len(b) < head || !bytes.HasPrefix(b, magic) {
		return 0
	}
	return head + int64(binary.BigEndian.Uint32(b[4:]))
}

// sound reports whether b begins with a frame that is whole, and stands at its place.
func sound(b []byte, at int64) bool {
	n := length(b)
	return n > 0 && n <= int64(len(b)) && binary.BigEndian.Uint32(b[8:]) == sum(b[head:n], at)
}

// cursor reads the frames of a file.
type cursor struct {
	file   io.ReaderAt
	at     int64  // where the next frame is to begin
	end    int64  // where the file does
	damage int64  // where what was passed over begins, as it is not sound; less than 0: nothing was
	ahead  []byte // what was read of the file, from a place on
	from   int64
}

// least is how much is read at once.
const least = 64 << 10

// next returns the items of the next frame that has some, until the cursor moves on, and its place;
// [io.EOF] when there is none.
func (c *cursor) next() (items []byte, at int64, err error) {
	for {
		at := c.at
		frame, err := c.read(head)
		if n := length(frame); err == nil && n > head && at+n <= c.end {
			frame, err = c.read(n)
		}
		switch {
		case err != nil:
			return nil, 0, err
		case !sound(frame, at):
			if err := c.skip(); err != nil {
				return nil, 0, err
			}
			continue
		}
		if c.at += int64(len(frame)); len(frame) > head {
			return frame[head:], at, nil
		}
	}
}

// read returns the next n bytes, or as many as there are.
func (c *cursor) read(n int64) ([]byte, error) {
	n = min(n, c.end-c.at)
	if c.at < c.from || c.at+n > c.from+int64(len(c.ahead)) {
		size := min(max(n, least), c.end-c.at)
		c.ahead, c.from = slices.Grow(c.ahead[:0], int(size))[:size], c.at
		got, err := c.file.ReadAt(c.ahead, c.at)
		c.ahead = c.ahead[:got]
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	have := c.ahead[c.at-c.from:]
	return have[:min(n, int64(len(have)))], nil
}

// skip moves to the next sound frame.
func (c *cursor) skip() error {
	rest := make([]byte, c.end-c.at)
	if _, err := c.file.ReadAt(rest, c.at); err != nil && err != io.EOF {
		return err
	}
	for from := 1; from < len(rest); from++ {
		n := bytes.Index(rest[from:], magic)
		if n < 0 {
			break
		}
		if from += n; sound(rest[from:], c.at+int64(from)) {
			if c.damage < 0 {
				c.damage = c.at
			}
			c.at += int64(from)
			return nil
		}
	}
	return io.EOF
}

// Kinds of items. An item is its kind, its length, and so many bytes: fields, each behind its
// length.
const (
	aState  = 's' // of the file, at its beginning: epoch, number of the last event, and of the last that is gone
	anEvent = 'e' // number, type, id of the message, "1" if that ended with it, frame
	aRecord = 'r' // of a message: when it ended, in Unix milliseconds, or 0; id; all of it
)

func pack(fields ...[]byte) (item []byte) {
	for _, f := range fields {
		item = append(binary.AppendUvarint(item, uint64(len(f))), f...)
	}
	return item
}

// unpack takes an item apart.
func unpack(item []byte) (fields [5][]byte) {
	for i := 0; i < len(fields) && len(item) > 0; i++ {
		fields[i], item = cut(item)
	}
	return fields
}

// cut takes what stands behind its length off the beginning.
func cut(b []byte) (field, rest []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil
	}
	return b[size : size+int(n)], b[size+int(n):]
}

func putItem(frame []byte, kind byte, item []byte) []byte {
	return append(binary.AppendUvarint(append(frame, kind), uint64(len(item))), item...)
}

// each calls f with the items of a frame, and where each begins in it.
func each(items []byte, f func(kind byte, item []byte, at int) error) error {
	for rest := items; len(rest) > 0; {
		at, kind := len(items)-len(rest), rest[0]
		var item []byte
		if item, rest = cut(rest[1:]); item == nil {
			return errDamaged
		}
		if err := f(kind, item, at); err != nil {
			return err
		}
	}
	return nil
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// numberOf is what number wrote.
func numberOf(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64) // the frame's checksum was right
	return n
}
