package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
	"relay-pty/protocol/regular"
)

// private checks the directories of sockets and records, as far as they are there, and reports
// whether what is in them can be trusted.
func (d *Doctor) private(dirs ...string) bool {
	const check = "places"
	for _, dir := range dirs {
		err := own.Private(dir)
		if errors.Is(err, fs.ErrNotExist) {
			break // nothing ran yet
		}
		if err != nil {
			d.trouble(check, err, "remove it")
			return false
		}
	}
	d.writable(check, dirs[len(dirs)-1])
	return true
}

// keeps checks a directory in which something is to last.
func (d *Doctor) keeps(dir string) {
	const check = "disk"
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		if err := own.Trust(dir, "set XDG_STATE_HOME"); err != nil {
			d.trouble(check, err, "")
			return
		}
		d.files(check, dir)
	}
	d.writable(check, dir)
	if err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 {
		d.broken(check, "chmod 700 "+dir, "%s is open to others (mode %04o): they can read all messages", dir, info.Mode().Perm())
	}
	if d.Store.Weak != nil && err == nil {
		if weak := d.Store.Weak(dir); weak != "" {
			d.untidy(check, "set XDG_STATE_HOME to a directory on a disk of this machine", "%s", weak)
		}
	}
	if newest, file := newest(dir); newest.After(time.Now().Add(clockSlack)) {
		d.broken("clock", "set the clock; until it has passed that time, messages expire late and the order of times is wrong",
			"%s was written %v after what the clock says now", file, time.Until(newest).Round(time.Second))
	}
}

const (
	// clockSlack is how far two clocks of one machine may differ, of a file server, too.
	clockSlack = time.Minute
	// leastFree is less than which a disk is full, in bytes: a large message, and room to commit
	// it.
	leastFree = 1 << 20
)

// writable checks that files can be written in a directory, or that it can be made.
func (d *Doctor) writable(check, dir string) {
	at := dir
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			d.broken(check, "move it away", "%s is %s, not a directory", at, regular.Kind(info.Mode()))
			return
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || at == filepath.Dir(at) {
			d.broken(check, "see to it that it can be read", "%v", err)
			return
		}
		at = filepath.Dir(at)
	}
	if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
		d.broken(check, writableFix(at, err), "%s cannot be written: %v", at, err)
		return
	}
	var s unix.Statfs_t
	if err := unix.Statfs(at, &s); err != nil {
		return // then nobody knows
	}
	if free := uint64(s.Bavail) * uint64(s.Bsize); free < leastFree {
		d.broken(check, "make room there", "the disk of %s is full: %d bytes are free", at, free)
	} else if s.Files > 0 && s.Ffree == 0 {
		d.broken(check, "remove files there", "the disk of %s takes no more files", at)
	}
}

func writableFix(dir string, err error) string {
	if errors.Is(err, unix.EROFS) {
		return "mount it to be written, or set XDG_STATE_HOME to another place"
	}
	return "chmod u+rwx " + dir + ", if it is yours"
}

// kept are the files of a store, and of the wrappers' journals.
var kept = []string{"relay.db*", "version", "newest", "lock", "router.log*", "*.journal", "*.paused", "*.lock"}

// files checks that what has the names of our files is files of ours.
func (d *Doctor) files(check, dir string) {
	for _, pattern := range kept {
		paths, _ := filepath.Glob(filepath.Join(quoteGlob(dir), pattern)) // the patterns are good
		for _, path := range paths {
			if err := own.Check(path, "move it away"); err != nil {
				d.trouble(check, err, "")
			}
		}
	}
}

// quoteGlob is a path as it stands in a pattern.
func quoteGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// rows checks that all that was written into the store is there as it was written, or mends it.
func (d *Doctor) rows(ctx context.Context, dir string) {
	const check = "store"
	if d.Store.Inspect == nil {
		return
	}
	found, err := d.Store.Inspect(ctx, dir)
	if err != nil {
		d.trouble(check, fmt.Errorf("look at the store: %w", err), "relay doctor again; if it stays, move "+dir+" away")
		return
	}
	why := ""
	if len(found) > 0 && d.Mends {
		if d.Mended, err = d.Store.Mend(ctx, dir); err == nil {
			return
		}
		why = fmt.Sprintf("; not mended: %v", err)
	}
	for _, f := range found {
		d.broken(check, "end the router, if one runs, then relay doctor --fix: it copies the store aside, and keeps all that can be read",
			"%s%s (in %s)", f, why, dir)
	}
}

// version checks that a store is none of a newer program.
func (d *Doctor) version(file string) {
	text, err := own.Tail(file, "move it away", 100)
	if err != nil {
		return // there is none, or it was found
	}
	is, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		d.broken("disk", "move the directory away, or use another --store", "%s holds no version", file)
	case is > d.Layout:
		d.broken("disk", "use the newer relay, or another --store", "%s says %d, and this relay knows %d", file, is, d.Layout)
	}
}

// newest is the file below a directory that was written last.
func newest(dir string) (at time.Time, file string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // what cannot be read is told elsewhere
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(at) {
			at, file = info.ModTime(), path
		}
		return nil
	})
	return at, file
}

// lastLines are the last lines of a text, on one line.
func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%.300s", strings.TrimSpace(line))
	}
	return strings.Join(lines, " / ")
}
