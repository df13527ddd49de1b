package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestAgentThatWasJustAnnouncedIsKnown: whoever sees that an agent is there writes to it, asks for
// it and writes to all, though the router is only starting.
func TestAgentThatWasJustAnnouncedIsKnown(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	dead := filepath.Join(u.dir, "relay", "agents")
	must(t, os.MkdirAll(dead, 0o700))
	for i := range 3000 { // what a router reads before it knows who runs
		record := fmt.Sprintf(`{"name":"dead%d","socket":"%s/none","pid":1}`, i, u.dir)
		must(t, os.WriteFile(fmt.Sprintf("%s/dead%d.json", dead, i), []byte(record), 0o600))
	}
	for i, ask := range [][]string{
		{"send", "NAME", "hello"}, {"status", "NAME"}, {"send", "*", "hello"}, {"queue", "NAME"}, {"send", "NAME", "hello", "--from", "script"},
	} {
		u.killsRouter()
		name := "agent" + strconv.Itoa(i)
		cmd := exec.CommandContext(ctx, filepath.Join(u.bin, "relay-pty"), "--name", name, "--headless", "--", "cat")
		cmd.Env, cmd.Dir = u.env, u.dir
		must(t, cmd.Start())
		defer func() { cmd.Process.Kill(); cmd.Wait() }() // however it ended
		listed := filepath.Join(u.dir, "relay", "agents", name+".json")
		u.becomes(ctx, name+" to be announced", func() bool { _, err := os.Stat(listed); return err == nil })
		for n := range ask {
			if ask[n] == "NAME" {
				ask[n] = name
			}
		}
		began := time.Now()
		if out, err := u.command(ctx, ask...).CombinedOutput(); err != nil {
			t.Errorf("relay %q after %v: %v\n%s", ask, time.Since(began), err, out)
		}
		cmd.Process.Kill() // so that those to come are the only ones
		cmd.Wait()         // it was killed
	}
}
