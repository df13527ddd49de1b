package clients

import (
	"relay-pty/parser"
	"relay-pty/protocol"
)

// speaks reports whether the connection speaks as the agent, and refuses what only
// the agent may ask.
func (c *client) speaks(req string) bool {
	if !c.agent {
		c.refuse(protocol.NotAuthorized, "", "", req, "only the agent itself may say this; say hello with the token that is in its RELAY_TOKEN first")
	}
	return c.agent
}

// foreign reports whether whoever connected is not of the agent's session, or does not read for it
// any more, and refuses what is asked.
func (c *client) foreign(field, req string, reads bool) bool {
	why := ""
	if c.Foreign != nil {
		why = c.Foreign(c.conn, reads)
	}
	if why != "" {
		c.refuse(protocol.NotAuthorized, field, "", req, why)
	}
	return why != ""
}

func (c *client) signal(r *protocol.Signal) {
	if c.speaks(r.Req) {
		c.Signal(r)
		c.conn.Answer(&protocol.OK{Head: r.Head})
	}
}

// commands reports whether a message of kind command may be typed, and refuses it
// otherwise.
func (c *client) commands(r *protocol.Inject) bool {
	if !c.AllowCommand {
		c.refuse(protocol.NotAuthorized, "kind", r.ID, r.Req, "this wrapper takes no commands; start it with --allow-command")
		return false
	}
	if err := protocol.ValidCommand(r.Body); err != nil {
		c.refuse(protocol.BadField, "body", r.ID, r.Req, err.Error())
		return false
	}
	if parser.Sanitize(r.Body) != r.Body {
		c.refuse(protocol.BadField, "body", r.ID, r.Req, "a command may hold no invisible characters, for nobody could see what it runs")
		return false
	}
	return true
}

// readable reports whether whoever gets a message would see anything of its body, and refuses it
// otherwise: nothing could show that it arrived. What is kept is what was asked, all of it;
// only what is typed is sanitised.
func (c *client) readable(body, id, req string) bool {
	if err := parser.ValidBody(body); err != nil {
		c.refuse(protocol.BadField, "body", id, req, err.Error())
		return false
	}
	return true
}

// whole sends an answer whose size we do not choose, if a line may hold it.
func (c *client) whole(f protocol.Frame, req string) {
	frame, err := protocol.Encode(f)
	switch {
	case err != nil:
		c.refuse(protocol.Degraded, "", "", req, err.Error())
	case len(frame)-len("\n") > protocol.MaxLine:
		c.refuse(protocol.MessageTooLarge, "", "", req, "the answer is over the 1048576 bytes that a line may have")
	default:
		c.conn.Send(frame)
	}
}
