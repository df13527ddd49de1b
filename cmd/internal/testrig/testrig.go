package testrig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/programs"
	"relay-pty/cmd/internal/testrig/term"
)

// Term is a program on a terminal of its own; see package term.
type Term = term.Term

// Main is the body of TestMain in a package that uses Agent: in a re-exec it
// is the agent, else it runs the tests. It does not return.
func Main(m *testing.M) {
	if name := os.Getenv(agents.EnvAgent); name != "" {
		os.Exit(RunAgent(name)) // with the signals that its starter gave it
	}
	KnownStart()
	os.Exit(m.Run())
}

// RunAgent is the fake agent name, on this process's terminal; it returns its
// exit status. Any program may become an agent with it.
func RunAgent(name string) int { return programs.Run(name) }

// FakeAgent is how to start a fake agent, and where it writes.
type FakeAgent struct {
	Argv    []string // the test binary
	Env     []string // the agent's variables alone
	Log     string   // every byte the agent read
	Events  string   // its event log
	Control string   // its control socket
}

// Agent prepares the fake agent name with conf; its files are in dir. The
// test's package must use Main.
func Agent(dir, name string, conf agents.Config) (FakeAgent, error) {
	exe, err := os.Executable()
	if err != nil {
		return FakeAgent{}, err
	}
	c, err := json.Marshal(conf)
	if err != nil {
		return FakeAgent{}, err
	}
	a := FakeAgent{
		Argv:    []string{exe},
		Log:     filepath.Join(dir, "bytes"),
		Events:  filepath.Join(dir, "events"),
		Control: filepath.Join(dir, "ctl"),
	}
	a.Env = []string{
		agents.EnvAgent + "=" + name,
		agents.EnvConf + "=" + string(c),
		agents.EnvLog + "=" + a.Log,
		agents.EnvEvents + "=" + a.Events,
		agents.EnvControl + "=" + a.Control,
		"GORACE=atexit_sleep_ms=0", // else each exit of a race-detecting test binary takes a second
	}
	return a, nil
}

// EnvArgv is an argv that sets the agent's variables by env(1), for a starter
// that is itself a re-exec and must not become the agent.
func (a FakeAgent) EnvArgv() []string {
	return append(append([]string{"env"}, a.Env...), a.Argv...)
}

// Do sends one command to the agent, which must have started; see agents.Command.
func (a FakeAgent) Do(ctx context.Context, c agents.Command) (st agents.State, err error) {
	if err = agents.Control(ctx, a.Control, c, &st); err != nil {
		err = fmt.Errorf("%s of the fake agent: %w", c.Cmd, err)
	}
	return st, err
}

// State asks the agent how it stands.
func (a FakeAgent) State(ctx context.Context) (agents.State, error) {
	return a.Do(ctx, agents.Command{Cmd: "state"})
}

// Set changes fields of agents.Config while the agent runs.
func (a FakeAgent) Set(ctx context.Context, fields map[string]any) error {
	_, err := a.Do(ctx, agents.Command{Cmd: "set", Set: fields})
	return err
}

// Token is the RELAY_TOKEN that the agent was given, for Client.Hello.
func (a FakeAgent) Token(ctx context.Context) (string, error) {
	st, err := a.State(ctx)
	if err == nil && st.Token == "" {
		err = errors.New("the agent has no RELAY_TOKEN")
	}
	return st.Token, err
}

// WaitRead waits until the agent has read n bytes.
func (a FakeAgent) WaitRead(ctx context.Context, n int) error {
	return poll(ctx, fmt.Sprintf("%d bytes that the agent reads", n), func() (bool, error) {
		return size(a.Log) >= int64(n), nil
	})
}

// WaitUnread waits until n bytes or more wait in the agent's terminal, unread.
func (a FakeAgent) WaitUnread(ctx context.Context, n int) error {
	return poll(ctx, fmt.Sprintf("%d unread bytes", n), func() (bool, error) {
		st, err := a.State(ctx)
		return st.Unread >= n, err
	})
}

// WaitEvent waits until the agent logged n events of a kind and returns the n-th.
func (a FakeAgent) WaitEvent(ctx context.Context, kind string, n int) (found agents.Event, err error) {
	seen := int64(-1) // a log that has not grown is not read again
	err = poll(ctx, fmt.Sprintf("%d %s", n, kind), func() (bool, error) {
		now := size(a.Events)
		if now == seen {
			return false, nil
		}
		seen = now
		all, err := a.EventLog()
		all = slices.DeleteFunc(all, func(ev agents.Event) bool { return ev.Kind != kind })
		if len(all) < n {
			return false, err
		}
		found = all[n-1]
		return true, nil
	})
	return found, err
}

// size is that of a file in bytes, 0 before there is one.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// poll looks again and again: nothing tells when a file grows, or what a terminal holds.
func poll(ctx context.Context, what string, ok func() (bool, error)) error {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		if met, err := ok(); met || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// Child is the editor to which a composer hands its terminal by the command "edit"; only its byte
// log is there. All children of one agent share the log.
func (a FakeAgent) Child() FakeAgent { return FakeAgent{Log: a.Log + agents.EditSuffix} }

// Read returns every byte the agent read so far.
func (a FakeAgent) Read() ([]byte, error) { return soFar(a.Log) }

// soFar is what stands in a file that grows, and may not be there yet.
func soFar(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// EventLog returns the agent's events so far. A line still being written is left out.
func (a FakeAgent) EventLog() (all []agents.Event, err error) {
	b, err := soFar(a.Events)
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var ev agents.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			return all, fmt.Errorf("event %q: %w", line, err)
		}
		all = append(all, ev)
	}
	return all, err
}

// StartTerm runs opts on a terminal and closes it when the test ends.
func StartTerm(t testing.TB, opts term.Options) *Term {
	t.Helper()
	tm, err := term.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tm.Close() }) // hung up already: well
	return tm
}

// Require reports that a test cannot run for want of what, when err is not
// nil: a failure with RELAY_E2E=require, else a skip.
func Require(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("RELAY_E2E") == "require" {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("NOT RUN: %s: %v", what, err)
}
