package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// remains tells of wrappers that were killed, on one line however many there are, or removes what
// they left.
func (d *Doctor) remains(dir string, dead []registry.Record) {
	const check = "agents"
	if d.Mends {
		for _, r := range dead {
			removed, err := tidy(dir, r)
			if removed {
				d.Removed = append(d.Removed, r.Name)
			}
			if err != nil {
				d.trouble(check, err, "remove "+r.Socket+" and the record of "+r.Name+" in "+dir)
			}
		}
		return
	}
	switch len(dead) {
	case 0:
	case 1:
		r := dead[0]
		d.untidy(check, "the next relay run "+r.Name+" takes its place; or: relay doctor --fix",
			"the wrapper of %s was killed and has left its record, and perhaps its socket %s", r.Name, r.Socket)
	default:
		d.untidy(check, "relay doctor --fix removes them; the next relay run of a name takes its place, too",
			"%d wrappers were killed and have left their records, and perhaps their sockets: %s", len(dead), someNames(dead))
	}
}

// namesMost is how many names stand on one line.
const namesMost = 8

func someNames(list []registry.Record) string {
	var names []string
	for _, r := range list[:min(len(list), namesMost)] {
		names = append(names, r.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(list) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tidy removes what a killed wrapper left: its socket and its record. The locks of both are held
// meanwhile, as the next wrapper of that name would hold them, and are gone with it. One that has
// begun to run by now keeps all.
func tidy(dir string, r registry.Record) (removed bool, err error) {
	var held *own.HeldError
	for _, l := range []struct{ path, what string }{
		{filepath.Join(dir, r.Name+".lock"), "name " + r.Name}, {r.Socket + ".lock", "socket " + r.Socket},
	} {
		lock, err := own.Hold(l.path, l.what, "place", "relay doctor")
		switch {
		case errors.As(err, &held):
			return false, nil // it is no longer dead
		case errors.Is(err, fs.ErrNotExist):
			continue // the directory has gone, and the socket with it
		case err != nil:
			return false, err
		}
		defer lock.Release()
	}
	if _, listens := sock.Listening(r.Socket); listens {
		return false, nil
	}
	info, err := os.Lstat(r.Socket)
	if err == nil && info.Mode()&fs.ModeSocket != 0 && own.UID(info) == os.Geteuid() {
		err = os.Remove(r.Socket)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	file := filepath.Join(dir, r.Name+".json")
	if now, _, err := registry.At(dir).Find(r.Name); err != nil || now != r {
		return false, nil // it is another's by now
	}
	if err := os.Remove(file); err != nil {
		return false, err
	}
	return true, nil
}
