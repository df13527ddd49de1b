package inject

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// TestDraftThatNobodySees: the shadow of keys lost a draft of blanks, but the cursor shows it.
func TestDraftThatNobodySees(t *testing.T) {
	for _, draft := range []string{"\n", " ", "\n \n"} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.box = draft })
			r.mail.add("m1", "hello")
			pass(time.Hour)
			if r.bytes() != "" || r.shows() != draft || r.hold() != protocol.WaitsForDraft {
				t.Errorf("beside %q the agent read %q; the message waits for %q", draft, r.bytes(), r.hold())
			}
		})
	}
}

// TestDraftThatShowsLate: the agent reads the human's keys at once and paints them later.
func TestDraftThatShowsLate(t *testing.T) {
	for _, lag := range []time.Duration{1500 * time.Millisecond, 2900 * time.Millisecond} {
		run(t, func(t *testing.T, r *rig) {
			pass(10 * time.Second)
			r.do(func(f *fakeTerm) { f.lag = lag })
			r.human("half a draft")
			r.mail.add("m1", "hello")
			pass(time.Minute)
			if got := r.bytes(); got != "half a draft" || r.hold() != protocol.WaitsForDraft {
				t.Fatalf("painted %v late: the agent read %q, the message waits for %q", lag, got, r.hold())
			}
			r.human("\r")
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			wantTurns(t, r, "half a draft", "hello")
		})
	}
}

// TestMessageThatIsReadSlowlyHasTheTimeItTakes: the time in which it must show begins anew with
// each part.
func TestMessageThatIsReadSlowlyHasTheTimeItTakes(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.add("m1", "hello")
		synctest.Wait()
		for range 5 {
			pass(8 * time.Second)
			r.do(func(f *fakeTerm) {
				n := min(7, len(f.unread))
				part, rest := f.unread[:n], f.unread[n:]
				f.unread, f.stalled = nil, false
				f.read(string(part))
				f.unread, f.stalled = rest, true
			})
		}
		pass(8 * time.Second)
		r.resume()
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
		if r.mail.tries("m1") != 1 {
			t.Errorf("%d attempts, want 1", r.mail.tries("m1"))
		}
	})
}

// TestDialogBehindEnterLeavesTheMessageItsTime: the agent takes Enter up when the dialog is gone
// that came right behind it, and its log shows that.
func TestDialogBehindEnterLeavesTheMessageItsTime(t *testing.T) {
	for _, takes := range []bool{true, false} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.late, f.onSubmit = time.Minute, func(*fakeTerm) { r.log.Store("m1", true) } })
			r.mail.add("m1", "hello")
			pass(200 * time.Millisecond)
			r.do(func(f *fakeTerm) { f.dialog, f.wedged = "Waiting for startup", !takes })
			if !strings.HasSuffix(r.bytes(), "\r") {
				t.Fatalf("typed were %q, want an Enter before the dialog", r.bytes())
			}
			if pass(58 * time.Second); r.mail.result("m1").Status != "" || r.hold() != protocol.WaitsForDialog {
				t.Errorf("ended as %+v, holds for %q; want no end behind a dialog", r.mail.result("m1"), r.hold())
			}
			r.do(func(f *fakeTerm) { f.dialog, f.noClear = "", true })
			if takes {
				wantResult(t, r.ends(t, "m1"), Delivered, protocol.EvidenceTurn)
			} else {
				wantResult(t, r.ends(t, "m1"), Doubtful, protocol.FaultStranded)
			}
		})
	}
}

// TestTurnOfTheHumanThatLeavesLate: the time in which a turn must show begins when the text has
// left.
func TestTurnOfTheHumanThatLeavesLate(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onSubmit = func(f *fakeTerm) {
			if len(f.turns) == 1 {
				f.busy = false
				time.AfterFunc(1500*time.Millisecond, func() { f.do(func(f *fakeTerm) { f.busy = true }) })
			}
		}
		pass(10 * time.Second)
		r.human("a question")
		r.do(func(f *fakeTerm) { f.late = 2500 * time.Millisecond })
		r.human("\r")
		r.mail.add("m1", "hello")
		pass(3500 * time.Millisecond)
		if got := r.bytes(); got != "a question\r" || len(r.turns) != 1 {
			t.Errorf("a second after the text left, the agent has read %q", got)
		}
		r.do(func(f *fakeTerm) { f.late = 0 })
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "a question", "hello")
	})
}

// TestTurnOfTheHumanThatShowsLate: the agent takes what the human sent out of its composer at once
// and shows only later that it works on it. What is typed in between would reach the model in one
// request with it, or nobody.
func TestTurnOfTheHumanThatShowsLate(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onSubmit = func(f *fakeTerm) {
			if len(f.turns) != 1 {
				return
			}
			f.busy = false
			time.AfterFunc(1500*time.Millisecond, func() { f.do(func(f *fakeTerm) { f.busy = true }) })
		}
		pass(10 * time.Second)
		r.human("a question")
		r.human("\r")
		r.mail.add("m1", "hello")
		pass(r.turnTime - 100*time.Millisecond)
		if got := r.bytes(); got != "a question\r" || r.hold() != protocol.WaitsForTurn {
			t.Fatalf("the agent read %q, the message waits for %q", got, r.hold())
		}
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "a question", "hello")
	})
}

// TestTurnOfAPromptThatTheAgentHeldBack: an agent that looks idle keeps what is submitted. Later it
// takes some time to begin its turn. Until its log shows that, nobody is told of a delivery.
func TestTurnOfAPromptThatTheAgentHeldBack(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		pass(10 * time.Second)
		r.do(func(f *fakeTerm) {
			f.keeps, f.onSubmit = true, func(f *fakeTerm) { r.log.Store(fmt.Sprint("m", len(f.turns)), true) }
		})
		r.mail.add("m1", "hello")
		r.mail.add("m2", "there")
		held := func(when string) {
			if got := r.bytes(); strings.Contains(got, "there") || r.hold() != protocol.WaitsForTurn {
				t.Errorf("%s the agent has read %q, and the message waits for %q", when, got, r.hold())
			}
		}
		pass(time.Minute)
		held("while it holds the prompt back")
		if got := r.mail.result("m1"); got.Status != "" {
			t.Errorf("while it is held back the message ended as %+v", got)
		}
		r.do(func(f *fakeTerm) { f.keeps = false })
		time.AfterFunc(1500*time.Millisecond, func() { r.do((*fakeTerm).end) })
		pass(1400 * time.Millisecond)
		held("before the turn shows")
		wantResult(t, r.ends(t, "m1"), Delivered, "turn")
		pass(r.turnTime - 100*time.Millisecond)
		held("in the turn")
		r.ends(t, "m2")
		wantTurns(t, r, "hello", "there")
	})
}

// TestCommandThatTheAgentHeldBack: no log would show it, so that it is delivered when it is
// submitted.
func TestCommandThatTheAgentHeldBack(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.keeps = true })
		r.mail.send(turn.Message{ID: "m1", Body: "/clear", Command: true})
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
	})
}

// TestTextThatFreezesTheAgentIsDeliveredWhenItsTurnShows: the agent empties its composer at once,
// then stands still for most of a minute, or empties it only then. Until its turn shows nothing
// else may be typed.
func TestTextThatFreezesTheAgentIsDeliveredWhenItsTurnShows(t *testing.T) {
	claude, _ := agents.Named("claude")
	p := *claude
	p.Typing.SlowText, p.Typing.SlowTurn = 100, 3*time.Minute
	for _, c := range []struct {
		name     string
		body     string
		thaws    time.Duration // 0: never
		lasts    time.Duration
		status   Status
		evidence string
		stands   bool // in the composer until it thaws
	}{
		{"a long text", strings.Repeat("x", 200), 46 * time.Second, 46 * time.Second, Delivered, "submitted", false},
		{"many short lines", strings.Repeat("x\n", 200), 46 * time.Second, 46 * time.Second, Delivered, "submitted", false},
		{"a long text that stands", strings.Repeat("x", 200), 46 * time.Second, 46 * time.Second, Delivered, "submitted", true},
		{"a turn that never shows", strings.Repeat("x", 200), 0, 3 * time.Minute, Doubtful, protocol.FaultNoConsume, false},
		{"a short text", "x", 46 * time.Second, proofRest, Delivered, "submitted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			runAs(t, &p, func(t *testing.T, r *rig) {
				r.turnTime = time.Hour
				if c.stands {
					r.late = c.thaws
				}
				r.onSubmit = func(f *fakeTerm) {
					if f.busy = c.stands; c.thaws > 0 && !c.stands {
						time.AfterFunc(c.thaws, func() { f.do(func(f *fakeTerm) { f.busy = true }) })
					}
				}
				pass(10 * time.Second)
				began := time.Now()
				r.mail.add("m1", c.body)
				pass(proofRest * 3 / 2)
				if state := r.last.Load().Verdict.State; state != ready.Busy && !c.stands {
					t.Errorf("after Enter it is %s, want busy", state)
				}
				wantResult(t, r.ends(t, "m1"), c.status, c.evidence)
				if took := time.Since(began); took.Truncate(time.Second) != c.lasts.Truncate(time.Second) {
					t.Errorf("told after %v, want %v", took, c.lasts)
				}
			})
		})
	}
}

// TestMessageHiddenBehindAChipGoesAnotherWay: an agent may hide more than is known of it. What it
// hides nobody can verify, so it is taken back at once, and typed in pieces.
func TestMessageHiddenBehindAChipGoesAnotherWay(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		before := ""
		r.onPaste = func(f *fakeTerm) {
			added, more := strings.CutPrefix(f.box, before)
			if !more {
				before, added = "", f.box
			}
			if strings.Contains(added, "[relay") && strings.Contains(added, "\n") {
				f.box = before + "[Pasted text #1 +1 lines]"
			}
			before = f.box
		}
		pass(10 * time.Second)
		began := time.Now()
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
		if took := time.Since(began); took > 3*time.Second || r.mail.tries("m1") != 2 {
			t.Errorf("it took %v and %d attempts, want a second attempt at once", took, r.mail.tries("m1"))
		}
	})
}
