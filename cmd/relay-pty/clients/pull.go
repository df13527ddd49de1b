package clients

import (
	"errors"
	"slices"
	"time"

	"relay-pty/cmd/relay-pty/handover"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// pulling is a pull that waits for a first message; the zero value is none.
type pulling struct {
	*protocol.Pull
	waiter    *queue.Waiter
	arrived   <-chan struct{} // receives when there may be a message for the pull
	displaced <-chan struct{} // receives when another pull waits in its place
	due       <-chan time.Time
}

func (p pulling) wait() bool { return p.Pull != nil }

// pull hands messages to the agent, or waits for a first one.
func (c *client) pull(r *protocol.Pull) {
	if !c.speaks(r.Req) {
		return
	}
	if r.WaitMS == 0 {
		c.lend(r, true)
		return
	}
	w := c.Box.Await(asked(r, c.Unread()))
	c.pulls = pulling{r, w, w.Arrived(), w.Displaced(), time.After(r.Wait())}
	c.lookAgain()
}

// lookAgain answers the pull that waits, if there is a message for it.
func (c *client) lookAgain() {
	if c.lend(c.pulls.Pull, false) {
		c.leave()
	}
}

// giveUpPull answers the pull that waits, if any, with no messages.
func (c *client) giveUpPull() {
	if c.pulls.wait() {
		c.conn.Answer(&protocol.MessagesAnswer{Head: c.pulls.Head, Messages: []protocol.Pulled{}})
		c.leave()
	}
}

// leave lets others have what the pull waited for.
func (c *client) leave() {
	if c.pulls.wait() {
		c.Box.Leave(c.pulls.waiter)
		c.pulls = pulling{}
	}
}

// lend answers a pull with what is there for it, and reports whether it did; with nothing only if
// it must. A client that is gone by then has got nothing.
func (c *client) lend(r *protocol.Pull, must bool) (answered bool) {
	if c.foreign("", r.Req, true) {
		return true
	}
	now, unread := time.Now(), c.Unread()
	ask := asked(r, unread)
	if c.Lends != nil {
		ask.Most = c.Lends(ask.Most)
	}
	msgs, err := c.Box.Lease(now, ask)
	switch {
	case err != nil:
		code, message := refusal(err)
		c.refuse(code, "", "", r.Req, message)
		return true
	case len(msgs) == 0 && !must:
		return false
	}
	ids, answer := make([]string, len(msgs)), &protocol.MessagesAnswer{Head: r.Head, Messages: []protocol.Pulled{}}
	for i, m := range msgs {
		ids[i] = m.ShownID()
		answer.Messages = append(answer.Messages, pulled(m, now, unread))
	}
	c.Lent(ids)
	if c.gone() || !c.conn.Answer(answer) {
		c.Settled(ids)
		c.Box.GiveBack(time.Now(), msgs) // what cannot be recorded now is told later
	}
	c.pump()
	return true
}

// asked is what a pull asks the mailbox for. Bodies of 64 KiB make an answer that a line holds.
func asked(r *protocol.Pull, unread bool) queue.Ask {
	most := int(min(r.MaxBytes, protocol.MaxLine))
	return queue.Ask{Most: int(r.Max), Modes: r.Modes, Fits: func(taken []queue.Message, next queue.Message) bool {
		bodies, texts, now := 0, 0, time.Now()
		for _, m := range slices.Concat(taken, []queue.Message{next}) {
			bodies += len(m.Body)
			if most > 0 {
				texts += len(text(m, now, unread))
			}
		}
		return texts <= most && (len(taken) == 0 || bodies <= protocol.MaxBody)
	}}
}

// text is a message as an agent, whose markers may be unread, reads it now.
func text(m queue.Message, now time.Time, unread bool) string {
	return handover.Envelope(m, now.Sub(m.QueuedAt), unread).Text()
}

// pulled is a message as a consumer gets it.
func pulled(m queue.Message, now time.Time, unread bool) protocol.Pulled {
	return protocol.Pulled{ID: m.ID, From: m.From, Mode: m.Mode, ReplyTo: m.ReplyTo, Thread: m.Thread, Body: m.Body,
		Text: text(m, now, unread)}
}

// acknowledge ends leases by the agent's own word.
func (c *client) acknowledge(r *protocol.PullAck) {
	if !c.speaks(r.Req) {
		return
	}
	id, err := c.Box.Ack(time.Now(), r.IDs...)
	switch {
	case errors.Is(err, queue.ErrUnknown):
		c.unknown(id, r.Req)
		return
	case errors.Is(err, queue.ErrState):
		c.refuse(protocol.TooLate, "ids", id, r.Req, "the message is not leased, or not any more; the others count")
	case err != nil:
		c.refuse(protocol.Degraded, "", "", r.Req, err.Error())
		return
	default:
		c.conn.Answer(&protocol.OK{Head: r.Head})
	}
	c.Settled(c.Box.ShownIDs(r.IDs))
	c.pump()
}
