package tools

import (
	"context"
	"strings"
	"sync"
)

// Inbox is where messages to the caller wait. A message that was taken is given to nobody else for
// a while. It comes again under its id if it was not acknowledged.
type Inbox interface {
	Take(ctx context.Context, most int) ([]Letter, error)
	Acknowledge(ctx context.Context, ids []string) error
}

// Letter is a message in the form in which an agent reads it.
type Letter struct{ ID, Text string }

// named is the message between its header and its footer, by which the agent's log proves it,
// without its words, which the answer has.
func (l Letter) named() string {
	header, _, _ := strings.Cut(l.Text, "] ")
	return header + "] is the reply in the answer above.\n" + l.Text[strings.LastIndexByte(l.Text, '\n')+1:]
}

const (
	usualMost = 10       // messages that go with an answer
	sizeMost  = 16 << 10 // bytes of text after which no further message is taken: agents cut long results
)

// mail knows what the caller was shown. An agent that calls again has read the last answer, and
// only then is it certain: an answer can be lost on its way, and then its messages come again.
type mail struct {
	inbox Inbox

	mu    sync.Mutex
	shown []string        // ids of messages that went with answers, and are not acknowledged
	ever  map[string]bool // of all that did; some bytes for each message of a session
	calls int             // that have no answer yet
}

// begins says that a call waits for its answer, until ends is called.
func (m *mail) begins() (ends func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls--
	}
}

// cancelled says that the caller gave up a call. One that waits for its answer ends so by itself;
// else the answer was on its way, and whoever cancels drops it: what it showed was not read.
func (m *mail) cancelled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == 0 {
		m.shown = nil
	}
}

// read acknowledges what was shown. What fails is tried again at the next call.
func (m *mail) read(ctx context.Context) {
	m.mu.Lock()
	ids := m.shown
	m.shown = nil
	m.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	if err := m.inbox.Acknowledge(ctx, ids); err != nil {
		m.show(ids)
	}
}

// has reports whether a message was shown.
func (m *mail) has(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ever[id]
}

// show says that these messages go to the caller now.
func (m *mail) show(ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = append(m.shown, ids...)
	for _, id := range ids {
		m.ever[id] = true
	}
}

// waiting takes messages that wait. Of one that the answer has told, their text only says so.
func (m *mail) waiting(ctx context.Context, most int, told string) (text string, ids []string) {
	var texts []string
	for size := 0; len(ids) < most && size < sizeMost; {
		list, err := m.inbox.Take(ctx, 1)
		if err != nil {
			texts = append(texts, "Messages to you could not be looked up: "+refusal(err))
		}
		if err != nil || len(list) == 0 {
			break
		}
		for _, l := range list {
			text := l.Text
			if l.ID == told {
				text = l.named()
			}
			ids, texts, size = append(ids, l.ID), append(texts, text), size+len(text)
		}
	}
	if len(texts) == 0 {
		return "", ids
	}
	return stamp + "\n\n" + strings.Join(texts, "\n\n"), ids
}
