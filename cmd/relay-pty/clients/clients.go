// Package clients answers the clients of the injection socket: it takes their
// messages to the mailbox and reads to them from the event log. It starts no
// goroutine; each connection's own runs Handle.
package clients

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/sock"
	"relay-pty/queue"
)

// Server is what the clients deal with.
type Server struct {
	Name    string                                // the agent's
	Token   string                                // with it a connection speaks as the agent …
	Foreign func(c *sock.Conn, reads bool) string // … unless this tells why it does not, or may not read messages; nil: nobody is asked
	Box     *queue.Mailbox
	Events  *queue.Outbox
	Status  func() *protocol.StatusAnswer
	Screen  func() *protocol.ScreenAnswer
	Explain func() *protocol.ExplainAnswer    // why the agent's state is what it is
	Signal  func(*protocol.Signal)            // the agent's own word
	Unread  func() bool                       // nobody reads the agent's markers now
	Spoke   func()                            // told when something speaks as the agent
	Turn    func() (ids []string, tools *int) // what the turn was given that speaks now, and the tools that it has used; nil: nobody knows
	Pause   func(time.Duration) error
	Resume  func() error
	IsKey   func(name string) error
	Press   func(ctx context.Context, keys []string) *protocol.KeysAnswer

	Lends   func(most int) int // how many messages a consumer may get of as many as it asks for; nil: all
	Lent    func(ids []string) // told of messages, by the ids that the agent reads, right before they are given to a consumer …
	Settled func(ids []string) // … and when it has acknowledged them, or did not get them

	AllowCommand bool            // messages of kind command are accepted
	Closed       <-chan struct{} // closed when the exit event is in the log: none follows

	patience time.Duration // of a cancel; 0 means cancelPatience
}

// client is one connection. What it is still to be told comes from the event
// log, read by a cursor of its own: nobody waits for a slow client. Only its
// own goroutine touches it.
type client struct {
	*Server
	conn   *sock.Conn
	follow *queue.Follower
	care   map[string]interest // messages of which it is owed results, by id
	events map[string]bool     // types it subscribed to; nil: none
	behind bool                // the log has more, but too much waits to be written
	agent  bool                // it said hello with the agent's token
	due    int64               // sequence of the event that answers its request and is yet to be sent; 0: none
	cancel cancelling          // a cancel that is not answered yet
	pulls  pulling             // a pull that waits for a first message
	gone   func() bool         // whether the client has hung up
}

// interest is what a client is owed about a message.
type interest struct {
	req   string
	after int64 // results up to this event were told
}

// pumpMost is how many events are read from the log at a time.
const pumpMost = 64

// Handle serves one connection until the client is gone, or has nothing more
// to ask and nothing more to come.
func (s *Server) Handle(ctx context.Context, conn *sock.Conn) {
	c := &client{Server: s, conn: conn, care: map[string]interest{}, gone: func() bool { return ctx.Err() != nil }}
	defer c.unfollow()
	defer c.leave()
	incoming, closed := conn.Incoming(), s.Closed
	for incoming != nil || c.owed() {
		next := incoming
		if c.unanswered() {
			next = nil // answers come in the order of their requests; so incoming outlives every answer
		}
		var wake <-chan struct{}
		switch {
		case c.behind:
			wake = conn.Room()
		case c.follow != nil:
			wake = c.follow.Wake()
		}
		select {
		case in, ok := <-next:
			c.take(ctx, in, ok)
			if !ok {
				incoming = nil
			}
		case <-wake:
			c.pump()
		case <-c.cancel.due:
			c.giveUp()
		case <-c.pulls.arrived:
			c.lookAgain()
		case <-c.pulls.due:
			c.giveUpPull()
		case <-c.pulls.displaced:
			c.giveUpPull()
		case <-closed:
			c.dismiss()
			return
		case <-ctx.Done():
			c.pump()
			return
		}
	}
}

// take deals with a line of the client's, which ends its pull that waits.
func (c *client) take(ctx context.Context, in sock.Incoming, ok bool) {
	switch {
	case !ok:
		return
	case in.Error != nil:
		c.giveUpPull()
		c.conn.Refuse(in.Error)
	default:
		c.giveUpPull()
		c.answer(ctx, in.Request)
	}
}

// dismiss tells the client that the agent has ended.
func (c *client) dismiss() {
	c.pump()
	if c.pulls.wait() {
		c.refuse(protocol.ShuttingDown, "", "", c.pulls.Req, "the agent has ended")
	}
}

// owed reports whether anything is still to come for the client.
func (c *client) owed() bool { return len(c.care) > 0 || c.events != nil || c.pulls.wait() }

// unanswered reports whether the answer to the last request is still to come.
func (c *client) unanswered() bool {
	return c.cancel.id != "" || c.follow != nil && c.follow.Seq() < c.due
}

func (c *client) answer(ctx context.Context, r protocol.Request) {
	switch r := r.(type) {
	case *protocol.Hello:
		c.hello(r)
	case *protocol.Inject:
		c.inject(r)
	case *protocol.Query:
		c.query(r)
	case *protocol.Cancel:
		c.cancelOne(r)
	case *protocol.Queue:
		c.whole(&protocol.QueueAnswer{Head: r.Head, Messages: c.Box.Pending()}, r.Req)
	case *protocol.Status:
		s := c.Status()
		s.Req = r.Req
		c.conn.Answer(s)
	case *protocol.Subscribe:
		c.subscribe(r)
	case *protocol.Screen:
		s := c.Screen()
		s.Req = r.Req
		c.whole(s, r.Req)
	case *protocol.Explain:
		e := c.Explain()
		e.Req = r.Req
		c.whole(e, r.Req)
	case *protocol.Signal:
		c.signal(r)
	case *protocol.Pull:
		c.pull(r)
	case *protocol.PullAck:
		c.acknowledge(r)
	case *protocol.Emit:
		c.emit(r)
	case *protocol.Pause:
		c.done(r.Head, c.Pause(r.For()))
	case *protocol.Keys:
		c.keys(ctx, r)
	case *protocol.Resume:
		c.done(r.Head, c.Resume())
	}
}

func (c *client) hello(r *protocol.Hello) {
	if r.Token != "" && subtle.ConstantTimeCompare([]byte(r.Token), []byte(c.Token)) != 1 {
		c.refuse(protocol.NotAuthorized, "token", "", r.Req, "this is not the token of the agent that runs now; it is in its RELAY_TOKEN")
		return
	}
	if r.Token != "" && !c.agent && c.foreign("token", r.Req, false) {
		return
	}
	if r.Token != "" {
		c.agent = true
		c.Spoke()
	}
	c.conn.Answer(&protocol.HelloAnswer{Head: r.Head, Protocol: protocol.Version, Features: protocol.Features(), Name: c.Name})
}

// done answers a request that has been carried out, or could not be.
func (c *client) done(h protocol.Head, err error) {
	if err != nil {
		c.refuse(protocol.Degraded, "", "", h.Req, "it could not be recorded, and is as it was: "+err.Error())
		return
	}
	c.conn.Answer(&protocol.OK{Head: h})
}

func (c *client) refuse(code protocol.Code, field, id, req, message string) {
	c.conn.Refuse(&protocol.Error{Code: code, Message: message, Field: field, ID: id, Req: req})
}

// inject accepts a message. The queued result, like all that follow, comes out
// of the log; it is pumped at once, so that answers keep the requests' order.
func (c *client) inject(r *protocol.Inject) {
	if !c.readable(r.Body, r.ID, r.Req) || r.Kind == protocol.KindCommand && !c.commands(r) {
		return
	}
	c.listen()
	old, had := c.care[r.ID]
	c.care[r.ID] = interest{req: r.Req, after: c.follow.Seq()}
	res, known, err := c.Box.Enqueue(queue.FromRequest(r), time.Now())
	switch {
	case res.ID == "":
		if delete(c.care, r.ID); had {
			c.care[r.ID] = old
		}
		code, message := refusal(err)
		c.refuse(code, "", r.ID, r.Req, message)
	case known:
		c.tell(res, r.Req)
	default:
		c.due = res.Seq
	}
	c.pump()
}

// tell answers with the latest result of a message, and sees to those that
// follow it.
func (c *client) tell(res protocol.InjectResult, req string) {
	if res.Seq > c.Events.Last() && res.Status != protocol.StatusQueued { // it is not on disk yet: the event is the answer
		c.care[res.ID], c.due = interest{req: req, after: res.Seq - 1}, res.Seq
		return
	}
	res.Req = req
	c.conn.Answer(&res)
	if delete(c.care, res.ID); !protocol.Terminal(res.Status) {
		c.care[res.ID] = interest{req: req, after: res.Seq}
	}
}

// refusal puts the mailbox's error into the words of the wire.
func refusal(err error) (protocol.Code, string) {
	switch {
	case errors.Is(err, queue.ErrFull):
		return protocol.QueueFull, "the queue is full; wait for a backpressure line with accept true, or for a result, and send it again"
	case errors.Is(err, queue.ErrDuplicate):
		return protocol.DuplicateID, "this id was used for another message within the last 7 days; choose a new one"
	case errors.Is(err, queue.ErrClosed):
		return protocol.ShuttingDown, "the agent has ended; start it again and send the message then"
	}
	return protocol.Degraded, "not accepted: " + err.Error() + "; make room there, or choose another --state-dir, or none: --ephemeral"
}

// unknown refuses a request about a message that is not known, or not now.
func (c *client) unknown(id, req string) {
	if err := c.Events.Unread(); err != nil {
		c.refuse(protocol.Degraded, "", id, req, "messages of earlier runs cannot be read now, ask again: "+err.Error())
		return
	}
	c.refuse(protocol.UnknownID, "id", id, req, "no message of this id within the last 7 days")
}

func (c *client) query(r *protocol.Query) {
	c.listen()
	c.pump()
	res, err := c.Box.Query(r.ID)
	if err != nil {
		c.unknown(r.ID, r.Req)
		return
	}
	c.tell(res, r.Req)
}

// subscribe begins the events, or begins them anew: what the client is owed
// about its own messages goes on.
func (c *client) subscribe(r *protocol.Subscribe) {
	after := queue.FromNow
	if r.After != nil {
		after = *r.After
	}
	if err := c.Events.Unread(); err != nil { // not even the epoch is known
		c.refuse(protocol.Degraded, "", "", r.Req, "what is kept cannot be read now, ask again: "+err.Error())
		return
	}
	f, err := c.Events.Follow(after)
	if err != nil {
		c.refuse(protocol.CursorGone, "after", "", r.Req, c.noCursor(after, err)+"; subscribe with 0 for all events that are kept")
		return
	}
	c.listen()
	c.pump()
	for id, i := range c.care {
		i.after = max(i.after, c.follow.Seq())
		c.care[id] = i
	}
	c.unfollow()
	c.follow, c.due, c.events = f, 0, map[string]bool{}
	if len(r.Events) == 0 {
		r.Events = protocol.EventTypes()
	}
	for _, t := range r.Events {
		c.events[t] = true
	}
	c.conn.Answer(&protocol.Subscribed{Head: r.Head, Seq: f.Seq(), Epoch: c.Events.Epoch(), Protocol: protocol.Version, Features: protocol.Features()})
	c.pump()
}

// noCursor says why events cannot be read from a number on.
func (c *client) noCursor(after int64, why error) string {
	if errors.Is(why, queue.ErrCursorAhead) {
		return fmt.Sprintf("there is no event %d yet, the newest is %d: the number may be of another epoch", after, c.Events.Last())
	}
	return fmt.Sprintf("events right after %d are no longer kept", after)
}

// listen makes sure that the client has a cursor in the log.
func (c *client) listen() {
	if c.follow != nil {
		return
	}
	f, err := c.Events.Follow(queue.FromNow)
	if err != nil {
		panic("now is always a place in the log: " + err.Error())
	}
	c.follow = f
}

func (c *client) unfollow() {
	if c.follow != nil {
		c.follow.Close()
		c.follow = nil
	}
}

// replayMost is how many bytes may wait for a client before the log is read on
// for it: what it asked to be replayed must not make it one that lags. The
// largest event, all of it escaped, is under 800 KiB.
const replayMost = 128 << 10

func (c *client) full() bool { return c.conn.Pending() > replayMost }

// pump sends what the log has for the client, as far as it keeps up.
func (c *client) pump() {
	for c.follow != nil {
		if c.behind = c.full(); c.behind {
			return
		}
		entries, err := c.follow.Next(pumpMost)
		if err != nil {
			c.conn.Lag()
			c.unfollow()
			return
		}
		for _, e := range entries {
			c.send(e)
		}
		if len(entries) == 0 {
			return
		}
	}
}

// send passes one event on, and answers the cancel that waited for it.
func (c *client) send(e queue.Entry) {
	p := c.cancel
	if p.id == "" || !e.End || e.About != p.id {
		c.pass(e)
		return
	}
	c.cancel = cancelling{}
	res, err := c.Box.Query(p.id)
	cancelled := err == nil && res.Status == protocol.StatusCancelled
	if cancelled {
		c.care[p.id] = interest{req: p.req, after: e.Seq - 1}
	}
	if c.pass(e); !cancelled {
		c.tooLate(p.id, p.req, res.Status)
	}
}

// pass sends one event, once, if it is owed or subscribed to.
func (c *client) pass(e queue.Entry) {
	if e.Type == protocol.TypeExit {
		c.partWith()
	}
	i, cares := c.care[e.About]
	cares = cares && e.Seq > i.after && e.Type == protocol.TypeInjectResult
	frame := e.Frame
	switch {
	case cares && i.req != "":
		frame = protocol.Tag(frame, i.req)
	case cares, c.events[e.Type], e.Type == protocol.TypeBackpressure && len(c.care) > 0:
	default:
		return
	}
	c.conn.SendEvent(e.Seq, frame)
	if cares && e.End {
		delete(c.care, e.About)
	}
}

// partWith tells a client of its messages that wait for the next wrapper; the exit event
// follows.
func (c *client) partWith() {
	for _, id := range slices.Sorted(maps.Keys(c.care)) {
		c.refuse(protocol.ShuttingDown, "", id, c.care[id].req, "the agent has ended; the message waits for the next one of this name")
	}
	clear(c.care)
}
