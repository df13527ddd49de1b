package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
)

// toolbox is a client of relay mcp.
type toolbox struct {
	t *testing.T
	*mcp.ClientSession
}

// toolbox starts a server of its own.
func (u *user) toolbox(ctx context.Context, as string) (toolbox, *exec.Cmd) {
	u.t.Helper()
	cmd := u.command(ctx, "mcp", "--as", as)
	return u.connects(ctx, &mcp.CommandTransport{Command: cmd}), cmd
}

func (u *user) connects(ctx context.Context, transport mcp.Transport) toolbox {
	u.t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, transport, nil)
	must(u.t, err)
	u.t.Cleanup(func() { s.Close() }) // closed before: well
	return toolbox{u.t, s}
}

// calls returns all that a call tells.
func (b toolbox) calls(ctx context.Context, tool string, arguments map[string]any) string {
	b.t.Helper()
	r, err := b.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		b.t.Errorf("%s: %v", tool, err)
		return ""
	}
	var text strings.Builder
	for _, part := range r.Content {
		text.WriteString(part.(*mcp.TextContent).Text + "\n")
	}
	return text.String()
}

// TestALostAnswer: what was shown to an agent that has not called again comes again under its id.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	ann, _ := u.toolbox(ctx, "ann")
	ann.calls(ctx, "send_message", map[string]any{"to": "human", "body": "I am here"})
	u.does(ctx, "send", "ann", "look", "--id", "m-1")
	const want = "[relay m-1 from human] look\n"
	if got := ann.calls(ctx, "list_agents", nil); !strings.Contains(got, want) {
		t.Errorf("got %s, want %q", got, want)
	}
	must(t, ann.Close())
	u.killsRouter() // which gave the message away for half a minute
	ann, _ = u.toolbox(ctx, "ann")
	if got := ann.calls(ctx, "check_inbox", nil); !strings.Contains(got, want) {
		t.Errorf("a new server shows %s, want %q", got, want)
	}
	if got := ann.calls(ctx, "message_status", map[string]any{"id": "m-1"}); !strings.Contains(got, `"evidence":"pulled"`) || strings.Contains(got, want) {
		t.Errorf("at the next call: %s", got)
	}
}

// TestToolsOutliveTheRouter: one that is killed while a call waits is followed by another, and the
// call ends with its answer. What is sent is one message.
func TestToolsOutliveTheRouter(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	ann, _ := u.toolbox(ctx, "ann")
	bob, _ := u.toolbox(ctx, "bob")
	bob.calls(ctx, "send_message", map[string]any{"to": "human", "body": "I am here"})
	var asks sync.WaitGroup
	asks.Go(func() {
		got := ann.calls(ctx, "send_message", map[string]any{"to": "bob", "body": "well?", "wait_seconds": 60})
		if !strings.Contains(got, `"status":"replied"`) || !strings.Contains(got, "very well") {
			t.Errorf("got %s", got)
		}
	})
	u.sees(ctx, "the question", func(e router.Event) bool { return e.Body == "well?" })
	u.killsRouter()
	if got := bob.calls(ctx, "check_inbox", nil); !strings.Contains(got, "from ann] well?") {
		t.Errorf("bob reads %s", got)
	}
	u.killsRouter()
	if got := bob.calls(ctx, "reply_to_caller", map[string]any{"reply_message": "very well"}); !strings.Contains(got, `"to":"ann"`) {
		t.Errorf("bob's answer: %s", got)
	}
	asks.Wait()
	if n := strings.Count(u.does(ctx, "log", "bob"), "well?"); n != 1 {
		t.Errorf("the question stands %d times in the log", n)
	}
}

// TestToolsInAWrapper: an agent's tools bring what waits in its wrapper, which does not type it
// then; the token says who calls.
func TestToolsInAWrapper(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	in, out := filepath.Join(u.dir, "in"), filepath.Join(u.dir, "out")
	for _, path := range []string{in, out} {
		must(t, syscall.Mkfifo(path, 0o600))
	}
	u.runs(ctx, "bob", "", nil, "--prompt-pattern", "^never$", "--", "sh", "-c", "relay mcp <in >out; cat >typed")
	w, err := os.OpenFile(in, os.O_WRONLY, 0)
	must(t, err)
	r, err := os.Open(out)
	must(t, err)
	bob := u.connects(ctx, &mcp.IOTransport{Reader: r, Writer: w})
	u.does(ctx, "send", "bob", "look", "--id", "m-1", "--until", "queued")
	if got := bob.calls(ctx, "list_agents", nil); !strings.Contains(got, `{"you":"bob"`) || !strings.Contains(got, "[relay m-1 from human] look\n") {
		t.Errorf("bob reads %s", got)
	}
	if got := bob.calls(ctx, "reply_to_caller", map[string]any{"reply_message": "seen"}); !strings.Contains(got, `"to":"human"`) {
		t.Errorf("bob answers: %s", got)
	}
	u.sees(ctx, "the message to be pulled", func(e router.Event) bool { return e.ID == "m-1" && e.Evidence == "pulled" })
	if got := bob.calls(ctx, "reply_to_caller", map[string]any{"reply_message": "seen", "instance_id": "ann"}); !strings.Contains(got, "not_authorized: you are bob") {
		t.Errorf("in another name: %s", got)
	}
	if got := u.does(ctx, "show", "m-1"); !strings.Contains(got, "replied") || strings.Contains(got, "attempt 2") {
		t.Errorf("%s", got)
	}
}

// TestTheServerEnds: when its client closes its side, or by a signal, with a call that waits.
func TestTheServerEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in io.Closer, p *os.Process) error{
		"input closed": func(in io.Closer, _ *os.Process) error { return in.Close() },
		"told to end":  func(_ io.Closer, p *os.Process) error { return p.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			ctx := testrig.Within(t, patience)
			cmd := u.command(ctx, "mcp", "--as", "ann")
			in, err := cmd.StdinPipe()
			must(t, err)
			cmd.Stdout = io.Discard
			must(t, cmd.Start())
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"to":"human","body":"x","wait_seconds":600}}}`,
			} {
				if _, err := fmt.Fprintln(in, line); err != nil {
					t.Fatal(err)
				}
			}
			u.sees(ctx, "the call", func(e router.Event) bool { return e.From == "ann" })
			began := time.Now()
			must(t, end(in, cmd.Process))
			err = cmd.Wait()
			if name == "told to end" && cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || name == "input closed" && err != nil {
				t.Errorf("it ended with %v", err)
			}
			t.Logf("ended after %v", time.Since(began))
			if left := running(u.dir, "\x00mcp\x00"); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}
