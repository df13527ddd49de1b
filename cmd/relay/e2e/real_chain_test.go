package e2e

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/relay/internal/router"
)

// runsWithTools runs a real Claude Code with that model, which may call relay's tools.
func (u *user) runsWithTools(ctx context.Context, name string, model fakemodel.Responder) *fakemodel.Server {
	u.t.Helper()
	a := agentrig.Claude(agentrig.ClaudeNow)
	real := realagent.SetUp(u.t, a, testrig.Dir(u.t))
	real.API.Respond(model)
	env := append(real.Env, "PATH="+u.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	flags := []string{"--agent", a.Profile, "--"}
	u.runs(ctx, name, real.Dir, env, slices.Concat(flags, real.Argv, []string{"--allowedTools", "mcp__relay"})...)
	return real.API
}

// uses is a reply that calls a tool of relay's.
func uses(tool string, arguments map[string]any) fakemodel.Reply {
	return fakemodel.Call("", "mcp__relay__"+tool, arguments)
}

// letter finds a message that a model reads by its sender and first words.
func letter(text, from, words string) (id string, ok bool) {
	m := regexp.MustCompile(`\[relay (\S+) from ` + from + `[^\]]*\] ` + words).FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// chain is a coordinator and its child.
type chain struct {
	asked string        // of which the coordinator waits for no answer any more
	over  chan struct{} // closed when the coordinator waits no longer for the second part
}

// coordinator gives the child two parts of a task, one after the other, and answers what it is
// asked meanwhile. For the second part it does not wait long enough, and goes to rest.
func (c *chain) coordinator(turn fakemodel.Turn) fakemodel.Reply {
	told, got := turn.UserText(), strings.ReplaceAll(strings.Join(turn.Results, "\n"), `\"`, `"`)
	question, asked := letter(got, "child", "which way")
	switch {
	case asked:
		return uses("respond_direct", map[string]any{"message_id": question, "response": "to the left"})
	case strings.Contains(got, "already_closed"):
		return uses("send_message", map[string]any{"to": "child", "body": "part two", "wait_seconds": 0.2})
	case strings.Contains(got, `"timed_out":true`):
		close(c.over)
		return fakemodel.Say("I go to rest.")
	case strings.Contains(told, "from human] begin"):
		return uses("send_message", map[string]any{"to": "child", "body": "part one", "wait_seconds": 60})
	}
	if _, late := letter(told, "child", "part two is done"); late {
		return uses("respond_direct", map[string]any{"message_id": "m-0", "response": "both parts are done"})
	}
	return fakemodel.Say("That is all.")
}

// child asks before it answers the first part, in vain, and answers the second part too late.
func (c *chain) child(turn fakemodel.Turn) fakemodel.Reply {
	told, got := turn.UserText(), strings.ReplaceAll(strings.Join(turn.Results, "\n"), `\"`, `"`)
	reply := func(id, text string) fakemodel.Reply {
		return uses("reply_to_caller", map[string]any{
			"reply_message": text, "correlation_id": id, "instance_id": "child",
		})
	}
	if id, ok := letter(told, "coordinator", "part one"); ok {
		c.asked = id
		return uses("send_message", map[string]any{"to": "coordinator", "body": "which way?", "wait_seconds": 0.2})
	}
	if id, ok := letter(told+got, "coordinator", "part two"); ok {
		<-c.over
		return reply(id, "part two is done")
	}
	if strings.Contains(got, `"timed_out":true`) {
		return reply(c.asked, `part one is done`)
	}
	return fakemodel.Say("I have said it.")
}

// TestProveCoordinatorAndChild: answers come with the call that waits for them; one that comes too
// late wakes who asked; a question to an agent that waits in a call comes with that call's answer.
func TestProveCoordinatorAndChild(t *testing.T) {
	ctx := testrig.Within(t, 3*time.Minute)
	u, c := newUser(t), chain{over: make(chan struct{})}
	child := u.runsWithTools(ctx, "child", c.child)
	coordinator := u.runsWithTools(ctx, "coordinator", c.coordinator)
	u.does(ctx, "send", "coordinator", "begin", "--id", "m-0")
	u.sees(ctx, "the end of the task", func(e router.Event) bool {
		return e.From == "coordinator" && e.ReplyTo == "m-0" && e.Body == "both parts are done"
	})
	read := map[string]string{"child": "", "coordinator": ""}
	for name, api := range map[string]*fakemodel.Server{"child": child, "coordinator": coordinator} {
		for _, turn := range api.Turns() {
			read[name] += turn.UserText() + "\n" + strings.Join(turn.Results, "\n") + "\n"
		}
	}
	for _, want := range []struct {
		name, text string
		n          int
	}{
		{"child", ` from coordinator\] part one`, 1},
		{"child", ` from coordinator\] part two`, 1},
		{"child", ` from coordinator · re m-[0-9a-z]+ "which way\?"\] to the left`, 1},
		{"coordinator", ` from child\] which way\?`, 1},
		{"coordinator", ` from child · re m-[0-9a-z]+ "part two"\] part two is done`, 1},
		{"coordinator", "part one is done", 1},
	} {
		if n := len(regexp.MustCompile(want.text).FindAllString(read[want.name], -1)); n != want.n {
			t.Errorf("%s read %q %d times in\n%s", want.name, want.text, n, read[want.name])
		}
	}
	shows(t, "a coordinator and its child, both Claude Code 2.1.329, by tools: an answer that is "+
		"waited for, a question meanwhile, two answers that come too late => each is read once, and who was at "+
		"rest is woken")
}
