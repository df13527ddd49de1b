package registry

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/dirwatch"
	"relay-pty/protocol/own"
)

// Places are all directories in which the wrappers of one router may be listed. A wrapper that cron
// or a service manager started may have another runtime directory than its user's router.
type Places struct {
	Main string // where all count
	// In the others, as far as they are there and ours alone, those count which have that State.
	Others []string
	State  string
}

// At is one directory alone.
func At(dir string) Places { return Places{Main: dir} }

// List returns the wrappers that run, as [List] does. Of two with one name, the first place counts.
func (p Places) List() ([]Record, error) {
	list, err := All(p.Main)
	for _, dir := range p.Others {
		more, bad := p.listed(dir)
		list, err = append(list, more...), errors.Join(err, bad)
	}
	list = slices.DeleteFunc(list, func(r Record) bool { return !seen(r) })
	slices.SortStableFunc(list, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Record) bool { return a.Name == b.Name }), err
}

// listed are the records of one of the others.
func (p Places) listed(dir string) ([]Record, error) {
	if !Trusted(dir) {
		return nil, nil
	}
	list, err := All(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it went meanwhile
	}
	return slices.DeleteFunc(list, func(r Record) bool { return r.State == "" || r.State != p.State }), err
}

// Trusted reports whether a directory is there, and nobody else can put anything into it.
func Trusted(dir string) bool {
	return own.Private(filepath.Dir(dir)) == nil && own.Private(dir) == nil
}

// Find returns the wrapper of that name and whether it runs. Of one that was killed the record is
// left; without any record the result is zero.
func (p Places) Find(name string) (r Record, running bool, err error) {
	if err := protocol.ValidName(name); err != nil {
		return r, false, err
	}
	r, err = read(filepath.Join(p.Main, name+suffix))
	if err == nil && seen(r) {
		return r, true, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, false, err
	}
	for _, dir := range p.Others {
		if !Trusted(dir) {
			continue
		}
		there, err := read(filepath.Join(dir, name+suffix))
		if err != nil || there.State == "" || there.State != p.State {
			continue
		}
		if seen(there) {
			return there, true, nil
		}
		if r == (Record{}) {
			r = there
		}
	}
	return r, false, nil
}

const (
	// lookAgain is how soon a directory is looked for that was removed, unless a mount tells of it.
	lookAgain = time.Second
	// lookElsewhere is how often is looked whether one of the others has been made. Those that are
	// there are watched.
	lookElsewhere = 10 * time.Second
)

// Watch yields List, now and whenever it changed, until ctx ends. Nothing tells of a wrapper that
// was killed: its socket does, to whoever is connected. A main directory that is gone is told
// once, by [fs.ErrNotExist], and the list comes again with the directory.
func (p Places) Watch(ctx context.Context) iter.Seq2[[]Record, error] {
	return func(yield func([]Record, error) bool) {
		w, err := dirwatch.Watch(p.Main, isRecord)
		if err != nil {
			yield(nil, err)
			return
		}
		defer w.Close()
		var last []Record
		for first, gone := true, false; ; first = false {
			var later <-chan time.Time
			for _, dir := range p.Others {
				if !Trusted(dir) || w.Add(dir) != nil {
					later = time.After(lookElsewhere)
				}
			}
			w.Add(p.Main) // else it is gone, which List tells
			now, err := p.List()
			was := gone
			if gone = errors.Is(err, fs.ErrNotExist); gone {
				later = time.After(lookAgain)
			}
			changed := first || err != nil && !gone || gone != was || !gone && !slices.Equal(now, last)
			if changed && !yield(now, err) {
				return
			}
			last = now
			select {
			case <-w.Changed():
			case <-later:
			case <-ctx.Done():
				return
			}
		}
	}
}
