package desk

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"relay-pty/protocol"
	"relay-pty/queue"
)

// emit puts the agent's message into the log, as a marker would. Its number is told when
// it is on disk.
func (c *client) emit(r *protocol.Emit) {
	if !c.speaks(r.Req) {
		return
	}
	ev := &protocol.RelayCommand{From: c.Name, To: r.To, Body: r.Body, Raw: marker(r), ID: NewID(),
		ReplyTo: r.ReplyTo, Thread: r.Thread, Mode: r.Mode, Source: "emit"}
	written, err := c.Events.Propose(time.Now(), queue.Draft{Event: ev})
	if err == nil && written != nil {
		err = written()
	}
	if err != nil {
		c.refuse(protocol.Degraded, "", "", r.Req, "the message could not be recorded: "+err.Error())
		return
	}
	c.conn.Answer(&protocol.OK{Req: r.Req, Seq: ev.Seq})
	c.pump()
}

// NewID makes up a command's id.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return "cmd-" + hex.EncodeToString(b[:])
}

// marker is the marker that says the same. Its fence is longer than any run in the
// body, and the newlines within it are not part of the body.
func marker(r *protocol.Emit) string {
	var keys []string
	for _, kv := range [...][2]string{{"re", r.ReplyTo}, {"thread", r.Thread}, {"mode", r.Mode}} {
		if kv[1] != "" {
			keys = append(keys, kv[0]+"="+kv[1])
		}
	}
	head := "->relay:" + r.To + " "
	if len(keys) > 0 {
		head += "[" + strings.Join(keys, " ") + "] "
	}
	width := max(3, longestRun(r.Body, '>')+1)
	return head + strings.Repeat("<", width) + "\n" + r.Body + "\n" + strings.Repeat(">", width)
}

// longestRun is how often b stands in s without a break, at most.
func longestRun(s string, b byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if n++; s[i] != b {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
