package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// List returns the wrappers that run, by name: those which have announced themselves in dir and
// on whose socket somebody listens, or whose process lives where we cannot reach it. A record that
// a killed wrapper left is passed over. The error tells of records that cannot be read; the others
// are returned all the same.
func List(dir string) ([]Record, error) { return At(dir).List() }

// All returns the records in dir, by name, also those whose wrappers do not run. The error tells of
// records that cannot be read; the others are returned all the same.
func All(dir string) ([]Record, error) { return announced(dir) }

// Find returns the wrapper of that name, if it runs.
func Find(dir, name string) (r Record, running bool, err error) { return At(dir).Find(name) }

// Watch yields [List] of dir, now and whenever it changed, until ctx ends. Nothing tells of a
// wrapper that was killed: its socket does, to whoever is connected. It ends with an error when
// the directory is gone or cannot be watched.
func Watch(ctx context.Context, dir string) iter.Seq2[[]Record, error] {
	return func(yield func([]Record, error) bool) {
		for list, err := range At(dir).Watch(ctx) {
			if !yield(list, err) || errors.Is(err, fs.ErrNotExist) {
				return
			}
		}
	}
}

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

// announced returns the records in dir, by name.
func announced(dir string) ([]Record, error) {
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

// read reads a record; fields that a newer wrapper may have are passed over.
func read(file string) (r Record, err error) {
	text, err := os.ReadFile(file)
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
