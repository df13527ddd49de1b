package inject

import (
	"context"
	"strings"
	"sync"
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// fakeTerm is an agent with a composer, simple enough to see that it is right.
type fakeTerm struct {
	mu      sync.Mutex
	changed chan struct{}
	started time.Time

	box      string // the composer's text
	dialog   string
	busy     bool
	exited   bool
	typed    strings.Builder // every byte written
	turns    []string        // what was submitted
	owner    bool
	held     []byte
	since    time.Time
	shadow   draft.Shadow
	turnTime time.Duration

	swallow  int  // so many Enters do nothing
	wedged   bool // Enter never does anything
	stalled  bool // what is typed stays unread
	unread   []byte
	stopped  bool
	flushed  time.Time
	deaf     bool // nothing typed ever shows
	noClear  bool // keys that clear do nothing
	onPaste  func(*fakeTerm)
	onSubmit func(*fakeTerm)
}

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

func (f *fakeTerm) Look() Look {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := ready.Word{State: ready.Ready}
	if f.busy {
		own.State = ready.Busy
	}
	return Look{
		Sight: profile.Sight{
			Box:    profile.Box{Visible: f.dialog == "", Top: true, Text: f.box},
			Dialog: f.dialog, Working: f.busy, Paste: true,
		},
		Facts: ready.Facts{
			Now: time.Now(), Started: f.started, Exited: f.exited, Foreground: true, Raw: true, Own: own, Stopped: f.stopped,
		},
		Draft: f.shadow.State(), Unread: len(f.unread), Flushed: f.flushed,
	}
}

func (f *fakeTerm) Begin(context.Context) (Tx, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
	f.typed.WriteString(keys)
	switch {
	case f.dialog != "":
		if strings.Contains(keys, "\r") {
			f.turns = append(f.turns, "ANSWERED "+f.dialog)
			f.dialog = ""
		}
	case f.deaf:
	case keys == "\x1b\x1b":
		if !f.noClear {
			f.box = ""
		}
	case keys == "\r":
		f.enter()
	default:
		f.box += strings.NewReplacer(pasteOpen, "", pasteClose, "").Replace(keys)
		if f.onPaste != nil {
			f.onPaste(f)
		}
	}
}

func (f *fakeTerm) enter() {
	if f.swallow > 0 {
		f.swallow--
		return
	}
	if f.wedged || f.box == "" {
		return
	}
	f.turns = append(f.turns, f.box)
	f.box, f.busy = "", true
	if f.onSubmit != nil {
		f.onSubmit(f)
	}
	time.AfterFunc(f.turnTime, func() { f.do(func(f *fakeTerm) { f.busy = false }) })
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

type fakeTx struct{ f *fakeTerm }

func (t *fakeTx) Write(_ context.Context, p []byte) (int, error) {
	t.f.do(func(f *fakeTerm) { f.read(string(p)) })
	return len(p), nil
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

// fakeMail is a mailbox with one line of messages.
type fakeMail struct {
	mu      sync.Mutex
	wait    []Message
	taken   map[string]int
	results map[string]Result
	ended   chan string
	wake    chan struct{}
	onEnd   func()

	cancelled string // the id that somebody wants cancelled
}

func newMail() *fakeMail {
	return &fakeMail{taken: map[string]int{}, results: map[string]Result{},
		ended: make(chan string, 100), wake: make(chan struct{}, 1)}
}

func (m *fakeMail) add(id, body string) {
	m.mu.Lock()
	m.wait = append(m.wait, Message{ID: id, Header: "[relay " + id + " from bob]", Body: body, Footer: "[end " + id + "]"})
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *fakeMail) Next(time.Time) (*Message, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wait) == 0 {
		return nil, time.Time{}
	}
	head := m.wait[0]
	return &head, time.Time{}
}

func (m *fakeMail) Take(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[id]++
	return true
}

func (m *fakeMail) Wanted(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cancelled == id
}

func (m *fakeMail) Commit(id string) bool { return !m.Wanted(id) }

// cancel asks for a message to be cancelled.
func (m *fakeMail) cancel(id string) {
	m.mu.Lock()
	m.cancelled = id
	m.mu.Unlock()
	m.wake <- struct{}{}
}

func (m *fakeMail) End(id string, r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[id] = r
	if m.onEnd != nil {
		m.onEnd()
	}
	if r.Status == Withdrawn && m.cancelled != id {
		return
	}
	m.wait = m.wait[1:]
	m.ended <- id
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
