package inject

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
)

func TestMessageThatIsNeverReadIsTakenBackAndFails(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Failed, "no_consume")
		if r.mail.tries("m1") != maxWithdrawn {
			t.Errorf("%d attempts, want %d", r.mail.tries("m1"), maxWithdrawn)
		}
		r.resume()
		if r.bytes() != "" {
			t.Errorf("the agent read %q", r.bytes())
		}
	})
}

func TestHalfReadMessageIsDoubt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.do(func(f *fakeTerm) { f.unread = f.unread[10:] }) // it read, and showed nothing
		wantResult(t, r.ends(t, "m1"), Doubtful, "no_consume")
	})
}

func TestKeysDoNotFollowAPartOfAMessage(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.do(func(f *fakeTerm) { // it reads a part, and then has other things to do
			part, rest := f.unread[:12], f.unread[12:]
			f.unread, f.stalled = nil, false
			f.read(string(part))
			f.unread, f.stalled = rest, true
		})
		r.human("x")
		pass(3 * time.Second)
		if status := r.mail.result("m1").Status; status != "" {
			t.Errorf("the message ended %s while a part of it was read", status)
		}
		r.resume()
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
		synctest.Wait()
		if r.shows() != "x" {
			t.Errorf("composer holds %q, want the human's key alone", r.shows())
		}
	})
}

func TestPieceWaitsUntilTheOneBeforeIsRead(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		body := strings.Repeat("long ", 1000)
		r.mail.add("m1", body)
		pass(2 * time.Second)
		r.do(func(f *fakeTerm) {
			if strings.Contains(string(f.unread), "long") {
				t.Errorf("%d bytes were typed behind a header that is not read", len(f.unread))
			}
		})
		r.resume()
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] "+body+"\n[end m1]")
	})
}

// TestPieceOfBlanksIsSeen: of it nothing shows but the cursor. The next one waits for that.
func TestPieceOfBlanksIsSeen(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.lag = 80 * time.Millisecond })
		body := strings.Repeat(" ", 3000)
		r.mail.add("m1", body)
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] "+body+"\n[end m1]")
		r.do(func(f *fakeTerm) {
			if f.early > 0 {
				t.Errorf("%d pieces were typed before what came before them showed", f.early)
			}
		})
	})
}

func TestTimeStandsStillForAStoppedAgent(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.stalled = true })
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.do(func(f *fakeTerm) { f.stopped = true })
		r.human("typed while it is stopped")
		pass(5 * time.Minute) // more than any delivery takes, with a look each 10 ms
		if got := *r.last.Load(); got.Verdict.State != ready.Stopped || got.Hold != protocol.WaitsForStopped || got.Draft {
			t.Errorf("reported %+v", got)
		}
		if n := r.mail.tries("m1"); n != 1 || r.mail.result("m1").Status != "" {
			t.Errorf("%d attempts, the last %+v", n, r.mail.result("m1"))
		}
		r.resume()
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
		synctest.Wait()
		if r.shows() != "typed while it is stopped" {
			t.Errorf("the composer holds %q", r.shows())
		}
	})
}

// TestAgentThatWaitsForItsTerminal: an agent that starts may show nothing before the terminal has
// answered it. The answer is no key of the human's, and does not wait for the message's end.
func TestAgentThatWaitsForItsTerminal(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.asks = true })
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.do(func(f *fakeTerm) { f.answer = "\x1b[?62c" })
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
	})
}

func TestCancelTakesTheTextBack(t *testing.T) {
	for name, late := range map[string]bool{"shown": true, "not read yet": false} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.do(func(f *fakeTerm) {
					f.stalled = !late
					f.onPaste = func(f *fakeTerm) { f.dialog = "wait" } // the message cannot be submitted meanwhile
				})
				r.mail.add("m1", "hello")
				synctest.Wait()
				if late {
					r.mail.cancelled = "m1"
					r.do(func(f *fakeTerm) { f.dialog = "" })
				} else {
					r.mail.cancel("m1")
				}
				wantResult(t, r.ends(t, "m1"), Withdrawn, "cancelled")
				r.resume()
				if wantTurns(t, r); r.shows() != "" {
					t.Errorf("the composer holds %q", r.shows())
				}
			})
		})
	}
}

func TestCommandIsTypedAlone(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.mail.send(turn.Message{ID: "c1", Body: "/compact", Command: true})
		wantResult(t, r.ends(t, "c1"), Delivered, "submitted")
		wantTurns(t, r, "/compact")
		if r.bytes() != "/compact\r" {
			t.Errorf("typed %q", r.bytes())
		}
	})
}

// TestCommandPicksNoOption: a question may stand beside the composer, and takes a text of one
// character for an answer. No other text is one.
func TestCommandPicksNoOption(t *testing.T) {
	survey := func(f *fakeTerm) {
		if utf8.RuneCountInString(f.box) == 1 {
			f.turns, f.box = append(f.turns, "ANSWERED "+f.box), ""
		}
	}
	for _, body := range []string{"2", "２", "&", " 0 "} {
		t.Run(body, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.do(func(f *fakeTerm) { f.onPaste = survey })
				r.mail.send(turn.Message{ID: "c1", Body: body, Command: true})
				wantResult(t, r.ends(t, "c1"), Failed, protocol.FaultDialog)
				r.mail.add("m1", body)
				wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
				wantTurns(t, r, "[relay m1 from bob] "+body+"\n[end m1]")
			})
		})
	}
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.onPaste = survey })
		r.mail.send(turn.Message{ID: "c1", Body: "22", Command: true})
		wantResult(t, r.ends(t, "c1"), Delivered, "submitted")
		wantTurns(t, r, "22")
	})
}

// TestDraftIsToldWhereItHolds: whatever makes messages wait for the human's draft is told as one,
// and our own text, which a dialog keeps in the composer, is not.
func TestDraftIsToldWhereItHolds(t *testing.T) {
	cases := []struct {
		name  string
		begin func(r *rig)
		hold  Hold
		draft bool
	}{
		{"text", func(r *rig) { r.human("half a draft") }, "draft", true},
		{"a mode of the composer's own, without text", func(r *rig) {
			r.do(func(f *fakeTerm) { f.foreign = true })
		}, "draft", true},
		{"such a mode while the agent works", func(r *rig) {
			r.do(func(f *fakeTerm) { f.foreign, f.busy = true, true })
		}, "turn", true},
		{"keys that do not show yet", func(r *rig) {
			r.do(func(f *fakeTerm) { f.lag = time.Minute })
			r.human("x")
			r.mail.add("m1", "hello")
		}, "draft", true},
		{"our own text beneath a dialog", func(r *rig) {
			r.do(func(f *fakeTerm) { f.onPaste = func(f *fakeTerm) { f.dialog = "may I?" } })
			r.mail.add("m1", "hello")
		}, "dialog", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				c.begin(r)
				pass(1500 * time.Millisecond)
				synctest.Wait()
				if got := r.last.Load(); got.Hold != c.hold || got.Draft != c.draft {
					t.Errorf("waits for %q, draft %v; want %q, %v", got.Hold, got.Draft, c.hold, c.draft)
				}
				r.do(func(f *fakeTerm) { f.exited = true })
			})
		})
	}
}

// TestMessageThatReadsLikeADialog: in a composer that looks like a dialog's options, what we typed
// is known as ours. What the human typed there may be either.
func TestMessageThatReadsLikeADialog(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.quotes = true })
		pass(10 * time.Second)
		r.mail.add("m1", "Really?")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		pass(r.turnTime + time.Second)
		r.human("Really? Yes")
		r.mail.add("m2", "hello")
		pass(time.Hour)
		if r.hold() != protocol.WaitsForDialog || len(r.submitted()) != 1 {
			t.Errorf("it waits for %q, submitted are %q", r.hold(), r.submitted())
		}
	})
}

// TestMessageThatReadsLikeADialogForAMoment: while an agent paints anew, its composer is not there,
// and what was typed stands among what was said. Where that stays, it is a dialog.
func TestMessageThatReadsLikeADialogForAMoment(t *testing.T) {
	for _, c := range []struct {
		name  string
		stays time.Duration
		turns []string
	}{
		{"half a repaint", 20 * time.Millisecond, []string{"[end m1"}},
		{"a dialog that says the same", time.Hour, []string{"ANSWERED", "[end m1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				over := func() { r.do(func(f *fakeTerm) { f.dialog = "" }) }
				r.onPaste = func(f *fakeTerm) {
					f.dialog, f.onPaste = "Really?", nil
					time.AfterFunc(c.stays, over)
				}
				r.mail.add("m1", "and\nReally?")
				pass(time.Second)
				if len(c.turns) > 1 {
					if r.hold() != protocol.WaitsForDialog || strings.Contains(r.bytes(), "\r") {
						t.Errorf("it waits for %q, typed were %q", r.hold(), r.bytes())
					}
					r.human("\r")
				}
				wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
				wantTurns(t, r, c.turns...)
				if r.mail.tries("m1") != 1 || r.asks.Load() != (len(c.turns) > 1) {
					t.Errorf("taken %d times, told as blocked: %v", r.mail.tries("m1"), r.asks.Load())
				}
			})
		})
	}
}
