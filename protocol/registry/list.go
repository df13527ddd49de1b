package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay-pty/protocol"
	"relay-pty/protocol/regular"
	"relay-pty/protocol/sock"
)

// List returns the wrappers that run, by name: those which have announced themselves in dir and
// on whose socket somebody listens, or whose process lives where we cannot reach it. A record that
// a killed wrapper left is passed over. The error tells of records that cannot be read; the others
// are returned all the same.
func List(dir string) ([]Record, error) { return At(dir).List() }

// seen reports whether a wrapper runs, within our reach or not.
func seen(r Record) bool {
	_, alive := sock.Listening(r.Socket)
	return alive || r.Lives()
}

// isRecord reports whether a file of that name holds a record. Names of unfinished files begin with
// a dot, which no agent's does.
func isRecord(name string) bool {
	agent, ok := strings.CutSuffix(name, suffix)
	return ok && protocol.ValidName(agent) == nil
}

// All returns the records in dir, by name, also those whose wrappers do not run. The error tells of
// records that cannot be read; the others are returned all the same.
func All(dir string) ([]Record, error) {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	var records []Record
	var bad []error
	for _, e := range entries {
		if !isRecord(e.Name()) {
			continue
		}
		switch r, err := read(filepath.Join(dir, e.Name())); {
		case err == nil:
			records = append(records, r)
		case !errors.Is(err, fs.ErrNotExist): // else it went while we read
			bad = append(bad, err)
		}
	}
	return records, errors.Join(bad...)
}

// maxRecord is the longest record, in bytes.
const maxRecord = 1 << 20

// read reads a record; fields that a newer wrapper may have are passed over.
func read(file string) (r Record, err error) {
	text, err := regular.Read(file, maxRecord)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if name := strings.TrimSuffix(filepath.Base(file), suffix); err == nil && r.Name != name {
		err = fmt.Errorf("it is the record of %q", r.Name)
	}
	if err != nil {
		return r, fmt.Errorf("agent record %s: %w", file, err)
	}
	return r, nil
}
