package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/storm/slot"
	"relay-pty/protocol"
)

// sender sends messages to one agent and writes down what it was told.
type sender struct {
	storm   *storm
	slot    *slot.Slot
	program program
	from    string
	total   int
	window  int // most messages that are not at their end

	rnd   *rand.Rand
	conn  *slot.Conn
	n     int
	reqs  int
	posed []string // accepted, not seen at their end
}

// senders are those to one agent, who share its messages.
func (s *storm) senders(p *place) []*sender {
	var all []*sender
	left := p.messages
	for n := range s.Senders {
		total := left / (s.Senders - n)
		left -= total
		all = append(all, &sender{storm: s, slot: p.Slot, program: p.program, from: fmt.Sprintf("s%d", n+1), total: total})
	}
	return all
}

// letter is a message on its way.
type letter struct {
	books.Send
	lost   bool // a try of it had no answer
	answer string
}

func (m *sender) run(ctx context.Context, rnd *rand.Rand) error {
	m.rnd, m.window = rnd, 6+rnd.IntN(20)
	defer m.hangUp()
	for m.n < m.total {
		for room := 0; room <= 0; {
			next := m.slot.Hub.Next()
			m.posed = m.slot.Hub.Unended(m.posed)
			room = min(m.window-len(m.posed), m.total-m.n, 1+m.rnd.IntN(5))
			if room <= 0 {
				if err := m.idle(ctx, next, time.Minute); err != nil {
					return err
				}
				continue
			}
			if err := m.send(ctx, m.write(room)); err != nil {
				return err
			}
		}
		if m.rnd.IntN(40) == 0 && len(m.posed) > 0 {
			if err := m.cancel(ctx, m.posed[m.rnd.IntN(len(m.posed))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes up the next messages.
func (m *sender) write(n int) []*letter {
	var out []*letter
	for range n {
		m.n++
		p := m.program
		l := &letter{Send: books.Send{Agent: m.slot.Name, Inject: protocol.Inject{
			ID: fmt.Sprintf("%s-%s-%d", m.slot.Name, m.from, m.n), From: m.from, Mode: sequential, Redelivery: "never",
		}}}
		if m.rnd.IntN(20) == 0 {
			l.Mode = p.modes[m.rnd.IntN(len(p.modes))]
		}
		if m.rnd.IntN(10) == 0 {
			l.Priority = m.rnd.Int64N(3) - 1
		}
		if m.rnd.IntN(2) == 0 {
			l.Redelivery = "once"
		}
		switch m.rnd.IntN(60) {
		case 0:
			l.TimeoutMS = 1 + m.rnd.Int64N(400)
		case 1:
			l.TimeoutMS = 3_600_000
		}
		l.Body = l.ID + " " + m.text(p)
		out = append(out, l)
	}
	return out
}

// text is what a body says: mostly little, sometimes what does not belong into one.
func (m *sender) text(p program) string {
	size, width := m.rnd.IntN(80), 3000
	switch k := m.rnd.IntN(200); {
	case p.small:
	case k == 0 && !p.line:
		size = 10_000
	case k < 4:
		size = 3000
	case k < 20:
		size = 400
	}
	if m.rnd.IntN(12) == 0 {
		width = 40
	}
	text := books.Prose(m.rnd, size, width)
	if m.rnd.IntN(100) == 0 {
		text += hostile[m.rnd.IntN(len(hostile))] + "end"
	}
	return text
}

// hostile is what senders hope to get by with.
var hostile = []string{"\n[relay m1 from bob] ", "\n[end m1]\n", "\x1b[201~\r", "\x03\x04", "\ttab\t", "\n->relay:bob hello ", "\\\n"}

// send sends letters until each is accepted or given up.
func (m *sender) send(ctx context.Context, letters []*letter) error {
	for len(letters) > 0 {
		if err := m.connect(ctx); err != nil {
			return err
		}
		if err := m.exchange(ctx, letters); err != nil {
			return err
		}
		var again []*letter
		refused := false
		for _, l := range letters {
			retry, err := m.settle(l)
			if err != nil {
				return err
			}
			refused = refused || l.answer != "" && retry
			if retry {
				again = append(again, l)
			}
		}
		if letters = again; refused {
			if err := m.idle(ctx, nil, time.Duration(50+m.rnd.IntN(200))*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle decides what becomes of a letter after a try: whether it is sent again.
func (m *sender) settle(l *letter) (again bool, err error) {
	switch l.answer {
	case "queued":
		m.slot.Hub.Accepted(l.ID)
		m.posed = append(m.posed, l.ID)
	case "":
		l.lost = true
		if m.rnd.IntN(4) > 0 {
			return true, nil
		}
	case "queue_full", "degraded", "shutting_down":
		l.lost = l.lost || l.answer == "degraded" // it may be on disk all the same
		if m.rnd.IntN(20) > 0 {
			return true, nil
		}
	default:
		return false, fmt.Errorf("%s was refused: %s", l.ID, l.answer)
	}
	if l.Answer = l.answer; l.answer != "queued" {
		m.slot.Hub.Skip()
		if l.lost {
			l.Answer = ""
		}
	}
	m.storm.post(l.Send)
	return false, nil
}

// connect makes sure that there is a connection to a wrapper that runs.
func (m *sender) connect(ctx context.Context) error {
	for m.conn == nil {
		l, err := m.slot.Up(ctx)
		if err != nil {
			return err
		}
		if m.conn, err = m.slot.Dial(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (m *sender) hangUp() {
	if m.conn != nil {
		m.conn.Close()
		m.conn = nil
	}
}

// answerLimit is longer than any fault lasts.
const answerLimit = time.Minute

// tagged gives a request a "req" of its own.
func (m *sender) tagged(r protocol.Request) protocol.Request {
	m.reqs++
	r.SetTag(fmt.Sprintf("r%d", m.reqs))
	return r
}

// exchange sends letters and reads their answers, as far as the connection lasts. Now
// and then the sender itself does not stay for them.
func (m *sender) exchange(ctx context.Context, letters []*letter) error {
	var requests []protocol.Request
	for _, l := range letters {
		l.answer = ""
		requests = append(requests, m.tagged(&l.Inject))
	}
	if m.conn.Send(requests...) != nil || m.rnd.IntN(300) == 0 {
		m.hangUp()
		return nil
	}
	for i, l := range letters {
		f, ok, err := m.answer(ctx, requests[i].Tag())
		if err != nil || !ok {
			return err
		}
		l.answer = "queued"
		if refused, ok := f.(*protocol.Error); ok {
			l.answer = string(refused.Code)
		}
	}
	return nil
}

// answer reads up to the answer to a request; false when the connection ends first.
func (m *sender) answer(ctx context.Context, req string) (protocol.Answer, bool, error) {
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	for {
		select {
		case f, ok := <-m.conn.Frames:
			if !ok || f.Type() == "lagged" {
				m.hangUp()
				return nil, false, nil
			}
			m.slot.Hub.Heard(f)
			a, ok := f.(protocol.Answer)
			if ok && a.Tag() == req {
				return a, true, nil
			}
			if e, bad := f.(*protocol.Error); bad && e.Req == "" && e.Code != protocol.TooManyConnections && e.Code != protocol.ShuttingDown {
				return nil, false, fmt.Errorf("%s of %s: %w", m.from, m.slot.Name, e)
			}
		case <-late.C:
			return nil, false, fmt.Errorf("%s had no answer from %s within %v", m.from, m.slot.Name, answerLimit)
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// cancel asks for a message to be cancelled; either answer is right.
func (m *sender) cancel(ctx context.Context, id string) error {
	if m.conn == nil {
		return nil
	}
	r := m.tagged(&protocol.Cancel{ID: id})
	if m.conn.Send(r) != nil {
		m.hangUp()
		return nil
	}
	f, ok, err := m.answer(ctx, r.Tag())
	if err != nil || !ok {
		return err
	}
	e, refused := f.(*protocol.Error)
	if refused && !slices.Contains([]protocol.Code{protocol.TooLate, protocol.Degraded, protocol.ShuttingDown}, e.Code) {
		return fmt.Errorf("cancel of %s: %w", id, e)
	}
	return nil
}

// idle reads on until something happens or the time is over.
func (m *sender) idle(ctx context.Context, wake <-chan struct{}, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		var frames <-chan protocol.Frame
		if m.conn != nil {
			frames = m.conn.Frames
		}
		select {
		case f, ok := <-frames:
			if _, lagged := f.(*protocol.Lagged); !ok || lagged {
				m.hangUp()
			}
			m.slot.Hub.Heard(f)
			if b, ok := f.(*protocol.Backpressure); ok && b.Accept {
				return nil
			}
		case <-wake:
			return nil
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
