package hub

import (
	"context"
	"strings"
	"sync"

	"relay-pty/cmd/relay/internal/router"
)

// groupMost is how many events are written at once.
const groupMost = 64

// queue is what is to be written, as it came.
type queue struct {
	mu   sync.Mutex // a leaf
	list []*pending
}

// decision says what is to be written, if it is news, from what the log says at that moment. It may
// be made again when the event was not written.
type decision func() (e router.Event, news bool, err error)

// pending is for the owner of writing.
type pending struct {
	decide decision
	ended  bool
	err    error
}

func (p *pending) end(err error) { p.ended, p.err = true, err }

// write decides on an event and puts it into the log, if it is news. Those that come while others
// are written are written together; each caller returns when its own is on disk.
func (h *Hub) write(ctx context.Context, decide decision) error {
	p := &pending{decide: decide}
	h.queue.mu.Lock()
	h.queue.list = append(h.queue.list, p)
	h.queue.mu.Unlock()
	h.writing.Lock()
	defer h.writing.Unlock()
	for !p.ended {
		h.writeGroup(ctx)
	}
	return p.err
}

// writeGroup writes the first of what waits, up to a decision that has to know of one before, or
// refuses and might not if it knew. It is for the owner of writing.
func (h *Hub) writeGroup(ctx context.Context) {
	h.queue.mu.Lock()
	list := h.queue.list
	h.queue.list = nil
	h.queue.mu.Unlock()
	var group []*pending
	var events []router.Event
	about := topics{}
	for i, p := range list {
		e, news, err := p.decide()
		if len(group) > 0 && (len(group) == groupMost || err != nil || about.meet(e)) {
			h.queue.mu.Lock()
			h.queue.list = append(list[i:], h.queue.list...)
			h.queue.mu.Unlock()
			break
		}
		if err != nil || !news {
			p.end(err)
			continue
		}
		about.add(e)
		group, events = append(group, p), append(events, e)
	}
	if len(group) == 0 {
		return
	}
	written, err := h.appendAll(ctx, events)
	for i, p := range group {
		if i < written {
			p.end(nil)
		} else {
			p.end(err)
		}
	}
}

// topics are what decisions of a group depend on, and what its events change of that: messages,
// chains, agents, and how much one sends to another.
type topics map[string]bool

// many is the topic of what changes more than it names.
const many = "*"

func topicsOf(e router.Event) (list []string) {
	if len(e.Recipients) > 0 {
		return []string{many}
	}
	for _, id := range []string{e.ID, e.ReplyTo, e.Redelivers, e.About} {
		list = append(list, "message "+id)
	}
	return append(list, "chain "+e.Chain, "agent "+e.Agent, "from "+strings.TrimSpace(e.From+" "+e.To))
}

// meet says whether what is decided on e could depend on an event of the group.
func (t topics) meet(e router.Event) bool {
	if t[many] {
		return true
	}
	for _, topic := range topicsOf(e) {
		if topic == many || !strings.HasSuffix(topic, " ") && t[topic] {
			return true
		}
	}
	return false
}

func (t topics) add(e router.Event) {
	for _, topic := range topicsOf(e) {
		t[topic] = true
	}
}
