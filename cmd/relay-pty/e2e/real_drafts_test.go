package e2e

import (
	"strings"
	"testing"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
)

// TestProveDraftsOfBlanksAndBrackets: what editors trim, expand or pair is sent as it would have
// been without the message for which it was set aside. A TAB that was typed may have been a command
// of the editor's, so such a draft holds.
func TestProveDraftsOfBlanksAndBrackets(t *testing.T) {
	drafts := []begun{
		{"trailing blanks", "draft-0 ends in blanks  ", "blanks", false},
		{"brackets", "draft-1 call f({[x]}) and {", "{", false},
		{"a TAB that is pasted", "draft-2 one\ttwo", "two", true},
	}
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()) {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			r := startAgent(t, a, "--draft-timeout", "1500")
			for i, d := range drafts {
				r.puts(d)
				r.enter()
				want := r.Received(r.turnWith(d.text[:7]))
				r.state("ready")

				id := "m" + d.text[6:7]
				d.text = "again" + d.text[5:]
				r.puts(d)
				r.inject(id, "hello")
				r.delivers(id, "submitted", "turn")
				r.restored(i + 1)
				r.enter()
				if got := r.Received(r.turnWith(d.text[:7])); got != "again"+want[5:] {
					t.Errorf("%s: it was sent as %q, without a message as %q", d.name, got, want)
				}
				r.turn(id, "hello")
				r.state("ready")
			}
			r.puts(begun{text: "draft-3 one\ttwo", shown: "two"})
			r.inject("m3", "hello")
			r.held("m3", "draft", 2*humanPause)
			r.enter()
			r.turnWith("draft-3")
			r.delivers("m3", "submitted", "turn")
		})
	}
}

// puts has the human type or paste the draft at once.
func (r *realAgent) puts(d begun) {
	r.t.Helper()
	put := r.Type
	if d.paste {
		put = r.Paste
	}
	must(r.t, put(d.text))
	r.shows(d.shown)
}

// TestRealShellsKeepBlanksOfDrafts: the same behind a prompt, where a TAB completes.
func TestRealShellsKeepBlanksOfDrafts(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{{"bash", "--norc"}, {"zsh", "-f"}} {
		t.Run(argv[0], func(t *testing.T) {
			t.Parallel()
			w, _ := startShell(t, argv, "--draft-timeout", "1500")
			must(t, w.Type("echo '({[x]}  "))
			must(t, w.WaitText(patience(t), "({[x]}"))
			w.inject("m1", "hello")
			w.delivers("m1", "echo")
			_, err := w.client.Wait(patience(t, "draft_restored"), func(f testrig.Frame) bool { return f.Type() == "draft_restored" })
			must(t, err)
			must(t, w.Type(".'\r"))
			must(t, w.WaitText(patience(t, "the draft as it was"), "\n({[x]}  ."))

			must(t, w.Type("echo 'no-such\t"))
			must(t, w.WaitText(patience(t), "echo 'no-such"))
			w.inject("m2", "hello")
			w.held("m2", "draft", 2*humanPause)
			must(t, w.Type("-file'\r"))
			w.delivers("m2", "echo")
			if !strings.Contains(w.Screen(), "\nno-such-file") {
				t.Errorf("the draft did not run as it was:\n%s", w.Screen())
			}
		})
	}
}
