package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
)

// TestProveClaudeOffersPrompts: what relay offers beside its tools, Claude Code shows its user: the
// prompts as commands, the resources by an @ and their address.
func TestProveClaudeOffersPrompts(t *testing.T) {
	t.Parallel()
	a := agentrig.Claude(agentrig.ClaudeNow)
	ctx := testrig.Within(t, 2*time.Minute)
	u := newUser(t)
	real := realagent.SetUp(t, a, testrig.Dir(t))
	model := real.API
	model.Respond(func(turn fakemodel.Turn) fakemodel.Reply {
		if strings.Contains(turn.UserText(), "begin") { // by that call the server is known to be there
			return fakemodel.Call("mcp__relay", "mcp__relay__list_agents", nil)
		}
		return fakemodel.Say("so it is")
	})
	env := append(real.Env, "PATH="+u.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	u.runs(ctx, "alice", real.Dir, env, slices.Concat([]string{"--agent", a.Profile, "--allow-command", "--"}, real.Argv, []string{"--allowedTools", "mcp__relay"})...)
	asks := func(want string) {
		t.Helper()
		short, c := context.WithTimeout(ctx, 45*time.Second)
		defer c()
		read := func(t fakemodel.Turn) bool {
			return strings.Contains(strings.Join(slices.Concat(t.Text, t.System, t.Results), "\n"), want)
		}
		if _, err := model.WaitTurn(short, read); err != nil {
			t.Errorf("a request with %q: %v\n%s", want, err, u.does(t.Context(), "screen", "alice"))
		}
	}
	u.does(ctx, "send", "alice", "begin", "--until", "delivered")
	asks(`"you":"alice"`)
	u.does(ctx, "send", "alice", "look at @relay:relay://guide please", "--until", "delivered")
	asks("->relay:NAME [re=ID]")
	// Where Claude still runs its hooks it queues a command, and its log shows that without the id.
	u.does(ctx, "send", "alice", "/mcp__relay__ask bob", "--command", "--until", "queued")
	asks("Ask bob with relay's send_message")
}
