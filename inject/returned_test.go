package inject

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/protocol"
)

// keyUp is the human's key that takes what the agent has queued back into the composer.
const keyUp = "\x1b[A"

// takenBack has the human take an important message back while the agent is busy, which it is
// for another minute.
func (r *rig) takenBack(t *testing.T) {
	t.Helper()
	r.turnTime = time.Minute
	r.humanTurn("work")
	r.mail.press(protocol.ModeImportant, "m1", "hello")
	pass(5 * time.Second)
	r.human(keyUp)
	if pass(time.Second); !strings.Contains(r.shows(), m1) {
		t.Fatalf("the composer holds %q", r.shows())
	}
}

func TestQueuedMessageThatTheHumanTakesBackIsADraft(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.takenBack(t)
		r.mail.add("m2", "there")
		pass(10 * time.Minute)
		wantInOrder(t, r, "work")
		if got := r.mail.result("m1"); got.Status != "" || r.hold() != protocol.WaitsForDraft {
			t.Errorf("ended as %+v, the next one waits for %q; want no end and a draft", got, r.hold())
		}
		r.do(func(f *fakeTerm) { f.onSubmit = func(*fakeTerm) { r.log.Store("m1", true) } })
		r.human("\r")
		wantResult(t, r.ends(t, "m1"), Delivered, protocol.EvidenceTurn)
		r.ends(t, "m2")
		if got := r.submitted(); !slices.Equal(got, []string{"work", m1 + "\n", m2}) {
			t.Errorf("the agent got %q", got)
		}
	})
}

func TestQueuedMessageThatTheHumanTakesBackAndEditsIsDoubt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.takenBack(t)
		r.human(strings.Repeat("\x7f", 1))
		r.do(func(f *fakeTerm) { f.box = strings.Replace(f.box, "hello", "help", 1) })
		got := r.ends(t, "m1")
		wantResult(t, got, Doubtful, protocol.FaultReturned)
		if strings.Contains(got.Cause, "dialog") {
			t.Errorf("no dialog came; the error says %q", got.Cause)
		}
		pass(10 * time.Minute)
		wantInOrder(t, r, "work")
	})
}

func TestQueuedMessageThatTheHumanTakesBackAndClearsIsDoubt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.takenBack(t)
		r.do(func(f *fakeTerm) { f.box = "" })
		r.mail.add("m2", "there")
		wantResult(t, r.ends(t, "m1"), Doubtful, protocol.FaultReturned)
		r.ends(t, "m2")
		wantInOrder(t, r, "work", m2)
	})
}

// TestQueuedMessageThatTheAgentGivesBack on its own account gets its Enter, unless the human has
// begun to edit it by then.
func TestQueuedMessageThatTheAgentGivesBack(t *testing.T) {
	for _, edited := range []bool{false, true} {
		run(t, func(t *testing.T, r *rig) {
			r.turnTime = time.Minute
			r.humanTurn("work")
			r.mail.press(protocol.ModeImportant, "m1", "hello")
			pass(5 * time.Second)
			r.do(func(f *fakeTerm) { f.box, f.queue = f.queue[0], nil })
			if pass(time.Second); !edited {
				wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
				wantInOrder(t, r, "work", m1)
				return
			}
			r.human(" more")
			got := r.ends(t, "m1")
			wantResult(t, got, Doubtful, protocol.FaultReturned)
			if strings.Contains(got.Cause, "dialog") {
				t.Errorf("no dialog came; the error says %q", got.Cause)
			}
			wantInOrder(t, r, "work")
		})
	}
}

// TestQueuedMessageThatOnlySeemsToComeBack is taken up by the agent meanwhile: half a repaint looks
// as if its turn stood in the composer. No Enter is pressed for it, and the log has its time.
func TestQueuedMessageThatOnlySeemsToComeBack(t *testing.T) {
	for name, seems := range map[string]func(r *rig){
		"for a moment, by an agent at rest": func(r *rig) {
			r.do(func(f *fakeTerm) { f.box, f.busy = "", false })
			for range 20 { // it paints
				pass(50 * time.Millisecond)
				r.do(func(*fakeTerm) {})
			}
			r.do(func(f *fakeTerm) { f.box = m1 })
			pass(backRest - 50*time.Millisecond)
			r.do(func(f *fakeTerm) { f.box = "" })
		},
		"until a dialog": func(r *rig) {
			pass(backRest - 50*time.Millisecond)
			r.do(func(f *fakeTerm) { f.stalled = true }) // so that nothing can be typed
			pass(100 * time.Millisecond)
			r.do(func(f *fakeTerm) { f.dialog, f.stalled = "Do you want to?", false })
			pass(5 * time.Second)
			r.do(func(f *fakeTerm) { f.box, f.dialog, f.busy = "", "", false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.turnTime = time.Minute
				r.humanTurn("work")
				r.mail.press(protocol.ModeImportant, "m1", "hello")
				pass(5 * time.Second)
				typed := r.bytes()
				r.do(func(f *fakeTerm) { f.box, f.queue = f.queue[0], nil })
				seems(r)
				if pass(5 * time.Second); r.mail.result("m1").Status != "" {
					t.Fatalf("ended as %+v", r.mail.result("m1"))
				}
				r.log.Store("m1", true)
				wantResult(t, r.ends(t, "m1"), Delivered, protocol.EvidenceTurn)
				if r.bytes() != typed {
					t.Errorf("typed was %q", r.bytes()[len(typed):])
				}
			})
		})
	}
}

// TestInterruptGivesBackTheQueue: what the agent had queued is one turn, whoever interrupted it,
// and an urgent message comes behind that.
func TestInterruptGivesBackTheQueue(t *testing.T) {
	for _, c := range []struct {
		name   string
		habit  habit
		urgent bool
		turns  []string
	}{
		{"our Esc", givesBack, true, []string{m1 + "\n" + m2, "INTERRUPTED", m3}},
		{"the human's", givesBack, false, []string{m1 + "\n" + m2, m3}},
		{"our Esc, which keeps it", keepsIt, true, []string{m1, m2, m3}},
		{"the human's, which keeps it", keepsIt, false, []string{m1, m2, m3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.turnTime = time.Hour
				r.humanTurn("work")
				r.do(func(f *fakeTerm) { f.habit, f.onSubmit = c.habit, r.logs })
				r.mail.press(protocol.ModeImportant, "m1", "hello")
				pass(time.Second)
				r.mail.press(protocol.ModeImportant, "m2", "there")
				pass(2 * time.Second)
				if c.urgent {
					r.mail.press(protocol.ModeUrgent, "m3", "now")
				} else {
					r.human("\x1b")
					pass(time.Second)
					r.mail.add("m3", "now")
					time.AfterFunc(20*time.Second, func() { r.do((*fakeTerm).end) })
				}
				for _, id := range r.allEnd(t, 3, 25*time.Second) {
					if got := r.mail.result(id); got.Status != Delivered || r.mail.tries(id) != 1 {
						t.Errorf("%s ended as %+v, taken %d times", id, got, r.mail.tries(id))
					}
				}
				got := r.submitted()
				for i := range got {
					got[i] = strings.TrimRight(got[i], "\n")
				}
				if want := append([]string{"work", "INTERRUPTED"}, c.turns...); !slices.Equal(got, want) {
					t.Errorf("the agent got %q, want %q", got, want)
				}
			})
		})
	}
}

// TestPromptThatComesBackWhileTheAgentGoesOn with what it had queued is no draft of the human's.
func TestPromptThatComesBackWhileTheAgentGoesOn(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.turnTime, f.thinking, f.onSubmit = time.Minute, true, r.logs })
		r.humanTurn("work")
		r.mail.press(protocol.ModeImportant, "m1", "hello")
		pass(time.Second)
		r.mail.press(protocol.ModeUrgent, "m2", "there")
		r.allEnd(t, 2, 10*time.Second)
		pass(3 * time.Minute)
		wantInOrder(t, r, "work", "INTERRUPTED", m1, "INTERRUPTED", m2, "work")
	})
}

// TestPromptThatComesBackLate: what an interrupted agent gives back is submitted again, though it
// was waited for no more. What the human types meanwhile is a draft, with all that stands there.
func TestPromptThatComesBackLate(t *testing.T) {
	for _, typed := range []bool{false, true} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) {
				f.turnTime, f.thinking, f.paints, f.onSubmit = time.Minute, true, 5*time.Second, r.logs
			})
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			pass(100 * time.Millisecond)
			r.mail.cancel("m1")
			pass(2 * time.Second)
			if typed {
				r.human("x")
			}
			pass(4 * time.Second)
			r.mail.press(protocol.ModeSequential, "m2", "there")
			pass(10 * time.Minute)
			want := []string{"work", "INTERRUPTED", "work", m2}
			if typed {
				want = want[:2]
			}
			wantInOrder(t, r, want...)
			if typed && r.hold() != protocol.WaitsForDraft {
				t.Errorf("waits for %q, the composer holds %q", r.hold(), r.shows())
			}
		})
	}
}

// TestInterruptGivesBackTheQueueBesideADraft, which nobody may submit: that is doubt, and a
// draft.
func TestInterruptGivesBackTheQueueBesideADraft(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = time.Hour
		r.humanTurn("work")
		r.do(func(f *fakeTerm) { f.habit, f.onSubmit = givesBack, r.logs })
		r.mail.press(protocol.ModeImportant, "m1", "hello")
		pass(time.Second)
		r.mail.press(protocol.ModeImportant, "m2", "there")
		pass(time.Second)
		r.human("half a draft")
		pass(2 * time.Second)
		r.human("\x1b")
		for _, id := range r.allEnd(t, 2, 10*time.Second) {
			wantResult(t, r.mail.result(id), Doubtful, protocol.FaultReturned)
		}
		r.mail.add("m3", "now")
		pass(10 * time.Minute)
		wantInOrder(t, r, "work", "INTERRUPTED")
		if r.hold() != protocol.WaitsForDraft || !strings.HasSuffix(r.shows(), "half a draft") {
			t.Errorf("waits for %q, the composer holds %q", r.hold(), r.shows())
		}
	})
}

// TestMessageBehindADialogThatTheHumanSubmits is not typed again, whether or not the agent has a
// log that would show it.
func TestMessageBehindADialogThatTheHumanSubmits(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) {
			f.onPaste = func(f *fakeTerm) { f.dialog, f.onPaste = "Do you want to?", nil }
		})
		r.mail.add("m1", "hello")
		pass(time.Second)
		r.human("\r") // answers
		pass(300 * time.Millisecond)
		r.human("\r")
		wantResult(t, r.ends(t, "m1"), Doubtful, protocol.FaultDialog)
		wantInOrder(t, r, "ANSWERED Do you want to?", m1)
	})
}
