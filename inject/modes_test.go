package inject

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol"
)

// aloneIn says that a turn runs in which the human asked for something.
func (r *rig) humanTurn(prompt string) {
	r.human(prompt)
	r.human("\r")
	pass(1100 * time.Millisecond) // the human rests
}

func wantInOrder(t *testing.T, r *rig, want ...string) {
	t.Helper()
	if got := r.submitted(); !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

const (
	m1 = "[relay m1 from bob] hello\n[end m1]"
	m2 = "[relay m2 from bob] there\n[end m2]"
	m3 = "[relay m3 from bob] now\n[end m3]"
)

func TestImportantJoinsABusyTurn(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = 20 * time.Second
		r.humanTurn("work")
		r.mail.press(protocol.ModeImportant, "m1", "hello")
		pass(5 * time.Second)
		if got := r.mail.tries("m1"); got != 1 || r.mail.result("m1").Status != "" {
			t.Errorf("tried %d times, ended as %+v; want it in the agent's queue", got, r.mail.result("m1"))
		}
		wantInOrder(t, r, "work")
		r.do(func(f *fakeTerm) { f.onSubmit = func(*fakeTerm) { r.log.Store("m1", true) } })
		if got := r.ends(t, "m1"); got.Evidence != protocol.EvidenceTurn {
			t.Errorf("ended as %+v, want a turn", got)
		}
		wantInOrder(t, r, "work", m1)
	})
}

// TestEachMessageOfATurnIsProvedByItself, where the log shows a part of it before the end is in
// doubt.
func TestEachMessageOfATurnIsProvedByItself(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.wedged, f.dialog = true, "Do you want to?" })
		r.mail.batch = 2
		r.mail.add("m1", "hello")
		r.mail.add("m2", "there")
		r.do(func(f *fakeTerm) { f.dialog = "" })
		pass(time.Second)
		r.log.Store("m1", true)
		r.do(func(f *fakeTerm) { f.exited = true })
		r.allEnd(t, 2, time.Second)
		wantResult(t, r.mail.result("m1"), Delivered, protocol.EvidenceTurn)
		wantResult(t, r.mail.result("m2"), Doubtful, protocol.FaultAgentExited)
	})
}

func TestSequentialWaitsForTheTurnsEnd(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.humanTurn("work")
		r.mail.add("m1", "hello")
		pass(time.Second)
		if r.hold() != protocol.WaitsForTurn || r.mail.tries("m1") != 0 {
			t.Errorf("holds for %q after %d tries", r.hold(), r.mail.tries("m1"))
		}
		r.ends(t, "m1")
		wantInOrder(t, r, "work", m1)
	})
}

func TestWhatTheAgentQueuedAndNeverShowsIsDoubt(t *testing.T) {
	for name, begin := range map[string]func(*rig){
		"busy":                     func(r *rig) { r.humanTurn("work") },
		"holding back its prompts": func(r *rig) { r.do(func(f *fakeTerm) { f.keeps = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				begin(r)
				r.mail.press(protocol.ModeImportant, "m1", "hello")
				pass(1500 * time.Millisecond)
				r.do(func(f *fakeTerm) {
					if len(f.queue) != 1 {
						t.Errorf("the agent has queued %q", f.queue)
					}
					f.queue, f.keeps = nil, false
				})
				wantResult(t, r.ends(t, "m1"), Doubtful, "no_consume")
			})
		})
	}
}

func TestUrgentInterrupts(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = time.Hour
		r.humanTurn("work")
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		began := time.Now()
		r.ends(t, "m1")
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		wantInOrder(t, r, "work", "INTERRUPTED", m1)
	})
}

// TestUrgentFindsNoTurnToInterrupt while the agent holds back what it was given before.
func TestUrgentFindsNoTurnToInterrupt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = time.Hour
		r.do(func(f *fakeTerm) { f.keeps = true })
		r.mail.add("m1", "hello")
		pass(2 * time.Second)
		r.mail.press(protocol.ModeUrgent, "m2", "there")
		pass(10 * time.Second)
		if got := r.bytes(); !strings.HasSuffix(got, "\r") || r.hold() != protocol.WaitsForTurn {
			t.Errorf("the agent has read %q, and the message waits for %q", got, r.hold())
		}
		r.log.Store("m1", true)
		r.do(func(f *fakeTerm) { f.keeps = false; f.end() })
		r.ends(t, "m1")
		r.ends(t, "m2")
		wantInOrder(t, r, m1, "INTERRUPTED", m2)
	})
}

// TestUrgentArmsAnAgentAgain that forgets a key before it gets the next one, and says that it wants
// one more. No key is pressed behind the one that interrupts.
func TestUrgentArmsAnAgentAgain(t *testing.T) {
	claude, _ := agents.Named("claude")
	p := *claude
	p.Typing.Interrupt, p.Typing.Armed = []string{"\x1b", "\x1b"}, profile.NewPattern("again")
	for forgets := range oftener + 1 {
		runAs(t, &p, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.turnTime, f.twice, f.forgets = time.Hour, true, forgets })
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			began := time.Now()
			r.ends(t, "m1")
			wantInOrder(t, r, "work", "INTERRUPTED", m1)
			if keys := strings.Count(r.bytes(), "\x1b") - strings.Count(r.bytes(), "\x1b["); keys != 2+forgets {
				t.Errorf("forgot %d: %d keys were pressed, want %d", forgets, keys, 2+forgets)
			}
			// The human's rest and the agent's own time are the 800 ms.
			if took := r.halted.Sub(began); took > time.Duration(forgets+1)*(300*time.Millisecond+keyRest)+800*time.Millisecond {
				t.Errorf("forgot %d: it took %v", forgets, took)
			}
		})
	}
}

// TestNoSecondEscBeforeTheFirstWasHeard: an agent that has read our Esc and stands still gets no
// other one, for it would do them all at once. One that goes on although it has heard it does.
func TestNoSecondEscBeforeTheFirstWasHeard(t *testing.T) {
	for _, c := range []struct {
		still bool
		lag   time.Duration // until it does what it has read
		keys  int
	}{{true, 6 * time.Second, 1}, {false, 1700 * time.Millisecond, 2}} {
		run(t, func(t *testing.T, r *rig) {
			r.turnTime = time.Hour
			r.humanTurn("work")
			r.do(func(f *fakeTerm) { f.still, f.lag = c.still, c.lag })
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			pass(c.lag + 10*time.Millisecond)
			r.do(func(f *fakeTerm) { f.still, f.lag = false, 0 })
			r.ends(t, "m1")
			wantInOrder(t, r, "work", "INTERRUPTED", m1)
			if keys := strings.Count(r.bytes(), "\x1b") - strings.Count(r.bytes(), "\x1b["); keys != c.keys {
				t.Errorf("still: %v; %d keys were pressed, want %d", c.still, keys, c.keys)
			}
		})
	}
}

// TestInterruptedPromptIsSubmittedAgain also when the agent, as Claude does on a busy machine,
// says that it rests a while before it paints what it gives back.
func TestInterruptedPromptIsSubmittedAgain(t *testing.T) {
	for _, late := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond} {
		run(t, func(t *testing.T, r *rig) {
			r.turnTime, r.thinking, r.paints = 3*time.Second, true, late
			r.humanTurn("work")
			r.mail.press(protocol.ModeUrgent, "m1", "hello")
			r.ends(t, "m1")
			pass(10 * time.Second)
			wantInOrder(t, r, "work", "INTERRUPTED", m1, "work")
			if r.shows() != "" || len(r.asides()) > 0 {
				t.Errorf("painted %v late: the composer holds %q, told of drafts %q", late, r.shows(), r.asides())
			}
		})
	}
}

func TestReturnedPromptThatTheHumanEditsIsADraft(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime, r.thinking = 3*time.Second, true
		r.humanTurn("work")
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		for r.shows() != "work" {
			<-time.After(time.Millisecond)
		}
		r.human(" more")
		pass(30 * time.Second)
		if r.mail.tries("m1") != 0 || r.hold() != protocol.WaitsForDraft {
			t.Errorf("%d tries, holds for %q", r.mail.tries("m1"), r.hold())
		}
		wantInOrder(t, r, "work", "INTERRUPTED")
	})
}

func TestUrgentSetsADraftAside(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = time.Hour
		r.humanTurn("work")
		r.human("half a draft")
		pass(1100 * time.Millisecond)
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		r.ends(t, "m1")
		wantInOrder(t, r, "work", "INTERRUPTED", m1)
		if r.shows() != "half a draft" || !slices.Equal(r.asides(), []string{"set m1", "back m1"}) {
			t.Errorf("the composer holds %q, told of drafts %q", r.shows(), r.asides())
		}
	})
}

// TestDraftThatNothingSetsAside: without an age at which a draft may be set aside none ever is, for
// an urgent message neither.
func TestDraftThatNothingSetsAside(t *testing.T) {
	p, _ := agents.Named("claude")
	runWith(t, p, 0, func(t *testing.T, r *rig) {
		r.human("half a draft")
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		pass(2 * draftTimeout)
		if r.hold() != protocol.WaitsForDraft || !r.last.Load().Stays || r.shows() != "half a draft" || len(r.asides()) > 0 {
			t.Errorf("holds for %q, the composer holds %q", r.hold(), r.shows())
		}
	})
}

func TestUrgentNeverAnswersADialog(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = time.Hour
		r.humanTurn("work")
		r.do(func(f *fakeTerm) { f.dialog = "Do you want to?" })
		r.mail.press(protocol.ModeUrgent, "m1", "hello")
		pass(time.Minute)
		wantInOrder(t, r, "work")
		if r.hold() != protocol.WaitsForDialog || strings.Contains(r.bytes(), "\x1b") {
			t.Errorf("holds for %q, typed were %q", r.hold(), r.bytes())
		}
		r.do(func(f *fakeTerm) { f.dialog = "" })
		r.ends(t, "m1")
		wantInOrder(t, r, "work", "INTERRUPTED", m1)
	})
}

func TestOldDraftIsSetAsideAndComesBack(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.human("half a draft")
		r.mail.add("m1", "hello")
		pass(draftTimeout - time.Second)
		if r.hold() != protocol.WaitsForDraft || r.last.Load().Stays || len(r.submitted()) > 0 {
			t.Errorf("holds for %q, stays %v, submitted %q", r.hold(), r.last.Load().Stays, r.submitted())
		}
		r.ends(t, "m1")
		wantInOrder(t, r, m1)
		if r.shows() != "half a draft" || !slices.Equal(r.asides(), []string{"set m1", "back m1"}) {
			t.Errorf("the composer holds %q, told of drafts %q", r.shows(), r.asides())
		}
	})
}

// TestLateEnterIsNotPressedAgainBesideADraft, which the first one brings back: the second would
// submit it.
func TestLateEnterIsNotPressedAgainBesideADraft(t *testing.T) {
	for _, late := range []time.Duration{time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second} {
		run(t, func(t *testing.T, r *rig) {
			r.do(func(f *fakeTerm) { f.late = late })
			r.human("half a draft")
			r.mail.add("m1", "hello")
			r.ends(t, "m1")
			pass(time.Minute)
			wantInOrder(t, r, m1)
			if r.shows() != "half a draft" {
				t.Errorf("an Enter that is late by %v: the composer holds %q", late, r.shows())
			}
		})
	}
}

func TestDraftsThatAreNotSetAside(t *testing.T) {
	for name, prepare := range map[string]func(*rig){
		"the shadow does not know it": func(r *rig) { r.do(func(f *fakeTerm) { f.box = "from nowhere" }) },
		"one is set aside already":    func(r *rig) { r.do(func(f *fakeTerm) { f.stashed, f.stash = true, "older" }) },
		"the key does nothing":        func(r *rig) { r.do(func(f *fakeTerm) { f.noStash = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.human("half a draft")
				prepare(r)
				was := r.shows()
				pass(time.Minute)
				if r.last.Load().Stays {
					t.Error("nothing waits, and the draft is told to stay")
				}
				r.mail.add("m1", "hello")
				pass(2 * draftTimeout)
				if !r.last.Load().Stays {
					t.Error("nobody is told that the draft stays")
				}
				if r.hold() != protocol.WaitsForDraft || r.shows() != was || len(r.submitted()) > 0 || r.mail.tries("m1") > 0 {
					t.Errorf("holds for %q, composer %q, submitted %q, %d tries", r.hold(), r.shows(), r.submitted(), r.mail.tries("m1"))
				}
			})
		})
	}
}

func TestDraftComesBackWhenTheMessageIsWithdrawn(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.human("half a draft")
		r.do(func(f *fakeTerm) { f.onPaste = func(f *fakeTerm) { f.box += "?" } })
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Failed, "stranded")
		if r.shows() != "half a draft" || len(r.submitted()) > 0 {
			t.Errorf("the composer holds %q, submitted %q", r.shows(), r.submitted())
		}
	})
}

func TestMessagesOfOneTurn(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.dialog = "Do you want to?" })
		r.mail.batch = 10
		r.mail.add("m1", "hello")
		r.mail.add("m2", "there")
		r.do(func(f *fakeTerm) { f.dialog = "" })
		r.ends(t, "m1")
		r.ends(t, "m2")
		wantInOrder(t, r, m1+"\n\n"+m2)
	})
}

func TestCancelledMessageLeavesTheOthers(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.batch = 10
		r.mail.add("m1", "hello")
		r.mail.add("m2", "there")
		pass(500 * time.Millisecond)
		r.mail.cancel("m1")
		r.ends(t, "m1")
		r.resume()
		r.ends(t, "m2")
		wantInOrder(t, r, m2)
	})
}
