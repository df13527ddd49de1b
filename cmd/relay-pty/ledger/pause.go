package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay-pty/protocol/own"
	"relay-pty/queue/journal"
)

// Pause lets nothing begin for so long, or until Resume where that is 0. It is on disk before it is
// true, so that the wrapper that runs next goes on with it.
func (l *Ledger) Pause(d time.Duration) error {
	l.pausing.Lock()
	defer l.pausing.Unlock()
	now := time.Now()
	var until time.Time
	if d > 0 {
		until = now.Add(d)
	}
	if l.Dir != "" {
		if err := l.writePause(now, until); err != nil {
			return err
		}
	}
	return l.told(l.Box.Pause(until, now))
}

// Resume ends a pause.
func (l *Ledger) Resume() error {
	l.pausing.Lock()
	defer l.pausing.Unlock()
	if l.Dir != "" {
		err := os.Remove(l.pauseFile())
		if err == nil {
			err = journal.SyncDir(l.Dir)
		}
		if err != nil && !absent(err) {
			return err
		}
	}
	return l.told(l.Box.Resume(time.Now()))
}

// told passes over that an event could not be recorded: what it tells of is true all the same, and
// a journal that fails is told of elsewhere.
func (l *Ledger) told(err error) error {
	if err != nil {
		l.Log.Warn().Err(err).Msg("pause")
	}
	return nil
}

func (l *Ledger) pauseFile() string { return filepath.Join(l.Dir, l.Name+".paused") }

// pauseForm is what stands in the file: when the pause began and when it ends, in Unix
// milliseconds; 0: without end.
const pauseForm = "%d %d\n"

// writePause puts a new file into the place of the old one, at once.
func (l *Ledger) writePause(now, until time.Time) error {
	if err := journal.MakeDir(l.Dir); err != nil {
		return err
	}
	end := int64(0)
	if !until.IsZero() {
		end = until.UnixMilli()
	}
	if err := l.trusted(); err != nil {
		return err
	}
	if err := own.Write(l.pauseFile(), fmt.Appendf(nil, pauseForm, now.UnixMilli(), end)); err != nil {
		return err
	}
	return journal.SyncDir(l.Dir)
}

// readPause reads what writePause wrote.
func readPause(text string) (since, end int64, err error) {
	first, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	if since, err = strconv.ParseInt(first, 10, 64); err == nil {
		end, err = strconv.ParseInt(rest, 10, 64)
	}
	return since, end, err
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// goOnPausing takes over the pause of the run before. A clock that has gone back since makes it no
// longer than it was to be. What cannot be read is a pause without end: somebody wanted one.
func (l *Ledger) goOnPausing(now time.Time) {
	text, err := own.Tail(l.pauseFile(), moveAway, 100)
	if absent(err) {
		return
	}
	var since, end int64
	if err == nil {
		since, end, err = readPause(string(text))
	}
	if err != nil {
		l.Log.Error().Err(err).Msg("pause cannot be read; nothing is typed until a resume")
	}
	var until time.Time
	if err == nil && end != 0 {
		rest := min(time.UnixMilli(end).Sub(now), time.UnixMilli(end).Sub(time.UnixMilli(since)))
		if rest <= 0 {
			return
		}
		until = now.Add(rest)
	}
	l.told(l.Box.Pause(until, now))
}
