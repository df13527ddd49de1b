package inject

import (
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// keyed is Claude's profile, but with headers and footers that are typed.
func keyed() *profile.Profile {
	p, _ := agents.Named("claude")
	typed := *p
	typed.Typing.PasteAll = false
	return &typed
}

// TestHeaderThatIsTakenForCommandsIsAllThatIsTyped, in a composer that does something else with
// keys than to show them.
func TestHeaderThatIsTakenForCommandsIsAllThatIsTyped(t *testing.T) {
	runAs(t, keyed(), func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.normal = true })
		body := "dd\nihello\n:q!\nx"
		r.mail.add("m1", body)
		wantResult(t, r.ends(t, "m1"), Failed, "stranded")
		if typed := r.bytes(); strings.Contains(typed, "hello") || strings.Contains(typed, "[end m1]") {
			t.Errorf("typed %q, want headers alone", typed)
		}
		if r.shows() != "" || len(r.submitted()) > 0 {
			t.Errorf("the composer holds %q, submitted %q", r.shows(), r.submitted())
		}
	})
}

// TestHeaderThatShowsLateIsAwaited, however long it takes, before the body is typed.
func TestHeaderThatShowsLateIsAwaited(t *testing.T) {
	runAs(t, keyed(), func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.lag = 2 * time.Second })
		r.mail.add("m1", "one\ntwo\nthree\nfour")
		pass(1900 * time.Millisecond)
		if typed := r.bytes(); strings.Contains(typed, "two") {
			t.Errorf("typed %q before the header showed", typed)
		}
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] one\ntwo\nthree\nfour\n[end m1]")
	})
}

func TestPastedMessageIsTextInEveryMode(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.normal = true })
		r.mail.add("m1", "one\ntwo\nthree\nfour")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] one\ntwo\nthree\nfour\n[end m1]")
	})
}

// TestUrgentInterruptsInInsertMode, where the first Esc only leaves that mode. It is as the human
// left it afterwards.
func TestUrgentInterruptsInInsertMode(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.turnTime, f.insert = time.Hour, true })
		r.humanTurn("work")
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		r.ends(t, "m1")
		wantInOrder(t, r, "work", "INTERRUPTED", m1)
		r.do(func(f *fakeTerm) {
			if !f.insert {
				t.Error("the human's composer is not in INSERT mode any more")
			}
		})
	})
}

// TestNoKeyOfAModeBecomesText: an agent that has yet to leave its mode may show none meanwhile.
func TestNoKeyOfAModeBecomesText(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.turnTime, f.insert, f.leaving = 5*time.Second, true, 1500*time.Millisecond })
		r.humanTurn("work")
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		r.do(func(f *fakeTerm) {
			if f.box != "" {
				t.Errorf("the human's composer holds %q", f.box)
			}
		})
	})
}

// TestNoKeyIsOneWithAnEsc that an agent at work reads late: what comes close behind it there would
// be no key of its own.
func TestNoKeyIsOneWithAnEsc(t *testing.T) {
	for _, late := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 90 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.turnTime, f.insert, f.dozes = time.Hour, true, late })
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			wantInOrder(t, r, "work", "INTERRUPTED", m1)
			if r.shows() != "" || !r.insert {
				t.Errorf("an Esc read %v late: the composer holds %q, INSERT is %v", late, r.shows(), r.insert)
			}
		})
	}
}

// TestNoKeyIsOneWithAnEscOfATurnThatEnds by itself, at any moment of the interrupt.
func TestNoKeyIsOneWithAnEscOfATurnThatEnds(t *testing.T) {
	for ends := 1100 * time.Millisecond; ends < 3*time.Second; ends += 20 * time.Millisecond {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.turnTime, f.insert, f.dozes = ends, true, 700*time.Millisecond })
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			if got := r.submitted(); got[len(got)-1] != m1 || r.shows() != "" || strings.Contains(r.bytes(), "\x15") {
				t.Errorf("a turn of %v: the agent got %q, its composer holds %q, typed was %q", ends, got, r.shows(), r.bytes())
			}
		})
	}
}

// TestKeyOfAModeThatBecameText is in nobody's way, unless the human goes on from there.
func TestKeyOfAModeThatBecameText(t *testing.T) {
	for _, human := range []string{"", "x"} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.turnTime, f.insert, f.behind = 10*time.Second, true, true })
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			for r.shows() != "i" {
				pass(time.Millisecond)
			}
			if human != "" {
				r.human(human)
				pass(time.Minute)
				wantInOrder(t, r, "work", "INTERRUPTED")
				return
			}
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			wantInOrder(t, r, "work", "INTERRUPTED", m1)
		})
	}
}

// TestKeyOfAModeThatBecameTextHoldsNoUrgentMessage back: the turn is interrupted in spite of it.
func TestKeyOfAModeThatBecameTextHoldsNoUrgentMessage(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.turnTime, f.insert, f.behind = time.Hour, true, true })
		r.humanTurn("work")
		r.do(func(f *fakeTerm) { f.queue = []string{"next"} }) // runs when the first is cut
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantInOrder(t, r, "work", "INTERRUPTED", "next", "INTERRUPTED", m1)
	})
}

// TestHumansKeyIsNotOneWithAnEsc of ours, whenever they press it.
func TestHumansKeyIsNotOneWithAnEsc(t *testing.T) {
	claude, _ := agents.Named("claude")
	p := *claude
	p.Typing.Returns = false // its wait would keep the key back, too
	for at := time.Duration(0); at < 400*time.Millisecond; at += 5 * time.Millisecond {
		runAs(t, &p, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.turnTime, f.dozes = time.Hour, 100*time.Millisecond })
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			pass(at)
			r.human("x")
			pass(5 * time.Second)
			if !strings.Contains(r.bytes(), "x") {
				t.Errorf("at %v it became one with the Esc: typed %q, the composer holds %q, the agent got %q", at, r.bytes(), r.shows(), r.submitted())
			}
		})
	}
}

// TestCommandWaitsForInsertMode: it is typed as keys.
func TestCommandWaitsForInsertMode(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.insert = true })
		pass(time.Second)
		r.do(func(f *fakeTerm) { f.insert, f.normal = false, true })
		r.mail.send(turn.Message{ID: "c1", Body: "/compact", Command: true})
		pass(10 * time.Second)
		if r.hold() != protocol.WaitsForDraft || r.bytes() != "" {
			t.Errorf("holds for %q, typed %q", r.hold(), r.bytes())
		}
		r.do(func(f *fakeTerm) { f.insert, f.normal = true, false })
		r.ends(t, "c1")
		wantInOrder(t, r, "/compact")
	})
}
