package inject

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

// pass lets the bubble's time pass.
func pass(d time.Duration) { <-time.After(d) }

// fakeTerm is an agent with a composer, simple enough to see that it is right.
type fakeTerm struct {
	mu      sync.Mutex
	changed chan struct{}
	started time.Time

	box      string // the composer's text
	dialog   string
	foreign  bool // the composer is in a mode of its own
	away     bool // all is painted anew, and the composer is yet to come
	busy     bool
	exited   bool
	typed    strings.Builder // every byte written
	turns    []string        // what was submitted
	owner    bool
	held     []byte
	since    time.Time
	shadow   draft.Shadow
	turnTime time.Duration

	swallow  int           // so many Enters do nothing
	late     time.Duration // an Enter that was read is done so much later
	lag      time.Duration // so is everything that is read, in its order
	todo     []string      // what was read and is yet to be done
	early    int           // how often more was read before that
	wedged   bool          // Enter never does anything
	low      int           // so many of the composer's rows are in view, and nothing tells that there are more; 0 is all
	atStart  bool          // those are its first
	stays    bool          // the key that leads there does nothing
	offers   string        // Enter puts this in the place of the text's last character, once
	inView   int           // so many of the composer's last rows; 0 is all
	stalled  bool          // what is typed stays unread
	unread   []byte
	shut     bool // nothing can be typed
	stopped  bool
	flushed  time.Time
	deaf     bool // nothing typed ever shows
	still    bool // it paints nothing, and else all the time while it is busy
	painted  time.Time
	asks     bool          // it has asked the terminal something, and does nothing before it has …
	answer   string        // … the answer, which waits for the transaction
	quotes   bool          // "Really?" in its composer looks like a dialog
	insert   bool          // it is in vim's INSERT mode, and shows that; Esc leads to NORMAL …
	leaving  time.Duration // … so much later, and until then no mode shows
	unshown  bool
	normal   bool          // keys are commands, as in vim's NORMAL mode; a paste is text
	behind   bool          // the key that leads back from there is text, once
	dozes    time.Duration // an Esc stays unread for so long, and a key within 50 ms of that …
	esc      *time.Timer   // … is one with it, and text
	noClear  bool          // keys that clear do nothing
	leaves   string        // or they leave this
	joins    bool          // C-u on an empty line takes the newline before it, and does nothing otherwise
	dies     time.Duration // the terminal goes away in the middle of a message, the agent is seen gone so much later …
	diesLate bool          // … or at the Enter
	grows    bool          // each key adds to the text, too
	blinks   time.Duration // C-u: the composer is away and back ten times, so long each
	pasting  time.Duration // an Enter so close behind a paste is a newline
	pasted   time.Time
	onPaste  func(*fakeTerm)
	onSubmit func(*fakeTerm)

	queue    []string // submitted while busy
	habit    habit    // what becomes of it at an interrupt
	kept     []string // it goes with the next turn
	keeps    bool     // so is what is submitted now, and it looks idle
	stash    string   // the draft that was set aside
	stashed  bool
	noStash  bool // the key for it, or the one that clears a draft, does nothing
	discreet bool // nothing shows that it is
	twice    bool // an Esc only arms it, and the next one interrupts it 0.4 s later …
	armed    bool // … unless it has forgotten the first, as it does so many times
	forgets  int
	halted   time.Time     // when it was last interrupted
	thinking bool          // a turn that is interrupted now gives its prompt back
	paints   time.Duration // how long after it says that it rests it paints that prompt
	prompt   string        // of the turn that runs
	turn     int
}

// habit is what an agent does with its queue when it is interrupted.
type habit int

const (
	takesUp   habit = iota // begins with it
	givesBack              // puts it into its composer, as Codex
	givesOne               // does so with the first of it
	keepsIt                // keeps it for its next turn, as OpenCode
	dropsIt
)

func newFake() *fakeTerm {
	return &fakeTerm{changed: make(chan struct{}, 1), started: time.Now(), turnTime: 3 * time.Second}
}

func (f *fakeTerm) Changed() <-chan struct{} { return f.changed }

func (f *fakeTerm) wake() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// do changes the agent's state as an event would.
func (f *fakeTerm) do(change func(*fakeTerm)) {
	f.mu.Lock()
	change(f)
	f.mu.Unlock()
	f.wake()
}

func (f *fakeTerm) Look() watch.Look {
	f.mu.Lock()
	defer f.mu.Unlock()
	own, now := ready.Word{State: ready.Ready}, time.Now()
	if f.busy {
		own.State = ready.Busy
	}
	if f.busy && !f.still {
		f.painted = now
	}
	box := sight.Box{Visible: f.dialog == "" && !f.away, Top: true, Text: strings.TrimSpace(f.box)}
	box.Blank = f.box != "" && box.Text == ""
	if !box.Visible {
		box = sight.Box{}
	}
	if lines := strings.Split(box.Text, "\n"); f.inView > 0 && len(lines) > f.inView {
		box.Top, box.Text = false, strings.Join(lines[len(lines)-f.inView:], "\n")
	}
	if lines := strings.Split(box.Text, "\n"); f.low > 0 && len(lines) > f.low {
		from := len(lines) - f.low
		if f.atStart {
			from = 0
		}
		box.Text = strings.Join(lines[from:from+f.low], "\n")
	}
	if box.Foreign = f.foreign; f.foreign {
		box.Mode = "!"
	}
	typed, dialog := sight.Box{}, f.dialog
	if f.quotes && dialog == "" && strings.Contains(f.box, "Really?") {
		typed, box, dialog = box, sight.Box{}, "Really?"
	}
	return watch.Look{
		Again: f.follow(box, now),
		Sight: sight.Sight{
			Box: box, Typed: typed,
			Dialog: dialog, Working: f.busy, Queued: f.keeps && len(f.queue) > 0, Paste: true, Stashed: f.stashed && !f.discreet, Armed: f.armed,
			Line: f.box[strings.LastIndex(f.box, "\n")+1:], Row: strings.Count(f.box, "\n"), Rows: 24, Inserts: f.insert && !f.unshown,
			Commands: f.normal && !f.unshown,
		},
		Facts: ready.Facts{
			Now: now, Started: f.started, LastOutput: f.painted, Exited: f.exited, Foreground: true, Raw: true, Own: own, Stopped: f.stopped,
		},
		Draft: f.shadow.At(now), Unread: len(f.unread), Flushed: f.flushed,
	}
}

// follow lets the shadow of the human's keys learn from the composer, as package agent does.
func (f *fakeTerm) follow(b sight.Box, now time.Time) (again time.Duration) {
	f.shadow.Away(!b.Visible, now)
	if b.Visible && !b.Blank && len(f.unread) == 0 {
		again = f.shadow.Seen(b.Text, b.Top, now)
	}
	return again
}

func (f *fakeTerm) Begin(context.Context) (Tx, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		return nil, syscall.EIO
	}
	f.owner = true
	return &fakeTx{f: f}, nil
}

// human types; while a message is being typed the keys are kept.
func (f *fakeTerm) human(keys string) {
	f.do(func(f *fakeTerm) {
		f.shadow.Keys([]byte(keys), time.Now())
		if f.owner {
			if len(f.held) == 0 {
				f.since = time.Now()
			}
			f.held = append(f.held, keys...)
			return
		}
		f.read(keys)
	})
}

// resume lets a stalled agent read, all that waits at once.
func (f *fakeTerm) resume() {
	f.do(func(f *fakeTerm) {
		f.stalled, f.stopped = false, false
		keys := string(f.unread)
		f.unread = nil
		if head, ok := strings.CutSuffix(keys, "\r"); ok && head != "" {
			f.read(head)
			keys = "\r"
		}
		if keys != "" {
			f.read(keys)
		}
	})
}

// read is the agent reading keys.
func (f *fakeTerm) read(keys string) {
	if f.stalled || f.stopped {
		f.unread = append(f.unread, keys...)
		return
	}
	if f.esc != nil && f.esc.Stop() {
		f.esc, f.box = nil, f.box+strings.Trim(keys, "\x1b")
		return
	}
	if keys == "\x1b" && f.dozes > 0 {
		f.doze()
		return
	}
	f.typed.WriteString(keys)
	if f.asks {
		f.todo = append(f.todo, keys)
		return
	}
	if f.lag == 0 {
		f.act(keys)
		return
	}
	if f.todo = append(f.todo, keys); len(f.todo) > 1 {
		f.early++
	}
	time.AfterFunc(f.lag, func() {
		f.do(func(f *fakeTerm) {
			keys := f.todo[0]
			f.todo = f.todo[1:]
			f.act(keys)
		})
	})
}

// doze leaves an Esc unread for a while, and does it when no key comes close behind it then.
func (f *fakeTerm) doze() {
	f.stalled, f.unread = true, []byte("\x1b")
	time.AfterFunc(f.dozes, func() {
		f.do(func(f *fakeTerm) {
			keys := string(f.unread[1:])
			f.stalled, f.unread = false, nil
			f.esc = time.AfterFunc(50*time.Millisecond, func() {
				f.do(func(f *fakeTerm) {
					f.esc = nil
					f.act("\x1b")
				})
			})
			if keys != "" {
				f.read(keys)
			}
		})
	})
}

// act does what keys do that were read.
func (f *fakeTerm) act(keys string) {
	switch {
	case f.dialog != "":
		if strings.Contains(keys, "\r") {
			f.turns = append(f.turns, "ANSWERED "+f.dialog)
			f.dialog = ""
		}
	case f.deaf:
	case keys == toStart, keys == toEnd:
		f.atStart = keys == toStart && !f.stays
	case keys == "\x15":
		f.killLine()
	case keys == "\x1b\x1b", strings.Trim(keys, "\x15") == "":
		if !f.noClear {
			f.box = f.leaves
		}
	case keys == "\x7f":
		f.box = f.box[:max(0, len(f.box)-1)]
	case keys == "\x13":
		if !f.noStash {
			f.stash, f.box, f.stashed = f.box, f.stash, !f.stashed
		}
	case keys == "\x03":
		if !f.noStash {
			f.box = ""
		}
	case keys == "\x1b" && f.insert && f.leaving > 0:
		f.unshown = true
		time.AfterFunc(f.leaving, func() {
			f.do(func(f *fakeTerm) { f.insert, f.normal, f.unshown = false, true, false })
		})
	case keys == "\x1b" && f.insert:
		f.insert, f.normal = false, true
	case keys == "i" && f.normal && f.behind:
		f.box, f.behind = f.box+keys, false
	case keys == "i" && f.normal:
		f.insert, f.normal = true, false
	case keys == "\x1b":
		f.interrupt()
	case keys == "\x1b[A":
		f.box, f.queue = strings.Join(append(f.queue, f.box), "\n"), nil
	case keys == "\r":
		f.enter()
	case f.normal && !strings.HasPrefix(keys, turn.PasteOpen):
		f.box += keys[min(5, len(keys)):]
	default:
		f.pasted = time.Now()
		f.box += strings.NewReplacer(turn.PasteOpen, "", turn.PasteClose, "").Replace(keys)
		if f.onPaste != nil {
			f.onPaste(f)
		}
	}
}

// killLine empties the last line.
func (f *fakeTerm) killLine() {
	line := strings.LastIndex(f.box, "\n") + 1
	if line == len(f.box) && f.joins {
		line = max(0, line-1)
	}
	if f.box = f.box[:line]; f.grows {
		f.box += "\nand more\n\n"
	}
	if f.blinks == 0 {
		return
	}
	f.away = true
	for n := range 19 {
		time.AfterFunc(time.Duration(n+1)*f.blinks, func() { f.do(func(f *fakeTerm) { f.away = n%2 == 1 }) })
	}
	f.blinks = 0
}

func (f *fakeTerm) enter() {
	if time.Since(f.pasted) < f.pasting {
		f.box += "\n"
		return
	}
	if f.swallow > 0 {
		f.swallow--
		return
	}
	if f.offers != "" {
		f.box, f.offers = f.box[:len(f.box)-1]+f.offers, ""
		return
	}
	if f.late > 0 {
		time.AfterFunc(f.late, func() { f.do((*fakeTerm).submit) })
		return
	}
	f.submit()
}

func (f *fakeTerm) submit() {
	if f.wedged || f.box == "" {
		return
	}
	if f.busy || f.keeps {
		f.queue = append(f.queue, f.box)
	} else {
		f.begin(f.box)
	}
	if f.box = ""; f.stashed {
		f.box, f.stash, f.stashed = f.stash, "", false
	}
}

// begin starts a turn; what is queued follows it.
func (f *fakeTerm) begin(prompt string) {
	f.turns = append(append(f.turns, f.kept...), prompt)
	f.kept = nil
	f.turn++
	f.busy, f.prompt = true, prompt
	if f.onSubmit != nil {
		f.onSubmit(f)
	}
	n := f.turn
	time.AfterFunc(f.turnTime, func() {
		f.do(func(f *fakeTerm) {
			if f.turn == n && f.busy {
				f.end()
			}
		})
	})
}

func (f *fakeTerm) end() {
	f.busy = false
	if len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		f.begin(next)
	}
}

func (f *fakeTerm) interrupt() {
	if !f.busy {
		return
	}
	if f.twice {
		if f.armed && f.forgets == 0 {
			f.armed, f.twice = false, false
			time.AfterFunc(400*time.Millisecond, func() { f.do((*fakeTerm).interrupt) })
			return
		}
		if f.armed {
			f.forgets--
		}
		f.armed = true
		return
	}
	f.halted = time.Now()
	f.turns = append(f.turns, "INTERRUPTED")
	if f.thinking && f.box == "" {
		back := f.prompt
		time.AfterFunc(f.paints, func() { f.do(func(f *fakeTerm) { f.box = back + f.box }) })
	}
	f.thinking = false
	switch f.habit {
	case givesBack:
		f.box, f.queue = strings.Join(append(f.queue, f.box), "\n"), nil
	case givesOne:
		n := min(1, len(f.queue))
		f.box, f.queue = strings.Join(append(f.queue[:n:n], f.box), "\n"), f.queue[n:]
	case keepsIt:
		f.kept, f.queue = append(f.kept, f.queue...), nil
	case dropsIt:
		f.queue = nil
	}
	if f.busy = false; f.habit == takesUp {
		f.end()
	}
}

func (f *fakeTerm) submitted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.turns...)
}

// shows is the composer's text.
func (f *fakeTerm) shows() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.box
}

func (f *fakeTerm) bytes() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.typed.String()
}

func (f *fakeTerm) hasExited() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exited
}

type fakeTx struct{ f *fakeTerm }

func (t *fakeTx) Write(_ context.Context, p []byte) (int, error) {
	if t.f.dies > 0 && (len(p) > 1) != t.f.diesLate {
		time.AfterFunc(t.f.dies, func() { t.f.do(func(f *fakeTerm) { f.exited = true }) })
		return len(p) / 2, syscall.EIO
	}
	t.f.do(func(f *fakeTerm) { f.read(string(p)) })
	return len(p), nil
}

func (t *fakeTx) Pass(context.Context) error {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	if t.f.answer == "" {
		return nil
	}
	t.f.asks, t.f.answer = false, ""
	for _, keys := range t.f.todo {
		t.f.act(keys)
	}
	t.f.todo = nil
	t.f.wake()
	return nil
}

func (t *fakeTx) Held() (int, time.Time) {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	return len(t.f.held), t.f.since
}

func (t *fakeTx) TakeBack(n int) (int, error) {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	n = min(n, len(t.f.unread))
	t.f.unread = t.f.unread[n:]
	return n, nil
}

func (t *fakeTx) End() error {
	t.f.do(func(f *fakeTerm) {
		if f.owner = false; len(f.held) > 0 {
			f.read(string(f.held))
			f.held = nil
		}
	})
	return nil
}

// fakeMail is a mailbox with one line of messages, which all go as mode.
type fakeMail struct {
	mu      sync.Mutex
	wait    []turn.Message
	taken   map[string]int
	results map[string]Result
	ended   chan string
	wake    chan struct{}
	onEnd   func()
	mode    turn.Mode
	modes   map[string]turn.Mode // of those that have another
	batch   int                  // most messages of one turn

	cancelled string // the id that somebody wants cancelled
}

func newMail() *fakeMail {
	return &fakeMail{taken: map[string]int{}, results: map[string]Result{}, mode: protocol.ModeSequential, batch: 1,
		ended: make(chan string, 100), wake: make(chan struct{}, 1)}
}

func framed(id, body string) turn.Message {
	return turn.Message{ID: id, Header: "[relay " + id + " from bob]", Body: body, Footer: "[end " + id + "]"}
}

func (m *fakeMail) add(id, body string) { m.send(framed(id, body)) }

func (m *fakeMail) send(msg turn.Message) {
	m.mu.Lock()
	m.wait = append(m.wait, msg)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// press adds a message of a mode, before all others.
func (m *fakeMail) press(mode turn.Mode, id, body string) {
	m.mu.Lock()
	m.mode, m.wait = mode, append([]turn.Message{framed(id, body)}, m.wait...)
	m.mu.Unlock()
	m.wake <- struct{}{}
}

func (m *fakeMail) Next(time.Time) (*turn.Batch, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wait) == 0 {
		return nil, time.Time{}
	}
	mode := m.mode
	if own, has := m.modes[m.wait[0].ID]; has {
		mode = own
	}
	n := 1
	for n < min(m.batch, len(m.wait)) && m.modes[m.wait[n].ID] == m.modes[m.wait[0].ID] {
		n++
	}
	return &turn.Batch{Mode: mode, Turn: slices.Clone(m.wait[:n])}, time.Time{}
}

func (m *fakeMail) Take(t turn.Turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range t.IDs() {
		m.taken[id]++
	}
	m.wait = slices.DeleteFunc(m.wait, func(msg turn.Message) bool { return slices.Contains(t.IDs(), msg.ID) })
	return true
}

func (m *fakeMail) Wanted(t turn.Turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(t.IDs(), m.cancelled)
}

func (m *fakeMail) Entering(t turn.Turn) bool { return !m.Wanted(t) }

// cancel asks for a message to be cancelled.
func (m *fakeMail) cancel(id string) {
	m.mu.Lock()
	m.cancelled = id
	m.mu.Unlock()
	m.wake <- struct{}{}
}

func (m *fakeMail) End(t turn.Turn, r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onEnd != nil {
		m.onEnd()
	}
	var back []turn.Message
	for _, msg := range t {
		m.results[msg.ID] = r
		if r.Status == Withdrawn && m.cancelled != msg.ID {
			back = append(back, msg)
			continue
		}
		m.ended <- msg.ID
	}
	m.wait = append(back, m.wait...)
}

// tries is how often the message was taken.
func (m *fakeMail) tries(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[id]
}

func (m *fakeMail) result(id string) Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results[id]
}
