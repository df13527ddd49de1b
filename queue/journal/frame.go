package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"

	"relay-pty/queue"
)

// Buckets of the file. A value tells in which of them it belongs, under which key, and a
// checksum of all that: what a damaged file still holds can be found without its tree.
const (
	events = 'e' // by number: 8 bytes, big-endian
	live   = 'l' // messages that have not ended, by id
	ended  = 'd' // messages that have, by id
	ages   = 'a' // when they did, 8 bytes of Unix milliseconds, and their id; no values
	about  = 'm' // one value, of the file itself
)

var buckets = []byte{events, live, ended, ages, about}

var (
	magic      = []byte("RPJ1")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("damaged record")
)

// seal is magic, checksum of the rest, bucket, length of key, length of payload, both.
func seal(bucket byte, key, payload []byte) []byte {
	b := append(make([]byte, 0, sealed+len(key)+len(payload)), magic...)
	b = append(b, 0, 0, 0, 0, bucket)
	b = binary.BigEndian.AppendUint16(b, uint16(len(key)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(append(b, key...), payload...)
	binary.BigEndian.PutUint32(b[len(magic):], crc32.Checksum(b[sum:], castagnoli))
	return b
}

const (
	sum    = 8               // what the checksum covers begins here
	sealed = sum + 1 + 2 + 4 // bytes before the key
	most   = 2 << 20         // bytes of a payload: a line of the socket, twice
)

// unseal returns what b, which may be longer, begins with, and its length.
func unseal(b []byte) (bucket byte, key, payload []byte, n int, err error) {
	if len(b) < sealed || !bytes.HasPrefix(b, magic) {
		return 0, nil, nil, 0, errDamaged
	}
	k, p := int(binary.BigEndian.Uint16(b[sum+1:])), int(binary.BigEndian.Uint32(b[sum+3:]))
	n = sealed + k + p
	if p > most || n > len(b) || binary.BigEndian.Uint32(b[len(magic):]) != crc32.Checksum(b[sum:n], castagnoli) {
		return 0, nil, nil, 0, errDamaged
	}
	return b[sum], b[sealed : sealed+k], b[sealed+k : n], n, nil
}

// opened is the payload of a value that must be that of key.
func opened(bucket byte, key, value []byte) ([]byte, error) {
	of, k, payload, _, err := unseal(value)
	if err != nil || of != bucket || !bytes.Equal(k, key) {
		return nil, errDamaged
	}
	return payload, nil
}

func number(seq int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

func aged(r *queue.Record) []byte { return append(number(r.EndedAt.UnixMilli()), r.ID...) }

// packEvent is flags, type, id of the message, frame.
func packEvent(e queue.Entry) []byte {
	end := byte(0)
	if e.End {
		end = 1
	}
	b := append([]byte{end, byte(len(e.Type))}, e.Type...)
	b = append(append(b, byte(len(e.About))), e.About...)
	return append(b, e.Frame...)
}

func unpackEvent(key, b []byte) (queue.Entry, error) {
	text := func() (s string) {
		if len(b) == 0 || len(b) <= int(b[0]) {
			b = nil
			return ""
		}
		s, b = string(b[1:1+b[0]]), b[1+b[0]:]
		return s
	}
	if len(key) != 8 || len(b) < 1 {
		return queue.Entry{}, errDamaged
	}
	e := queue.Entry{Seq: int64(binary.BigEndian.Uint64(key)), End: b[0] == 1}
	b = b[1:]
	e.Type, e.About = text(), text()
	if e.Type == "" || len(b) == 0 {
		return queue.Entry{}, errDamaged
	}
	e.Frame = bytes.Clone(b)
	return e, nil
}

func packRecord(r *queue.Record) ([]byte, error) { return json.Marshal(r) }

func unpackRecord(b []byte) (r queue.Record, err error) {
	err = json.Unmarshal(b, &r)
	return r, err
}
