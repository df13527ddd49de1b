// Package ledger joins the queue of a wrapper to its journal: it opens it, goes on
// where the run before ended, writes until the end, and begins again when the disk
// could not be written and can.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relay-pty/protocol"
	"relay-pty/protocol/failpoint"
	"relay-pty/protocol/own"
	"relay-pty/queue"
	"relay-pty/queue/journal"
)

// Remember is how many ended messages a mailbox keeps in memory beside a journal, which
// has them all.
const Remember = 128

// Ledger is the journal of the wrapper of one agent.
type Ledger struct {
	Dir, Name string // no Dir: nothing is kept
	Box       *queue.Mailbox
	Events    *queue.Outbox
	Log       zerolog.Logger
	// Shown says which messages that were accepted since then stand in the agent's own logs.
	Shown func(since time.Time, ids []string) map[string]bool

	journal *journal.Journal // nil: it could not be opened yet
	lock    *own.Lock        // of the journal; nil: it could not be taken yet
	unheld  error            // why it could not be taken at the start
	pausing sync.Mutex       // held while the pause changes
}

// Lock makes sure that no other wrapper has the journal: then it is a [own.HeldError].
// A directory that cannot be written is no error: the terminal works, and the queue is
// degraded.
func (l *Ledger) Lock() (release func(), err error) {
	release = func() {
		if l.lock != nil {
			l.lock.Release()
		}
	}
	if l.Dir == "" {
		return release, nil
	}
	made := journal.MakeDir(l.Dir)
	err = l.mine()
	var held *own.HeldError
	if err != nil && !errors.As(err, &held) {
		l.unheld = cmp.Or(made, err)
		return release, nil
	}
	return release, err
}

// Trouble is why messages are refused from the start on; nil where nothing is known to be wrong.
// It looks at the journal without reading it, for the agent is not to wait for that.
func (l *Ledger) Trouble() error {
	if l.Dir == "" {
		return nil
	}
	if err := l.trusted(); err != nil && !absent(err) {
		return err
	}
	f, err := own.Open(l.file(), os.O_RDWR, moveAway)
	switch {
	case err == nil:
		f.Close() // nothing was written
	case absent(err):
		return l.unheld // it is yet to be made
	}
	return err
}

// moveAway is what to do about something in the place of one of our files.
const moveAway = "move it away, or choose another name or --state-dir"

// trusted says why the directory is not to be believed, or written into.
func (l *Ledger) trusted() error { return own.Trust(l.Dir, "--state-dir") }

func (l *Ledger) file() string { return filepath.Join(l.Dir, l.Name+".journal") }

// Names are those that are to be kept while the wrapper runs: without its lock, another one could
// take the journal. Once it is taken it stays the same.
func (l *Ledger) Names() []own.Name {
	if l.lock == nil {
		return nil
	}
	return []own.Name{lockName{l.lock}}
}

// lockName is the lock of a journal, and its directory.
type lockName struct{ lock *own.Lock }

func (n lockName) Files() []string { return []string{n.lock.Path()} }

func (n lockName) Keep() (anew bool, err error) {
	if err := journal.MakeDir(filepath.Dir(n.lock.Path())); err != nil {
		return false, err
	}
	return n.lock.Keep()
}

// mine makes sure that no other wrapper has the journal, also when its lock could not be taken at
// the start, or somebody has removed it.
func (l *Ledger) mine() (err error) {
	if err := l.trusted(); err != nil {
		return err
	}
	if l.lock != nil {
		_, err = l.lock.Keep()
		return err
	}
	l.lock, err = own.Hold(filepath.Join(l.Dir, l.Name+".lock"), "journal of "+l.Name, "name or --state-dir", l.Name)
	return err
}

// Start opens the journal, takes over what it holds, and keeps the queue on disk until
// stop is called, which comes back when everything is there.
func (l *Ledger) Start() (stop func()) {
	if l.Dir == "" {
		return func() {}
	}
	l.goOnPausing(time.Now())
	l.open()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := l.run(ctx); err != nil && !errors.Is(err, errStopped) {
			l.Log.Error().Err(err).Msg("journal")
		}
	}()
	return func() { cancel(errStopped); <-done }
}

var errStopped = errors.New("the agent has ended")

// open opens the journal and takes over what it holds. When that fails, nothing is
// accepted.
func (l *Ledger) open() {
	j, past, err := journal.Open(l.file(), l.mine)
	if err != nil {
		if l.Events.Fault() == nil {
			l.Log.Error().Err(err).Msg("journal cannot be opened; nothing is accepted")
		}
		l.Events.Fail(err)
		return
	}
	if past.Damaged != "" {
		l.Log.Error().Str("err", past.Damaged).Msg("journal was damaged and is put aside")
	}
	l.journal = j
	l.Events.Keep(j, past.Epoch, past.Last)
	if past.Fault != nil {
		l.tell(past.Fault)
		l.Events.Fail(past.Fault)
	}
	if interrupted := l.Box.Restore(past.Live); len(interrupted) > 0 {
		go l.resolveInterrupted(interrupted) // may read many of the agent's logs, and then ends
	}
}

// reopenAfter is how long after a failure the journal is tried again.
const reopenAfter = 500 * time.Millisecond

// run writes what comes in until ctx ends, then what is left, and closes the journal.
func (l *Ledger) run(ctx context.Context) error {
	for l.journal == nil {
		select {
		case <-time.After(reopenAfter):
			l.open()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := l.Events.Run(ctx, l.tell)
	if closed := l.journal.Close(); closed != nil {
		return closed
	}
	return err
}

// tell is told when the journal begins to fail, and when it works again.
func (l *Ledger) tell(err error) {
	if err != nil {
		l.Log.Error().Err(err).Msg("journal cannot be written; nothing is accepted")
		return
	}
	l.Log.Info().Msg("journal works again")
	l.Box.Wake()
}

// resolveInterrupted finds out what became of messages whose attempt the end of a run before this
// one has interrupted: the agent's own log may show them. One that its sender wants
// tried once more waits again; of any other nobody can say.
func (l *Ledger) resolveInterrupted(interrupted []queue.Message) {
	since, ids := interrupted[0].QueuedAt, make([]string, len(interrupted))
	for i, m := range interrupted {
		ids[i] = m.ShownID()
		if m.QueuedAt.Before(since) {
			since = m.QueuedAt
		}
	}
	shown := l.Shown(since, ids)
	for _, m := range interrupted {
		if err := l.end(m, shown[m.ShownID()]); err != nil {
			l.Log.Error().Err(err).Str("id", m.ID).Msg("interrupted message")
		}
	}
}

func (l *Ledger) end(m queue.Message, shown bool) error {
	switch {
	case shown, failpoint.Built && failpoint.On(failpoint.DoubtDelivered):
		return l.Box.Finish(m.ID, queue.Outcome{Status: protocol.StatusDelivered, Evidence: protocol.EvidenceTurn}, time.Now())
	case (m.Redelivery == protocol.RedeliverOnce || failpoint.Built && failpoint.On(failpoint.RedeliveredUnasked)) && !m.Again:
		return l.Box.Again(m.ID, time.Now())
	}
	what := "typed"
	if m.Pulled {
		what = "pulled"
	}
	return l.Box.Finish(m.ID, queue.Outcome{Status: protocol.StatusUnknown, Fault: &protocol.Fault{
		Code: protocol.FaultCrashed, Message: "the wrapper ended while the message was being " + what + ", and the agent's log does not show it",
	}}, time.Now())
}
