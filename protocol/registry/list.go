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
	"slices"
	"strings"

	"relay-pty/protocol"
	"relay-pty/protocol/dirwatch"
	"relay-pty/protocol/sock"
)

// List returns the wrappers that run, by name: those which have announced themselves in dir and
// on whose socket somebody listens. A record that a killed wrapper left is passed over. The error
// tells of records that cannot be read; the others are returned all the same.
func List(dir string) ([]Record, error) {
	records, err := announced(dir)
	return slices.DeleteFunc(records, func(r Record) bool {
		_, alive := sock.Listening(r.Socket)
		return !alive
	}), err
}

// All returns the records in dir, by name, also those whose wrappers do not run. The error tells of
// records that cannot be read; the others are returned all the same.
func All(dir string) ([]Record, error) { return announced(dir) }

// Find returns the wrapper of that name, if it runs.
func Find(dir, name string) (r Record, running bool, err error) {
	if err := protocol.ValidName(name); err != nil {
		return r, false, err
	}
	r, err = read(filepath.Join(dir, name+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	_, running = sock.Listening(r.Socket)
	return r, running, nil
}

// Watch yields [List] of dir, now and whenever it changed, until ctx ends. Nothing tells of a
// wrapper that was killed: its socket does, to whoever is connected. It ends with an error when
// the directory is gone or cannot be watched.
func Watch(ctx context.Context, dir string) iter.Seq2[[]Record, error] {
	return func(yield func([]Record, error) bool) {
		w, err := dirwatch.Watch(dir, isRecord)
		if err != nil {
			yield(nil, err)
			return
		}
		defer w.Close()
		var last []Record
		for first := true; ; first = false {
			now, err := List(dir)
			gone := errors.Is(err, fs.ErrNotExist)
			if changed := first || err != nil || !slices.Equal(now, last); changed && !yield(now, err) || gone {
				return
			}
			last = now
			select {
			case <-w.Changed():
			case <-ctx.Done():
				return
			}
		}
	}
}

// isRecord says whether a file of that name holds a record. Names of unfinished files begin with
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
