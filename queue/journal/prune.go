package journal

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"

	"relay-pty/protocol/failpoint"
)

// pruneEvents takes out the oldest events while there are too many.
func (s *state) pruneEvents(tx *bbolt.Tx) error {
	bucket, most := tx.Bucket([]byte{events}), maxEvents
	if failpoint.Built && failpoint.On(failpoint.FewEvents) {
		most = 40
	}
	for range pruneMost {
		if s.Events <= most && s.Bytes <= maxBytes || s.Events <= 1 {
			return nil
		}
		key, value := bucket.Cursor().First()
		if key == nil {
			return errDamaged
		}
		e, err := eventOf(key, value)
		if err != nil {
			e.Seq = int64(binary.BigEndian.Uint64(key))
		}
		if err := bucket.Delete(key); err != nil {
			return err
		}
		s.Gone, s.Events, s.Bytes = e.Seq, s.Events-1, s.Bytes-int64(len(e.Frame))
	}
	return nil
}

// pruneEnded forgets messages that ended before, and the oldest while there are too many.
func (s *state) pruneEnded(tx *bbolt.Tx, before time.Time) error {
	bucket := tx.Bucket([]byte{ages})
	for range pruneMost {
		key, _ := bucket.Cursor().First()
		if len(key) < 8 {
			return nil
		}
		if at := int64(binary.BigEndian.Uint64(key)); s.Ended <= maxEnded && at >= before.UnixMilli() {
			return nil
		}
		if err := tx.Bucket([]byte{ended}).Delete(key[8:]); err != nil {
			return err
		}
		if err := bucket.Delete(key); err != nil {
			return err
		}
		s.Ended--
	}
	return nil
}

// save writes what the file says of itself.
func (s *state) save(tx *bbolt.Tx) error {
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	key := []byte{about}
	return tx.Bucket(key).Put(key, seal(about, key, payload))
}
