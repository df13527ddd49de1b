package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig/agents"
)

// replies are what a model says, and the commands in it as "to|reply_to|body".
func replies() (texts []string, commands [][]string) {
	long := strings.Repeat("A sentence of `some` length with **marks**, 日本語 and 🎉. ", 36)
	add := func(text string, want ...string) {
		texts, commands = append(texts, text), append(commands, want)
	}
	add("->relay:bob one line to the end", "bob||one line to the end")
	add("Sure.\n\n->relay:bob [re=m1] <<<first\n\n  second, indented\n\tthird with a tab>>>\n\nDone.", "bob|m1|first\n\n  second, indented\n\tthird with a tab")
	add("->relay:bob <<<"+long+">>>", "bob||"+long)
	add("->relay:Bob <<<\n# Title\n- **one**\n- `two`\n\n```go\nfunc main() {}\n```\n>>>", "Bob||# Title\n- **one**\n- `two`\n\n```go\nfunc main() {}\n```")
	add("You would write:\n\n```\n->relay:bob <<<not me>>>\n```\n\n> ->relay:bob nor me\n\nand `->relay:bob` inline.\n\n    ->relay:bob indented code")
	add("\\->relay:bob literal\n\nmid ->relay:bob line")
	add("->relay:bob one\n->relay:carol@host.example [thread=t1 mode=important] <<<two>>>\n->relay:#dev three\n->relay:* <<<four>>>",
		"bob||one", "carol@host.example||two", "#dev||three", "*||four")
	add("->relay:bob <<<<a fence >>> inside>>>>", "bob||a fence >>> inside")
	add("->relay:b@d!name text\n->relay:bob [nosuch=1] <<<x>>>\n->relay:bob <<<never closed")
	add("Nothing to say.")
	return texts, commands
}

func TestProveClaudesOwnWordsBecomeCommands(t *testing.T) {
	t.Parallel()
	texts, want := replies()
	for _, cols := range []int{40, 80, 200} {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			t.Parallel()
			r := startClaude(t, 30, cols)
			var all []string
			for round := range 3 {
				for i, text := range texts {
					id := fmt.Sprintf("k%d-%d", round, i)
					r.api.SetMark(id, text)
					r.inject(id, "MARK "+id)
					end := r.delivers(id, "submitted", "turn")
					must(t, r.Resize(30-i%3, cols-i%5))
					all = append(all, want[i]...)
					r.waitCommands(len(all))
					r.rests(end)
				}
			}
			must(t, r.Type("\x0f")) // the transcript view shows all of it again
			must(t, r.WaitText(patience(t), "transcript"))
			must(t, r.Type("\x0f"))
			must(t, r.Resize(24, cols))
			must(t, r.Type("\x04\x04"))
			if _, err := r.Wait(patience(t, "the end of the agent")); err != nil {
				t.Fatal(err)
			}
			must(t, r.client.WaitEOF(patience(t, "the end of the connection")))
			if got := r.commands(); !slices.Equal(got, all) {
				t.Errorf("commands\n%q\nwant\n%q", got, all)
			}
			shown(t, fmt.Sprintf("Claude Code at %d columns, with resizes: replies with markers and decoys, commands exact and once", cols),
				"%d replies, %d commands", 3*len(texts), len(all))
		})
	}
}

func TestLineProgramsWordsBecomeCommands(t *testing.T) {
	t.Parallel()
	texts, commands := replies()
	var want []string
	marks := map[string]string{}
	for i, text := range texts {
		if strings.Contains(text, "never closed") {
			continue // stays open in a stream, where the end of a turn is not told
		}
		marks[fmt.Sprint("t", i)] = text
		want = append(want, commands[i]...)
	}
	f := startFake(t, "line", agents.Config{Marks: marks})
	f.state("ready")
	for i := range texts {
		if _, ok := marks[fmt.Sprint("t", i)]; !ok {
			continue
		}
		id := fmt.Sprintf("m%d", i)
		f.inject(id, fmt.Sprintf("MARK t%d\n->relay:eve <<<injected, not said>>>", i))
		f.delivers(id, "echo")
	}
	must(t, f.Type("->relay:eve typed by hand\r"))
	f.inject("last", "bye")
	f.delivers("last", "echo")
	if got := f.commands(); !slices.Equal(got, want) {
		t.Errorf("commands\n%q\nwant\n%q", got, want)
	}
}
