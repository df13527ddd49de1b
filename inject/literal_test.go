package inject

import (
	"strings"
	"testing"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

// typing is Claude's profile, but with headers and footers that are typed.
func typing() *profile.Profile {
	p, _ := profile.Named("claude")
	typed := *p
	typed.Typing.PasteAll = false
	return &typed
}

// TestHeaderThatIsTakenForCommandsIsAllThatIsTyped, in a composer that does something else with
// keys than to show them.
func TestHeaderThatIsTakenForCommandsIsAllThatIsTyped(t *testing.T) {
	runAs(t, typing(), func(t *testing.T, r *rig) {
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
	runAs(t, typing(), func(t *testing.T, r *rig) {
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

// TestCommandWaitsForInsertMode: it is typed as keys.
func TestCommandWaitsForInsertMode(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.insert = true })
		pass(time.Second)
		r.do(func(f *fakeTerm) { f.insert, f.normal = false, true })
		r.mail.mu.Lock()
		r.mail.wait = append(r.mail.wait, turn.Message{ID: "c1", Body: "/compact", Command: true})
		r.mail.mu.Unlock()
		r.mail.wake <- struct{}{}
		pass(10 * time.Second)
		if r.hold() != protocol.WaitsForDraft || r.bytes() != "" {
			t.Errorf("holds for %q, typed %q", r.hold(), r.bytes())
		}
		r.do(func(f *fakeTerm) { f.insert, f.normal = true, false })
		r.ends(t, "c1")
		wantInOrder(t, r, "/compact")
	})
}
