package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// TestProveChannel: what one real agent writes to a channel is read by all others, each of which
// answers it under the id that it read.
func TestProveChannel(t *testing.T) {
	agents := agentrig.All()
	if !testrig.Proving() {
		agents = []agentrig.Agent{agentrig.Codex(), agentrig.Claude(agentrig.ClaudeNow)}
	}
	const limit = 4 * time.Minute
	u := newUser(t)
	ctx := testrig.Within(t, limit)
	read := regexp.MustCompile(`\[relay (\S+) from ([^\s\]]+)[^\]]*\]\s*(.*)`)
	answer := func(a agentrig.Agent) fakemodel.Responder {
		return func(turn fakemodel.Turn) fakemodel.Reply {
			got := read.FindStringSubmatch(a.Received(turn))
			switch {
			case got == nil:
				return fakemodel.Say("Nothing was sent.")
			case got[2] == "human":
				return fakemodel.Say("->relay:#review <<<please look>>>\n")
			case got[3] != "please look":
				return fakemodel.Say("Thanks.")
			}
			return fakemodel.Say(fmt.Sprintf("->relay:%s [re=%s] <<<looked>>>\n", got[2], got[1]))
		}
	}
	var names []string
	for _, a := range agents {
		name := fmt.Sprintf("agent%d", len(names))
		u.runsReal(ctx, name, a, answer(a))
		u.does(ctx, "join", "#review", "--as", name)
		names = append(names, name)
	}
	u.does(ctx, "send", names[0], "ask all")
	id := ""
	u.sees(ctx, "the message to the channel", func(e router.Event) bool {
		id = e.ID
		return e.Type == router.TypeMessage && e.From == names[0] && e.To == "#review"
	})
	var m api.Message
	for answered := 0; answered < len(names)-1; {
		answers := 0
		u.sees(ctx, "another answer", func(e router.Event) bool {
			if e.Type == router.TypeMessage && e.To == names[0] && e.Body == "looked" {
				answers++
			}
			return answers > answered
		})
		must(t, json.Unmarshal([]byte(u.does(ctx, "show", id, "--json")), &m))
		answered = len(m.Replies)
	}
	var from []string
	for _, r := range m.Replies {
		from = append(from, r.From)
	}
	if slices.Sort(from); !slices.Equal(from, names[1:]) || m.Status != "replied" {
		t.Errorf("%s is %s, answered by %v, want %v", id, m.Status, from, names[1:])
	}
}
