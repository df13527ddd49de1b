package clients

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// emit puts the agent's message into the log, as a marker would. Its number is told when
// it is on disk.
func (c *client) emit(r *protocol.Emit) {
	if !c.speaks(r.Req) || !c.readable(r.Body, "", r.Req) {
		return
	}
	raw := parser.Marker(parser.Command{To: r.To, Body: r.Body, ReplyTo: r.ReplyTo, Thread: r.Thread, Mode: r.Mode})
	ev := &protocol.RelayCommand{From: c.Name, To: r.To, Body: r.Body, Raw: raw, ID: NewID(),
		ReplyTo: r.ReplyTo, Thread: r.Thread, Mode: r.Mode, Source: protocol.SourceEmit}
	if c.Turn != nil {
		ev.TurnOf, ev.Tools = c.Turn()
	}
	written, err := c.Events.Propose(time.Now(), queue.Proposal{Event: ev})
	if err == nil && written != nil {
		err = written()
	}
	if err != nil {
		c.refuse(protocol.Degraded, "", "", r.Req, "the message could not be recorded: "+err.Error())
		return
	}
	c.conn.Answer(&protocol.OK{Head: r.Head, Seq: ev.Seq})
	c.pump()
}

// NewID makes up a command's id.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return "cmd-" + hex.EncodeToString(b[:])
}
