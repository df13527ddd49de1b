// Package bus keeps the router's log: one append-only stream of events in an embedded NATS
// JetStream server. The numbers of the stream are the public cursors. An event is on disk when
// [Log.Append] returns. The server listens on no port, and one process at a time has a store.
//
// The server runs goroutines of its own; Close ends them.
package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"relay-pty/protocol/own"
)

// Keep says how much of the log is kept; the oldest events go first.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

// ErrUnclear is that nobody knows whether an event was written. Whoever gets it must read the log
// anew before anything else is appended.
var ErrUnclear = errors.New("it is not known whether the event was written")

// ErrFull is that an event was not written, for want of room.
var ErrFull = errors.New("the log takes no more")

// Version is that of the store's layout; it stands in the store's file "version".
const Version = 1

const (
	stream = "LOG"
	prefix = "ev."
	// startWait and appendWait end waits on our own process that only a defect or a dead disk makes
	// so long.
	startWait, appendWait = 30 * time.Second, 30 * time.Second
)

// Log is an open log. Append is for one goroutine at a time, the rest for any.
type Log struct {
	dir     string
	keep    Keep
	lock    *own.Lock
	places  []own.Place // what is open
	newest  int         // number of the file of the newest events; for whoever appends
	ear     ear
	reserve int64 // bytes of the disk that are left to others

	first, last atomic.Int64 // numbers of the oldest and the newest event

	mu  sync.RWMutex // guards engine, which is another one when the store was opened anew
	now *engine      // nil while the store cannot be opened
}

// engine is the server that has the store open, and the way to it.
type engine struct {
	srv    *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
}

// HeldError is that another router has the store.
type HeldError struct {
	Dir string
	PID int // 0: not known
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("store %s: held by the router that runs (pid %d)", e.Dir, e.PID)
}

// Hint says what to do about it.
func (e *HeldError) Hint() string {
	return "commands find that one by themselves; end it first to run another, or choose another --store"
}

// Open opens the log in dir, which it makes. A store that another process has is a *HeldError; one
// of a newer version is left alone and refused.
func Open(ctx context.Context, dir string, keep Keep) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := own.Hold(LockFile(dir), "store "+dir, "--store", "relay")
	var held *own.HeldError
	if errors.As(err, &held) {
		return nil, &HeldError{dir, held.PID}
	}
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, keep: keep, lock: lock, reserve: reserve}
	if err := l.begin(ctx); err != nil {
		l.Close()
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return l, nil
}

func (l *Log) begin(ctx context.Context) (err error) {
	if err := checkVersion(filepath.Join(l.dir, "version")); err != nil {
		return err
	}
	if l.now, err = l.start(ctx); err != nil {
		return err
	}
	if err := l.notePlaces(); err != nil {
		return err
	}
	return l.measure(ctx)
}

// measure looks how far the log goes.
func (l *Log) measure(ctx context.Context) error {
	state, err := l.state(ctx)
	if err == nil {
		l.first.Store(max(1, int64(state.FirstSeq)))
		l.last.Store(int64(state.LastSeq))
	}
	return err
}

// start opens the store.
func (l *Log) start(ctx context.Context) (*engine, error) {
	e := &engine{}
	err := e.start(ctx, l)
	if err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *engine) start(ctx context.Context, l *Log) (err error) {
	e.srv, err = server.NewServer(&server.Options{
		ServerName: "relay", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, DisableJetStreamBanner: true, StoreDir: l.dir, SyncAlways: true,
		MaxPayload: 4 << 20,
		// Else it is a share of what was free at the start, and a stream of more is refused.
		JetStreamMaxStore: 1 << 50,
	})
	if err != nil {
		return err
	}
	e.srv.SetLoggerV2(&l.ear, false, false, false)
	e.srv.Start()
	if !e.srv.ReadyForConnections(startWait) {
		return fmt.Errorf("the embedded server is not ready after %v", startWait)
	}
	if e.conn, err = nats.Connect("", nats.InProcessServer(e.srv), nats.Name("router")); err != nil {
		return err
	}
	if e.js, err = jetstream.New(e.conn); err != nil {
		return err
	}
	if e.stream, err = e.js.Stream(ctx, stream); err == nil {
		if is := e.stream.CachedInfo().Config; is.MaxAge == 0 && is.MaxBytes == -1 && is.MaxMsgs == -1 && is.AllowDirect {
			return nil // which writes nothing, and may be all that a full disk allows
		}
	}
	e.stream, err = e.js.CreateOrUpdateStream(ctx, config())
	return err
}

func (e *engine) close() {
	if e.conn != nil {
		e.conn.Close()
	}
	if e.srv != nil {
		e.srv.Shutdown()
		e.srv.WaitForShutdown()
	}
}

// Tell lets whoever finds the store know where its router listens.
func (l *Log) Tell(socket string) error { return l.lock.Tell(socket) }

// LockFile is the file of a store's lock.
func LockFile(dir string) string { return filepath.Join(dir, "lock") }

// engine is the open store.
func (l *Log) engine() (*engine, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.now == nil {
		return nil, errShut
	}
	return l.now, nil
}

// checkVersion refuses the store of a newer program, and marks a new one as ours.
func checkVersion(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return os.WriteFile(path, []byte(strconv.Itoa(Version)+"\n"), 0o600)
	}
	if err != nil {
		return err
	}
	is, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return fmt.Errorf("%s holds no version: %w", path, err)
	}
	if is > Version {
		return fmt.Errorf("it is of version %d, and this relay knows %d: use the newer relay, or another --store", is, Version)
	}
	return nil
}

// token is a name as one token of a subject, where dots separate and a name may hold them, and
// where the asterisk, to which a message may go, stands for any token.
func token(name string) string {
	if name == "" {
		return "-"
	}
	return strings.NewReplacer(".", "/", "*", "~").Replace(name)
}

// Span returns the numbers of the oldest and the newest event. Where there is none, oldest is
// newest+1.
func (l *Log) Span(context.Context) (oldest, newest int64, err error) {
	return l.first.Load(), l.last.Load(), nil
}

func (l *Log) state(ctx context.Context) (s jetstream.StreamState, err error) {
	e, err := l.engine()
	if err != nil {
		return s, err
	}
	info, err := e.stream.Info(ctx)
	if err != nil {
		return s, fmt.Errorf("look at the log: %w", err)
	}
	return info.State, nil
}

// Size returns how many events are kept, and how many bytes they take on the disk.
func (l *Log) Size(ctx context.Context) (events, bytes int64, err error) {
	state, err := l.state(ctx)
	if err != nil {
		return 0, 0, err
	}
	return int64(state.Msgs), int64(state.Bytes), nil
}

// Get returns one event, and false where it is no longer kept.
func (l *Log) Get(ctx context.Context, seq int64) (data []byte, ok bool, err error) {
	e, err := l.engine()
	if err != nil {
		return nil, false, err
	}
	msg, err := e.stream.GetMsg(ctx, uint64(seq))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read event %d of the log: %w", seq, err)
	}
	return msg.Data, true, nil
}

// Close ends the server and gives the store up.
func (l *Log) Close() {
	if l.now != nil {
		l.now.close()
	}
	l.lock.Release()
}
