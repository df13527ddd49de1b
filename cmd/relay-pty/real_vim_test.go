package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/inject/sight"
	"relay-pty/parser"
	"relay-pty/pty/screen"
)

// mode waits until a composer with vim's modes is in one: NORMAL, of which nothing tells, is the
// absence of the others.
func (r *realAgent) mode(want string) {
	r.t.Helper()
	err := r.WaitScreen(patience(r.t, "vim's mode "+want), func(s *screen.Screen) bool {
		l := sight.Look(r.look, s)
		switch want {
		case "INSERT":
			return l.Inserts
		case "VISUAL":
			return l.Box.Visible && l.Box.Foreign
		}
		return l.Box.Visible && !l.Inserts && !l.Box.Foreign
	})
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.Screen())
	}
}

// startVim starts the agent in its vim mode, in one of its modes.
func startVim(t *testing.T, a agentrig.Agent, change agentrig.Change, mode string, flags ...string) *realAgent {
	t.Helper()
	r := begin(t, a, []agentrig.Change{change}, flags...)
	r.state("ready")
	r.mode("INSERT")
	if mode != "INSERT" {
		must(t, r.Type("\x1b"))
		r.mode("NORMAL")
	}
	if mode == "VISUAL" {
		must(t, r.Type("v"))
		r.mode("VISUAL")
	}
	return r
}

// vimBodies are messages of all shapes, with what vim would take for commands in them.
func vimBodies(i int) []string {
	lines := func(n int) string { return strings.Repeat("dd ihello :q! x\n", n-1) + "GVGd" }
	switch kind := i % 15; {
	case kind < 12:
		return []string{lines(kind + 1)}
	case kind == 12:
		return []string{strings.Repeat("ciw a long line of it ", 200)}
	case kind == 13:
		return []string{"one\ntwo", lines(5)}
	}
	return []string{"x", "dd", strings.Repeat("yyp ", 300), lines(3)}
}

// TestRealMessagesInVimModes reach the model once and whole, and the human's mode stays.
func TestRealMessagesInVimModes(t *testing.T) {
	for _, mode := range []string{"INSERT", "NORMAL"} {
		t.Run(mode, func(t *testing.T) {
			eachClaude(t, func(t *testing.T, a agentrig.Agent) {
				r := startVim(t, a, agentrig.ClaudeVim, mode)
				n := runs(5, 50)
				var ids []string
				for i := range n {
					kind := i
					if n < 15 {
						kind = []int{13, 3, 14, 0, 12}[i%5]
					}
					bodies := vimBodies(kind)
					open := func() {}
					if len(bodies) > 1 { // they wait together for the end of a turn
						busy := fmt.Sprintf("busy%d", i)
						open = gate(t, r.api, "[relay "+busy+" ")
						r.inject(busy, "work")
						r.turnWith("[relay " + busy + " ")
						ids = append(ids, busy)
					}
					for k, body := range bodies {
						id := fmt.Sprintf("m%d.%d", i, k)
						r.inject(id, body)
						if ids = append(ids, id); len(bodies) > 1 {
							r.queued(id)
						}
					}
					open()
					for k, body := range bodies {
						id := fmt.Sprintf("m%d.%d", i, k)
						end := r.delivers(id, "submitted", "turn")
						want := parser.Envelope{ID: id, From: "bob", Body: body}.Text()
						turn := r.turnWith("[relay " + id + " from bob]")
						if got := r.Received(turn); !strings.Contains(got, r.Unwrap(want)) {
							t.Fatalf("%s: the model received\n%q\nwant\n%q", id, clip(got), clip(want))
						}
						if k == len(bodies)-1 {
							r.rests(end)
						}
					}
				}
				r.once(ids)
				r.mode(mode)
				r.stillIn(mode)
				shown(t, a.Name()+", vim mode "+mode+": messages of 1 to 12 lines, long ones and batches delivered once and whole, the mode as before", "%d of %d", n, n)
			})
		})
	}
}

// stillIn checks the mode by what a key does: i is text in INSERT, and leads there from NORMAL.
func (r *realAgent) stillIn(mode string) {
	r.t.Helper()
	want := map[string]string{"INSERT": "iq", "NORMAL": "q"}[mode]
	must(r.t, r.Type("i"))
	pause(r.t, humanPause)
	must(r.t, r.Type("q"))
	r.shows("q")
	if got := r.box(); got != want {
		r.t.Errorf("in mode %s the keys iq show %q, want %q", mode, got, want)
	}
}

// TestRealMessagesWaitInVisualMode, in which Enter does not submit.
func TestRealMessagesWaitInVisualMode(t *testing.T) {
	eachClaude(t, func(t *testing.T, a agentrig.Agent) {
		r := startVim(t, a, agentrig.ClaudeVim, "VISUAL")
		r.inject("m1", "one\ntwo\nthree\nfour")
		r.held("m1", "draft", 2*time.Second)
		r.mode("VISUAL")
		must(t, r.Type("\x1b"))
		end := r.delivers("m1", "submitted", "turn")
		r.turn("m1", "one\ntwo\nthree\nfour")
		r.rests(end)
		r.stillIn("NORMAL")
	})
}

// TestRealUrgentMessagesInInsertMode cut a reply short and leave the human in that mode.
func TestRealUrgentMessagesInInsertMode(t *testing.T) {
	eachClaude(t, func(t *testing.T, a agentrig.Agent) {
		r := startVim(t, a, agentrig.ClaudeVim, "INSERT")
		r.inject("slow", "SLOW 60")
		reply := r.turnWith("[relay slow from bob]")
		r.state("busy")
		r.press("urgent", "m1", "one\ntwo\nthree\nfour")
		r.delivers("m1", "submitted", "turn")
		if reply = r.ended(reply.N); !reply.Aborted {
			t.Error("the reply was not cut short")
		}
		r.turnWith("[relay m1 from bob]")
		r.state("ready")
		r.mode("INSERT")
		r.stillIn("INSERT")
	})
}
