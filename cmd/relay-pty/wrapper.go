package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"relay-pty/cmd/relay-pty/agent"
	"relay-pty/cmd/relay-pty/agentlog"
	"relay-pty/cmd/relay-pty/clients"
	"relay-pty/cmd/relay-pty/handover"
	"relay-pty/cmd/relay-pty/ledger"
	"relay-pty/cmd/relay-pty/memory"
	"relay-pty/cmd/relay-pty/tty"
	"relay-pty/inject"
	"relay-pty/inject/agents"
	"relay-pty/inject/ready"
	"relay-pty/inject/refusal"
	"relay-pty/inject/turn"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/pty"
	"relay-pty/pty/screen"
	"relay-pty/pty/term"
	"relay-pty/queue"
)

// wrapper is all the parts of one run, and the one place where they meet.
type wrapper struct {
	cfg     config
	front   *term.Front // nil: we are what a shell sees
	log     zerolog.Logger
	token   string
	agent   *agent.Agent
	box     *queue.Mailbox
	events  *queue.Outbox
	ledger  *ledger.Ledger
	memory  *memory.Keeper
	board   board
	stream  *parser.Stream // reads markers from the output; nil when they come from elsewhere
	is      atomic.Pointer[kind]
	turning *handover.Turns
	taken   *taken
	follows func(*agentlog.Log) // has one followed until the end
	notice  *notice             // nil: the human sees no sign of waiting messages
	told    chan struct{}       // wakes the injector: the agent said something of itself
	leases  *handover.Leases
	became  atomic.Value // string: the background session that the agent's own has become
	spoke   atomic.Bool  // something has spoken as the agent
	refused refusal.Gate // shut while the API of its model takes no requests
}

// errExited is why the loops end: the agent has.
var errExited = errors.New("the agent has ended")

// wrap runs the command until it ends and returns its exit status. An error is
// ours, or errEnded when a signal ended us.
func wrap(ctx context.Context, cfg config, front *term.Front, stdin, stdout *os.File, errs io.Writer) (int, error) {
	log, closeLog, err := openLog(cfg)
	if err != nil {
		return 0, withHint(err)
	}
	defer closeLog()
	w := &wrapper{cfg: cfg, front: front, log: log, token: newToken(), events: queue.NewOutbox(), told: make(chan struct{}, 1), memory: memory.NewKeeper()}
	if err := w.queues(); err != nil {
		return 0, err
	}
	w.is.Store(&kind{profile: cfg.Profile, markers: cfg.markers(cfg.Profile)})
	w.agent, err = agent.New(cfg.Profile, cmp.Or(cfg.Prompt, cfg.Profile.Prompt), cfg.Command)
	if err != nil {
		return 0, fmt.Errorf("--prompt-pattern: %w", err)
	}
	// Routers hear of a wrapper that is listed. What cannot be run is no agent.
	if _, err := pty.LookPath(cfg.Command); err != nil {
		return 0, fmt.Errorf("%w: %w", errCommand, err)
	}
	taken, err := w.claim(errs)
	if err != nil {
		return 0, withHint(err)
	}
	defer taken.release()
	w.taken = taken
	release, err := w.ledger.Lock()
	if err != nil {
		return 0, withHint(err)
	}
	defer release()
	if err := w.ledger.Trouble(); err != nil {
		w.warn(errs, err)
	}
	if ctx.Err() != nil { // a signal came before there was an agent
		return 0, context.Cause(ctx)
	}
	return w.run(ctx, taken, stdin, stdout, errs)
}

// warn tells the human, before the terminal is the agent's, that messages are refused, and why. Who
// asked for JSON lines on stderr gets one.
func (w *wrapper) warn(stderr io.Writer, why error) {
	way := "choose another --state-dir, or none: --ephemeral"
	var hint interface{ Hint() string }
	if errors.As(why, &hint) {
		way = hint.Hint()
	}
	message := fmt.Sprintf("messages are refused until the journal can be kept: %v; %s", why, way)
	line := []byte("relay-pty: " + parser.OneLine(message) + "\n")
	if w.cfg.JSON {
		line, _ = protocol.Encode(&protocol.Error{Code: protocol.Degraded, Message: message}) // fails for no text
	}
	stderr.Write(line) // a courtesy: status tells it, too
}

// queues makes the mailbox, and what keeps it on disk.
func (w *wrapper) queues() (err error) {
	q := w.cfg.Queue
	if !w.cfg.Ephemeral {
		q.Remember = ledger.Remember
	}
	w.box, err = queue.New(q, w.events)
	w.ledger = &ledger.Ledger{Dir: w.cfg.StateDir, Name: w.cfg.Name, Box: w.box, Events: w.events, Log: w.log, Shown: w.shown}
	return err
}

// run starts the command and every goroutine, and sees to the end of each.
func (w *wrapper) run(ctx context.Context, taken *taken, stdin, stdout *os.File, errs io.Writer) (int, error) {
	user, err := w.terminal(stdin, stdout)
	if err != nil {
		return 0, err
	}
	defer user.Restore()
	commands, err := w.events.Follow(queue.FromNow)
	if err != nil {
		return 0, err
	}
	if err := w.start(user); err != nil {
		return 0, err
	}
	names := append(taken.names(), w.ledger.Names()...)
	recorded := w.ledger.Start()
	// What serves the run outlives ctx: when a signal ends it, the agent's last words still count.
	serving, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(errExited)
	var jobs sync.WaitGroup
	injected := make(chan struct{})
	over := make(chan struct{})
	server := clients.Server{
		Name: w.cfg.Name, Token: w.token, Foreign: w.foreign, Box: w.box, Events: w.events,
		Status: w.status, Screen: w.screen, Explain: w.explain,
		Signal: w.signal, Unread: w.unread, Spoke: func() { w.spoke.Store(true) }, Turn: w.turn,
		Pause: w.ledger.Pause, Resume: w.resume, IsKey: agent.IsKey, Press: w.press,
		AllowCommand: w.cfg.Commands, Closed: over, Lends: w.lends, Lent: w.lent, Settled: w.leases.Settled,
	}
	w.job(&jobs, user, "serve", func() error { return taken.listener.Serve(serving, server.Handle) })
	w.job(&jobs, user, "names", func() error { return w.keepNames(serving, names) })
	if w.cfg.JSON {
		w.job(&jobs, user, "json output", func() error { return printCommands(serving, commands, errs, over) })
	}
	w.follows = func(log *agentlog.Log) {
		w.job(&jobs, user, "agent's log", func() error { return log.Run(serving) })
	}
	if log := w.history(); log != nil {
		w.follows(log)
	}
	w.job(&jobs, user, "inject", func() error { defer close(injected); return w.injector().Run(serving) })
	w.job(&jobs, user, "memory", func() error { return w.memory.Run(serving) })
	w.beside(&jobs, user, serving)

	err = w.agent.Session.Run(ctx)
	status := w.agent.Session.Wait()
	if err != nil && err == context.Cause(ctx) { // told to end, and nothing is stuck
		w.tidy(user.Out)
	}
	user.Restore()
	if w.stream != nil {
		w.stream.Close()
	}
	<-injected
	proof{w}.Look()
	w.leases.Close(time.Now())
	w.farewell(status)
	recorded()
	close(over)
	stop(errExited)
	await(&jobs)
	if context.Cause(ctx) != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		w.log.Error().Err(err).Msg("output")
	}
	return status, nil
}

// beside starts what serves the human beside the agent.
func (w *wrapper) beside(jobs *sync.WaitGroup, user *tty.User, serving context.Context) {
	for _, job := range user.Jobs(w.agent) {
		w.job(jobs, user, job.Name, func() error { return job.Run(serving) })
	}
	if w.cfg.Plain {
		w.job(jobs, user, "signals", func() error { return handOn(serving, w.cfg.signals, w.agent.Session) })
	}
	go user.Keys(serving, w.agent)
}

// tidy undoes on the terminal what an agent that we have hung up has left on: it had no time, or no
// thought, to do it.
func (w *wrapper) tidy(out io.Writer) {
	var left screen.Traces
	w.agent.Session.View(func(s *screen.Screen) { left = s.Traces() })
	io.WriteString(out, left.Undo()) // the terminal may be gone
}

// settled is after how long a wrapper has its names watched.
const settled = time.Second

// keepNames sees to it that we are found under our names, but not in a run that is over at once: to
// end a watch of files, Linux waits for all processors: half of the times for 3 ms, one in ten for
// 6 to 12 ms (Linux 6.18, two busy processors).
func (w *wrapper) keepNames(ctx context.Context, names []own.Name) error {
	select {
	case <-time.After(settled):
		return own.Guard(ctx, w.unkept, names...)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unkept is told when a file by which others find us cannot be made anew, and when it could.
func (w *wrapper) unkept(err error) {
	if err != nil {
		w.log.Error().Err(err).Msg("names")
		return
	}
	w.log.Info().Msg("names are kept again")
}

// terminal takes over the user's terminal, unless we run headless or the command keeps it.
func (w *wrapper) terminal(stdin, stdout *os.File) (*tty.User, error) {
	if w.cfg.Headless || w.cfg.Plain {
		return tty.Headless(w.cfg.Size), nil
	}
	return tty.Open(w.front, stdin, stdout)
}

// lastWords is how long clients and files may take to hear the end.
const lastWords = 2 * time.Second

// await waits for our loops to end, but not for ever: stderr may be a pipe that
// nobody reads.
func await(jobs *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { jobs.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(lastWords):
	}
}

// job runs one of our loops. A loop that fails is told in the log; the
// human's terminal goes on. A panic gives the terminal back first.
func (w *wrapper) job(jobs *sync.WaitGroup, user *tty.User, what string, loop func() error) {
	jobs.Go(func() {
		defer user.Own.OnPanic()
		if err := loop(); err != nil && !errors.Is(err, errExited) && !errors.Is(err, inject.ErrExited) {
			w.log.Error().Err(err).Msg(what)
		}
	})
}

// muchOutput is how much output of the agent is work that takes memory, in bytes.
const muchOutput = 1 << 20

// start starts the command in the environment that tells it who it is.
func (w *wrapper) start(user *tty.User) error {
	once := agents.Once(w.cfg.agent, w.cfg.Command...)
	env := append(withoutRelay(agents.Environ(os.Environ(), once)),
		"RELAY_AGENT="+w.cfg.Name, "RELAY_SOCKET="+w.cfg.Socket, "RELAY_TOKEN="+w.token)
	if w.is.Load().markers == protocol.SourceStream {
		w.stream = &parser.Stream{Emit: w.said}
	}
	passed := 0
	tap := func(p []byte) {
		if w.stream != nil {
			w.stream.Write(p)
		}
		if passed += len(p); passed >= muchOutput {
			w.memory.Used()
			passed = 0
		}
	}
	session, err := pty.Start(pty.Config{
		Args: w.cfg.Command, Env: env, Size: user.Size, Like: user.Own, Plain: w.cfg.Plain, Output: user.Out, Tap: tap,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errCommand, err)
	}
	w.agent.Attach(session, w.stream)
	if w.cfg.Notice != noticeOff && user.Own != nil && user.Own.IsDisplay() {
		w.notice = &notice{kind: w.cfg.Notice, name: w.cfg.Name, show: session.Show}
	}
	w.leases = &handover.Leases{Queue: w.box, Turn: w.atWork, Note: w.note, Proof: proof{w}}
	w.take(w.cfg.Profile, session.PID())
	w.board.put(inject.Report{
		Verdict: ready.Verdict{State: ready.Starting, Confidence: ready.ByGuess, By: protocol.SignProcess},
		Facts:   ready.Facts{Started: w.agent.Started, Foreground: true},
	})
	return nil
}

// injector joins the injector to the agent, its mailbox and its log.
func (w *wrapper) injector() *inject.Injector {
	w.turning = w.turns()
	in := &inject.Injector{
		Profile: w.tuned(), Agent: w.agent, Mailbox: w.turning,
		Mail: w.box.Changed(), Heard: w.told, Gone: w.agent.Session.Done(), Report: w.report,
		DraftTimeout: w.cfg.DraftTimeout, Stashed: w.stashed, Staged: w.staged, Become: w.become,
	}
	if log := w.history(); log != nil {
		in.Log = log
	}
	return in
}

// turns is the queue as the injector sees it.
func (w *wrapper) turns() *handover.Turns {
	return &handover.Turns{
		Queue: w.box, Log: w.log, Chips: w.cfg.Profile.Chips(), Batch: w.batch,
		Halted: func() bool { return w.events.Fault() != nil }, Begun: w.begun, Ended: w.ended, Leases: w.leases,
		Unread: w.unread, Look: proof{w}.Look, Refused: &w.refused,
	}
}

// atWork reports whether a turn runs.
func (w *wrapper) atWork() bool {
	v := w.board.get().Verdict
	return v.State == ready.Busy || v.State == ready.Blocked && !rests(v)
}

// batch is how many messages may be typed as one turn. To a program that asks for lines they go
// one by one as fast, and a crash leaves one of them in doubt.
func (w *wrapper) batch() int {
	if w.profile().OneByOne() || w.agent.WaitsInRead() {
		return 1
	}
	return w.cfg.BatchMax
}

// begun is told of a turn before anything of it is typed.
func (w *wrapper) begun(t turn.Turn) {
	if w.stream != nil {
		w.stream.End()
		w.stream.Mask(t.Typed(w.profile().Quote))
	}
	if log := w.history(); log != nil {
		log.Typing(t.Command())
		for _, m := range t {
			log.Expect(m.ShownID())
		}
	}
}

// ended is told of messages that are at their end, or wait again.
func (w *wrapper) ended(t turn.Turn, s inject.Status) {
	w.memory.Used()
	if s == inject.Delivered {
		w.agent.Submitted()
	}
	for _, m := range t {
		if s == inject.Delivered && !t.Command() {
			proof{w}.Owe(m.ShownID())
		}
		proof{w}.Forget(m.ShownID())
	}
}

// stashed is told of a draft that was set aside for a message, or brought back.
func (w *wrapper) stashed(id string, set bool) {
	w.log.Info().Str("id", id).Bool("set", set).Msg("draft stashed")
	if set {
		w.agent.Aside()
		w.append(&protocol.DraftStashed{ID: id})
		return
	}
	w.append(&protocol.DraftRestored{ID: id})
}

// staged is told of each step that the injector takes: with them the log tells why nothing happens.
func (w *wrapper) staged(ids []string, from, to string) {
	w.log.Debug().Strs("ids", ids).Str("from", from).Str("to", to).Msg("stage")
}

// farewell ends what is still open and writes the last event.
func (w *wrapper) farewell(code int) {
	fault := protocol.Fault{Code: protocol.FaultAgentExited, Message: fmt.Sprintf("the agent ended with exit status %d", code)}
	if err := w.box.Close(fault, !w.cfg.Ephemeral, time.Now()); err != nil {
		w.log.Error().Err(err).Msg("close mailbox")
	}
	w.append(&protocol.Exit{Code: code})
	w.log.Info().Int("code", code).Msg("exit")
}

// note logs what the mailbox could not do.
func (w *wrapper) note(err error, id string) {
	if err != nil {
		w.log.Error().Err(err).Str("id", id).Msg("mailbox")
	}
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// withoutRelay drops what a wrapper around this one told its own agent.
func withoutRelay(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "RELAY_AGENT" || name == "RELAY_SOCKET" || name == "RELAY_TOKEN"
	})
}

// logTime has milliseconds, as what an agent does is told by them.
const logTime = "2006-01-02T15:04:05.000Z07:00"

// openLog opens the log file; without one, nothing is logged.
func openLog(cfg config) (zerolog.Logger, func(), error) {
	if cfg.LogFile == "" {
		return zerolog.Nop(), func() {}, nil
	}
	f, err := own.Open(cfg.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, "choose another --log-file")
	if err != nil {
		return zerolog.Nop(), nil, fmt.Errorf("--log-file: %w", err)
	}
	timed := zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, time.Now().Format(logTime))
	})
	log := zerolog.New(protocol.Escaping{Writer: f}).Level(cfg.LogLevel).With().Str("agent", cfg.Name).Logger()
	return log.Hook(timed), func() { f.Close() }, nil
}

// withHint takes over the hint of an error that brings one.
func withHint(err error) error {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return hinted{err, h.Hint()}
	}
	return err
}
