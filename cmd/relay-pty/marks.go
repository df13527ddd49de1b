package main

import (
	"context"
	"io"

	"relay-pty/cmd/relay-pty/clients"
	"relay-pty/inject/ready"
	"relay-pty/parser"
	"relay-pty/protocol"
	"relay-pty/queue"
)

// heard turns what the agent said into events. id is the command's own, the
// same whenever it is read again; "" makes one up.
func (w *wrapper) heard(item parser.Item, source, id string) {
	switch m := item.(type) {
	case parser.Command:
		if id == "" {
			id = clients.NewID()
		}
		ids, tools := w.turn()
		// Body and raw are as the agent said them: whoever shows or types them sanitises them.
		w.append(&protocol.RelayCommand{
			From: w.cfg.Name, To: m.To, Body: m.Body, Raw: m.Raw, ID: id,
			ReplyTo: m.ReplyTo, Thread: m.Thread, Mode: m.Mode, Source: source, TurnOf: ids, Tools: tools,
		})
	case parser.Invalid:
		// What nobody sees in a marker may be why it is none, so that stays.
		w.append(&protocol.MarkerInvalid{Raw: parser.Printable(m.Raw), Reason: parser.OneLine(m.Reason), Source: source})
	case parser.Ready:
		w.agent.Own.Say(ready.Ready, "")
	}
}

// printCommands writes the relay_command events to out as JSON lines, for a
// router that started us, until over is closed and all are written. A reader
// that stops reading stops this loop and nothing else.
func printCommands(ctx context.Context, follow *queue.Follower, out io.Writer, over <-chan struct{}) error {
	defer follow.Close()
	for {
		entries, err := follow.Next(64)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type != protocol.TypeRelayCommand {
				continue
			}
			if _, err := out.Write(e.Frame); err != nil {
				return err
			}
		}
		if len(entries) > 0 {
			continue
		}
		select {
		case <-follow.Wake():
		case <-over:
			over = nil
			if len(follow.Wake()) == 0 {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}
