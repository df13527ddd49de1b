package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol"
	"relay-pty/protocol/sock"
)

// most is how long an agent waits for a hook of ours, whatever happens.
const most = 500 * time.Millisecond

// Statuses with which a hook ends.
const (
	nothing = 0
	wakes   = 2 // to the one who waits: wake the agent with what stands on stderr
)

// moment is what an agent tells its hooks.
type moment struct {
	Kind    string `json:"notification_type"`
	Message string `json:"message"`
	Agent   string `json:"agent_id"` // of a sub-agent, whose context is not the agent's
}

// Process is what a hook runs in.
type Process struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Exit     func(int)
}

// Ours is the process that we are.
func Ours() Process { return Process{os.Stdin, os.Stdout, os.Stderr, os.Getenv, os.Exit} }

// Run does what is to be done at the moment that args name, AGENT EVENT, and returns the exit
// status.
func (p Process) Run(args []string) int {
	h, behind, known := agents.Hooked(args...)
	waits := slices.Equal(behind, []string{waiting})
	socket, token := p.Getenv("RELAY_SOCKET"), p.Getenv("RELAY_TOKEN")
	if !known || len(behind) > 0 && !waits || socket == "" || token == "" {
		return nothing
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if waits {
		return p.wait(ctx, cancel, h, socket, token)
	}
	late := time.AfterFunc(most, func() { p.Exit(nothing) })
	defer late.Stop()
	p.answer(ctx, h, socket, token)
	return nothing
}

// answer tells the wrapper of the moment, and the agent of what the wrapper has for it.
func (p Process) answer(ctx context.Context, h profile.Hook, socket, token string) {
	var m moment
	if err := json.NewDecoder(p.In).Decode(&m); err != nil || m.Agent != "" || h.Kind != "" && m.Kind != h.Kind {
		return
	}
	c, err := p.dial(ctx, socket, token)
	if err != nil {
		return
	}
	defer c.Close()
	if h.Signal != "" {
		c.Signal(ctx, h.Signal, clipped(m.Message)) // if it is not taken, the screen tells
	}
	if h.Modes == nil {
		return
	}
	msgs, err := c.Pull(ctx, &protocol.Pull{Modes: h.Modes, MaxBytes: int64(h.Bytes)})
	if err == nil && len(msgs) > 0 {
		p.hand(h.Event, msgs)
	}
}

// dial connects to the wrapper. A sandbox in which no hook can do its work is told to whoever looks
// why not; agents show nobody what a hook says that succeeds.
func (p Process) dial(ctx context.Context, socket, token string) (*sock.Client, error) {
	c, err := sock.DialAs(ctx, socket, token)
	if sandbox := (*sock.SandboxError)(nil); errors.As(err, &sandbox) {
		fmt.Fprintf(p.Err, "relay: %s: %v\n", sandbox.Code(), sandbox) // a courtesy
	}
	return c, err
}

// hand gives messages to the agent as context of what it did. That it got them shows in its log.
func (p Process) hand(event string, msgs []protocol.Pulled) {
	answer := map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": joined(msgs)}}
	json.NewEncoder(protocol.Escaping{Writer: p.Out}).Encode(answer) // if nobody reads it, the log does not show it
}

// wait waits for messages that are to wake the agent, as long as the agent is there.
func (p Process) wait(ctx context.Context, cancel func(), h profile.Hook, socket, token string) int {
	parent := os.Getppid()
	stop, err := watchParent(parent, cancel)
	if err != nil {
		return nothing // nobody would tell us to end
	}
	defer stop()
	c, err := p.dial(ctx, socket, token)
	if err != nil {
		return nothing
	}
	defer c.Close()
	msgs, err := c.Pull(ctx, &protocol.Pull{Modes: h.Waits, WaitMS: waitMost.Milliseconds()})
	if err != nil || len(msgs) == 0 || os.Getppid() != parent {
		return nothing
	}
	if _, err := io.WriteString(p.Err, joined(msgs)); err != nil {
		return nothing
	}
	return wakes
}

// joined is the text of messages, as an agent would get it typed. It begins a line of its own.
func joined(msgs []protocol.Pulled) string {
	var b strings.Builder
	for i, m := range msgs {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\n" + m.Text)
	}
	return b.String()
}

// clipped is as much of a text as a signal may bring.
func clipped(s string) string {
	if len(s) > protocol.MaxDetail {
		s = strings.ToValidUTF8(s[:protocol.MaxDetail], "")
	}
	return s
}
