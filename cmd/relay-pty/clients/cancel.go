package clients

import (
	"cmp"
	"errors"
	"time"

	"relay-pty/protocol"
	"relay-pty/queue"
)

// cancelPatience is how long a cancel waits for an attempt that runs to be
// withdrawn; until then the connection's later requests wait as well.
const cancelPatience = 10 * time.Second

// cancelling is a cancel whose answer depends on how the attempt ends; the zero value is none.
type cancelling struct {
	id, req string
	due     <-chan time.Time // receives when the cancel must be answered
}

// cancelOne cancels a message. The cancelled result that answers it comes out of
// the log where that is still ahead of us, so that the client hears it once.
func (c *client) cancelOne(r *protocol.Cancel) {
	c.listen()
	c.pump()
	res, err := c.Box.Cancel(r.ID, time.Now())
	switch {
	case errors.Is(err, queue.ErrUnknown):
		c.unknown(r.ID, r.Req)
	case errors.Is(err, queue.ErrState):
		c.tooLate(r.ID, r.Req, res.Status)
	case err != nil:
		c.refuse(protocol.Degraded, "", r.ID, r.Req, "the end of the message could not be recorded: "+err.Error())
	case res.Status != protocol.StatusCancelled:
		c.cancel = cancelling{id: r.ID, req: r.Req, due: time.After(cmp.Or(c.patience, cancelPatience))}
	case res.Seq > c.follow.Seq():
		c.care[r.ID] = interest{req: r.Req, after: res.Seq - 1}
		c.due = res.Seq
	default:
		c.tell(res, r.Req)
	}
	c.pump()
}

// tooLate refuses a cancel by what became of the message instead.
func (c *client) tooLate(id, req, status string) {
	why := "it has ended as " + status
	if status == protocol.StatusInjecting {
		why = "Enter was pressed on it, or the agent has pulled it; its result follows on the connection that sent it, or by query"
	}
	c.refuse(protocol.TooLate, "", id, req, why)
}

// giveUp answers a cancel that nobody could carry out in time, and takes the
// wish back, so that the answer stays true.
func (c *client) giveUp() {
	c.cancel.due = nil
	p := c.cancel
	if !c.Box.GiveUp(p.id) {
		return // the log tells
	}
	c.cancel = cancelling{}
	c.refuse(protocol.TooLate, "", p.id, p.req, "its text stands at the agent and cannot be taken back now; it is not cancelled, ask again later")
}
